import { HoldfastError, type Frame, type Offset, type StateRows } from "@holdfast/protocol";
import { systemConnectivity, type Connectivity } from "./connectivity.ts";
import { arrivals } from "./arrived.ts";
import { parsePage, parseStateAt, type StateAt } from "./messages.ts";
import { isTransient, unreachable } from "./problem.ts";
import { sequence } from "./sequence.ts";
import { backoffMs, linkedController } from "./timing.ts";
import type { Transport } from "./transport.ts";

/** What a follower gets: a whole state to start over from, or the entries that follow what it has. */
export type Followed =
  | {
      readonly type: "state";
      readonly state: StateRows;
      readonly offset: Offset;
      /** The key of what the reader sees, where that is not everything: it belongs to every offset from here on. */
      readonly visibility?: string;
    }
  | { readonly type: "frame"; readonly frame: Frame };

/** What happens to the connection under a follower. */
export type Link =
  | { readonly type: "connected" }
  /** It will be tried again at `retryAt`, Unix milliseconds. */
  | { readonly type: "lost"; readonly error: HoldfastError; readonly retryAt: number }
  /** The device says that it has no network; it is tried again when it is back. */
  | { readonly type: "offline"; readonly error: HoldfastError };

export interface FollowOptions {
  readonly session: string;
  /** Begin after this offset; without it, with the state. */
  readonly after?: Offset;
  /** With `after`: the `visibility` of the state that it leads on from, where that had one. */
  readonly visibility?: string;
  readonly signal?: AbortSignal;
  /** How often the server says that it is there, milliseconds; 2.5 times as long a silence means it is not. Default 15 s. */
  readonly heartbeatMs?: number;
  readonly connectivity?: Connectivity;
  readonly onLink?: (link: Link) => void;
}

/**
 * Follows a session for ever: the state first (unless `after` is given), then every entry once, in order, without a
 * hole. Breaks are mended from the exact cursor, after a backoff with jitter; what the server cannot bridge comes as a
 * fresh `state`.
 *
 * @throws {HoldfastError} what will not get better by trying: `unauthenticated`, `forbidden`, `unknown_session`, …;
 * the signal's reason when aborted
 */
export async function* follow(
  transport: Transport,
  {
    session,
    after,
    visibility: begunWith,
    signal,
    heartbeatMs = 15_000,
    connectivity = systemConnectivity,
    onLink,
  }: FollowOptions,
): AsyncGenerator<Followed, void, undefined> {
  const { timing } = transport;
  const path = `/v1/sessions/${encodeURIComponent(session)}`;
  const once = { tries: 1, ...(signal && { signal }) };
  let cursor = after;
  /** What the server says this reader sees; another's cursor leads nowhere. */
  let visibility = begunWith;
  let failures = 0;
  for (;;) {
    try {
      if (cursor === undefined) {
        const at = await transport.json(`${path}/state`, { ...once, parse: parseStateAt });
        cursor = at.offset;
        yield begin(at);
      }
      const arriving = transport.socket
        ? transport.socket.subscribe(session, reachedAt(cursor), signal)
        : arrivals(transport, path, reachedAt(cursor), { idleMs: heartbeatMs * 2.5, signal });
      for await (const arrived of arriving) {
        if (arrived.type === "open") {
          onLink?.({ type: "connected" });
          continue;
        }
        failures = 0;
        if (arrived.type === "reset") {
          cursor = arrived.offset;
          yield begin(arrived);
        } else if (arrived.type === "frame") {
          for await (const frame of inOrder(cursor, arrived.frame)) {
            yield { type: "frame", frame };
            cursor = frame.entries.at(-1)?.offset ?? cursor;
          }
        }
      }
      throw unreachable("The server ended the stream.");
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof HoldfastError && error.code === "reset") {
        cursor = undefined;
        if (failures === 0) {
          failures = 1;
          continue;
        }
      } else if (!isTransient(error)) throw error;
      failures += 1;
      await patience(error);
    }
  }

  /** A cursor as the server takes it: with what its reader saw until there. */
  function reachedAt(offset: Offset): string {
    return visibility === undefined ? offset : `${offset}~${visibility}`;
  }

  function begin({ state, offset, visibility: seen }: StateAt): Followed {
    visibility = seen;
    return { type: "state", state, offset, ...(seen !== undefined && { visibility: seen }) };
  }

  /** The frame cut to what is new, preceded by what it shows to be missing. */
  async function* inOrder(from: Offset, frame: Frame): AsyncGenerator<Frame, void, undefined> {
    for (;;) {
      const next = sequence(from, frame);
      if (next.type === "skip") return;
      if (next.type === "deliver") return yield next.frame;
      const page = await transport.json(`${path}/entries`, {
        ...once,
        query: { after: reachedAt(next.after), limit: "1000" },
        parse: parsePage,
      });
      const missing = sequence(from, { after: from, entries: page.entries });
      if (missing.type !== "deliver")
        throw unreachable(`The server has nothing between ${next.after} and ${next.until}.`);
      yield missing.frame;
      from = missing.cursor;
    }
  }

  async function patience(error: HoldfastError): Promise<void> {
    const ms = backoffMs(timing, failures, transport.backoff);
    const offline = !connectivity.online();
    onLink?.(
      offline ? { type: "offline", error } : { type: "lost", error, retryAt: timing.now() + ms },
    );
    const { controller, unlink } = linkedController(signal);
    const back = new Promise<void>((resolve) => {
      const stop = connectivity.onBack(resolve);
      controller.signal.addEventListener("abort", stop, { once: true });
    });
    try {
      // A device that claims to be offline is asked again now and then: it may be wrong.
      const wait = timing.sleep(offline ? transport.backoff.maxMs : ms, controller.signal);
      await Promise.race([wait, back]);
    } finally {
      unlink();
      controller.abort();
    }
  }
}
