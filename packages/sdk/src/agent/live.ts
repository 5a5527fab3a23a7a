import {
  fromRows,
  HoldfastError,
  reduceAll,
  type Offset,
  type SessionState,
} from "@holdfast/protocol";
import { follow, type Transport } from "../wire/index.ts";

/** A session's state, kept up to date as long as the signal it was opened with allows. */
export interface Live {
  /** Changes in place with every entry; another object where the server had to start it over. */
  readonly state: SessionState;
  /** Resolves once the state has everything up to `offset`; rejects when it is followed no more. */
  until(offset: Offset): Promise<void>;
}

export interface LiveOptions {
  readonly session: string;
  readonly signal: AbortSignal;
  /** Called after every change, and once for the first state. */
  readonly onChange?: (state: SessionState) => void;
  /** The server will not let it be followed any further. */
  readonly onError: (error: HoldfastError) => void;
}

/**
 * Opens a session by its state and follows it from exactly there.
 *
 * @throws {HoldfastError} as `follow` does, before the first state came
 */
export async function openLive(transport: Transport, options: LiveOptions): Promise<Live> {
  const { session, signal, onChange, onError } = options;
  const waiting = new Set<{ offset: Offset; resolve(): void; reject(reason: unknown): void }>();
  const followed = follow(transport, { session, signal });
  const first = await followed.next();
  if (first.done || first.value.type !== "state")
    throw new HoldfastError({ code: "unreachable", message: `Session ${session} has no state.` });
  let state = fromRows(first.value.offset, first.value.state);
  let over: { readonly reason: unknown } | undefined;
  onChange?.(state);

  async function run(): Promise<void> {
    try {
      for await (const next of followed) {
        if (next.type === "state") state = fromRows(next.offset, next.state);
        else reduceAll(state, next.frame.entries);
        onChange?.(state);
        for (const waiter of waiting) {
          if (state.head < waiter.offset) continue;
          waiting.delete(waiter);
          waiter.resolve();
        }
      }
    } catch (error) {
      over = { reason: error };
      if (!signal.aborted && error instanceof HoldfastError) onError(error);
      for (const waiter of waiting) waiter.reject(error);
      waiting.clear();
    }
  }
  void run();

  return {
    get state() {
      return state;
    },
    until(offset) {
      if (state.head >= offset) return Promise.resolve();
      if (over) return Promise.reject(over.reason as Error);
      return new Promise((resolve, reject) => waiting.add({ offset, resolve, reject }));
    },
  };
}
