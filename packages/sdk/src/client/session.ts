import {
  createViewCache,
  emptyState,
  fromRows,
  HoldfastError,
  reduce,
  viewOf,
  type Call,
  type Json,
  type Offset,
  type Policy,
  type SessionState,
  type ViewNode,
} from "@holdfast/protocol";
import {
  follow,
  isObject,
  type Connectivity,
  type Followed,
  type Transport,
} from "../wire/index.ts";
import { createCommands, type SessionCommands } from "./commands.ts";
import { createNotifier, type Schedule } from "./notifier.ts";
import { createOutbox } from "./outbox.ts";
import { createPartialArguments } from "./partial-arguments.ts";
import { nextStatus, type SessionStatus, type StatusEvent } from "./status.ts";

/**
 * A session, followed live, and what can be asked of it. Made by `client.open`. After `close`, or once the server
 * refuses it for good, it is closed for ever: its last state stays readable.
 */
export interface Session extends SessionCommands, AsyncDisposable {
  readonly id: string;
  /**
   * Everything known, empty before {@link ready}. Its maps change in place, its rows never do; another object after
   * what could not be bridged.
   */
  readonly state: SessionState;
  /** Replaced when it changes. */
  readonly status: SessionStatus;
  /** Goes up with every notification, so that what is derived may be kept until the next. */
  readonly version: number;
  /** The path to the newest node; the same objects where nothing changed (see `viewOf`). */
  readonly view: () => readonly ViewNode[];
  /** A call's arguments as far as they have come (see `createPartialJson`). */
  readonly partialArguments: (call: Call) => Json | undefined;
  /** Hears that state or status changed, at most once per rendered frame. @returns what ends it */
  readonly subscribe: (listener: () => void) => () => void;
  /** Resolves with the first state. @throws what closed the session before that; the signal's reason */
  readonly ready: (options?: { readonly signal?: AbortSignal }) => Promise<void>;
  /** Resolves once the state includes `offset`, such as a verdict's. @throws as `ready` */
  readonly reached: (offset: Offset, options?: { readonly signal?: AbortSignal }) => Promise<void>;
  /** Begins to connect; only a handle opened `lazy` needs it. More calls do nothing. */
  readonly connect: () => void;
  /** Final. Commands that have no verdict yet are rejected with `closed`, though they may have taken effect. */
  readonly close: () => Promise<void>;
}

export interface CreateOptions {
  readonly agent: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly policy?: Partial<Policy>;
}

export interface SessionContext {
  readonly transport: Transport;
  readonly connectivity: Connectivity;
  readonly schedule: Schedule;
  readonly heartbeatMs: number;
  readonly outboxLimit: number;
  readonly newId: () => string;
}

export interface SessionHooks {
  onConnect(session: Session): void;
  onClosed(session: Session): void;
}

export function createSession(
  context: SessionContext,
  id: string,
  create: CreateOptions | undefined,
  hooks: SessionHooks,
): Session {
  const { transport } = context;
  const path = `/v1/sessions/${encodeURIComponent(id)}`;
  const closing = new AbortController();
  const notifier = createNotifier(context.schedule);
  const outbox = createOutbox(transport, id, context.outboxLimit);
  const partial = createPartialArguments();
  const view = createViewCache();
  const waits = new Set<() => void>();
  let state = emptyState("", { id, createdAt: 0 });
  let status: SessionStatus = { type: "connecting" };
  let isReady = false;
  let running: Promise<void> | undefined;

  function apply(followed: Followed): void {
    if (followed.type === "state") {
      state = fromRows(followed.offset, followed.state);
      partial.reset();
      isReady = true;
    } else {
      for (const entry of followed.frame.entries) {
        reduce(state, entry);
        partial.hear(entry);
      }
    }
    settleWaits();
    notifier.changed();
  }

  function onStatus(event: StatusEvent): void {
    const next = nextStatus(status, event);
    if (next === status) return;
    status = next;
    if (next.type === "live") outbox.kick();
    settleWaits();
    notifier.changed();
  }

  function settleWaits(): void {
    for (const wait of waits) wait();
  }

  async function run(): Promise<void> {
    const { signal } = closing;
    try {
      if (create) await createOnServer(signal);
      outbox.start();
      const entries = follow(transport, {
        session: id,
        signal,
        heartbeatMs: context.heartbeatMs,
        connectivity: context.connectivity,
        onLink: onStatus,
      });
      for await (const followed of entries) apply(followed);
    } catch (error) {
      if (signal.aborted) return;
      end(asHoldfastError(error));
    }
  }

  async function createOnServer(signal: AbortSignal): Promise<void> {
    await transport.json(path, {
      method: "PUT",
      body: JSON.stringify(create),
      signal,
      tries: Number.POSITIVE_INFINITY,
      parse: (value) => isObject(value),
    });
  }

  function end(error?: HoldfastError): void {
    const message = `Session ${id} is closed here: open it again.`;
    outbox.close(error ?? new HoldfastError({ code: "closed", message }));
    onStatus({ type: "closed", ...(error && { error }) });
    hooks.onClosed(session);
  }

  /** Resolves once `condition` holds; a closed session that does not fulfil it never will. */
  function until(condition: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const holds = condition();
        if (!holds && !signal?.aborted && status.type !== "closed") return;
        stop();
        if (holds) return resolve();
        if (signal?.aborted) return reject(signal.reason);
        const message = `Session ${id} was closed before.`;
        reject(
          (status.type === "closed" && status.error) ||
            new HoldfastError({ code: "closed", message }),
        );
      };
      const stop = () => {
        waits.delete(check);
        signal?.removeEventListener("abort", check);
      };
      waits.add(check);
      signal?.addEventListener("abort", check, { once: true });
      check();
    });
  }

  const session: Session = {
    ...createCommands({
      newId: context.newId,
      call: (callId) => state.calls.get(callId),
      submit: (command, signal) => outbox.submit({ id: context.newId(), ...command }, signal),
    }),
    id,
    get state() {
      return state;
    },
    get status() {
      return status;
    },
    get version() {
      return notifier.version;
    },
    view: () => viewOf(state, view),
    partialArguments: (call) => partial.read(call),
    subscribe: (listener) => notifier.subscribe(listener),
    ready: ({ signal } = {}) => until(() => isReady, signal),
    reached: (offset, { signal } = {}) => until(() => isReady && state.head >= offset, signal),
    connect() {
      if (status.type === "closed" || running) return;
      hooks.onConnect(session);
      running = run();
    },
    async close() {
      if (status.type !== "closed") {
        end();
        closing.abort(new HoldfastError({ code: "closed", message: `Session ${id} was closed.` }));
      }
      await running;
    },
    [Symbol.asyncDispose]: () => session.close(),
  };
  return session;
}

function asHoldfastError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  return new HoldfastError(
    { code: "internal", message: `Following the session failed: ${String(error)}` },
    { cause: error },
  );
}
