import {
  HoldfastError,
  reject,
  type Rejection,
  type SocketRef,
  type SocketSubscribe,
} from "@holdfast/protocol";
import { isPerson, mayRead, visibilityOf } from "../auth/index.ts";
import type { FrameText, Snapshot } from "../engine/index.ts";
import { rejectionOf } from "../http/index.ts";
import type { SocketOptions } from "./context.ts";
import { keyOf, type Credentials } from "./credentials.ts";
import { tooMany } from "./limits.ts";
import { refIn, type Outgoing } from "./outgoing.ts";

/** The sessions that one socket follows, each at its own pace, and under each of its rights once. */
export interface Subscriptions {
  /** Begins to follow. @throws HoldfastError for what may not be followed, or is already */
  add(frame: SocketSubscribe): void;
  /** Ends one as its client asked. */
  remove(frame: Named): void;
  /** Ends those that the socket's tokens do not allow any more. */
  review(): void;
  /** Ends all, without a word. */
  end(): void;
}

/** What names a subscription. */
type Named = Pick<SocketSubscribe, "session" | "runId" | "attempt" | "ref">;

interface Following {
  readonly frame: SocketSubscribe;
  readonly over: AbortController;
}

export function createSubscriptions(
  options: SocketOptions,
  credentials: Credentials,
  outgoing: Outgoing,
): Subscriptions {
  const { engine, limits, log } = options;
  const all = new Map<string, Following>();

  async function follow(following: Following): Promise<void> {
    const { frame, over } = following;
    const { session, after, state } = frame;
    const { signal } = over;
    try {
      const { identity } = credentials.of(frame);
      const reading = {
        signal,
        person: isPerson(identity),
        visibility: visibilityOf(identity, session),
        onSlow: () => close(following, SLOW),
        // An attempt's are bounded by what it works on.
        ...(identity.attempt === undefined && { principal: identity.principal }),
      };
      const { reset, frames } = state
        ? await engine.follow(session, reading)
        : await engine.resume(session, after, reading);
      // Nobody has begun to read it: it holds nothing yet.
      if (signal.aborted) return void (await frames.return());
      outgoing.send({ type: "subscribed", ...nameOf(frame), ...refIn(frame) });
      if (reset) outgoing.write(resetOf(frame, reset));
      for await (const batch of frames) {
        if (signal.aborted) return;
        for (const each of batch) outgoing.write(entriesOf(session, each));
        await outgoing.room();
      }
      close(following, ENDED);
    } catch (error) {
      close(following, rejectionOf(error, log), refIn(frame));
    }
  }

  /** One that was ended already says no more. */
  function close(
    { frame, over }: Following,
    error?: Rejection,
    ref?: { readonly ref?: SocketRef },
  ): void {
    if (over.signal.aborted) return;
    over.abort();
    all.delete(keyFor(frame));
    outgoing.send({ type: "unsubscribed", ...nameOf(frame), ...ref, ...(error && { error }) });
  }

  function permit(frame: SocketSubscribe): void {
    mayRead(credentials.of(frame).identity, frame.session);
  }

  return {
    add(frame) {
      const key = keyFor(frame);
      permit(frame);
      if (all.has(key)) {
        throw new HoldfastError(
          reject(
            "invalid_request",
            `The socket follows session ${frame.session} already: unsubscribe first.`,
          ),
        );
      }
      if (all.size >= limits.subscriptions) {
        throw tooMany("subscriptions", limits.subscriptions, "unsubscribe from one");
      }
      const following = { frame, over: new AbortController() };
      all.set(key, following);
      void follow(following);
    },
    remove(frame) {
      const following = all.get(keyFor(frame));
      if (following) close(following, undefined, refIn(frame));
      else outgoing.send({ type: "unsubscribed", ...nameOf(frame), ...refIn(frame) });
    },
    review() {
      for (const following of all.values()) {
        try {
          permit(following.frame);
        } catch (error) {
          close(following, rejectionOf(error, log));
        }
      }
    },
    end() {
      for (const { over } of all.values()) over.abort();
      all.clear();
    },
  };
}

/** A frame's message, encoded once for all sockets that read it. */
function entriesOf(session: string, frame: FrameText): Uint8Array {
  let message = encoded.get(frame);
  if (!message) {
    const head = `{"type":"entries","session":${JSON.stringify(session)},"frame":`;
    message = Buffer.from(`${head}${frame.text}}`);
    encoded.set(frame, message);
  }
  return message;
}

function resetOf(frame: Named, { offset, text, visibility }: Snapshot): string {
  const seen = visibility !== undefined && { visibility };
  const head = { type: "reset", ...nameOf(frame), offset, ...seen };
  return `${JSON.stringify(head).slice(0, -1)},"state":${text}}`;
}

function nameOf({ session, runId, attempt }: Named): Omit<Named, "ref"> {
  return runId === undefined || attempt === undefined ? { session } : { session, runId, attempt };
}

function keyFor(frame: Named): string {
  const { session, runId, attempt } = frame;
  return runId === undefined || attempt === undefined
    ? session
    : keyOf({ session, runId, attempt });
}

const encoded = new WeakMap<FrameText, Uint8Array>();

const SLOW: Rejection = reject(
  "overloaded",
  "The reader fell too far behind: subscribe again after the last offset it has.",
);
const ENDED: Rejection = reject(
  "overloaded",
  "The session's stream ended: subscribe again after the last offset it has.",
);
