import {
  HoldfastError,
  reject,
  type Rejection,
  type SocketRef,
  type SocketSubscribe,
} from "@holdfast/protocol";
import { mayRead, personIn, visibilityOf } from "../auth/index.ts";
import type { FrameText, Snapshot, Visibility } from "../engine/index.ts";
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
  /** Ends those that the socket's tokens do not allow any more, and begins those anew whose reader sees other data now. */
  review(): void;
  /** Ends all, without a word. */
  end(): void;
}

/** What names a subscription. */
type Named = Pick<SocketSubscribe, "session" | "runId" | "attempt" | "ref">;

interface Following {
  readonly frame: SocketSubscribe;
  readonly over: AbortController;
  /** What its reader sees, by the token that the socket had when it began. */
  readonly visibility: Visibility;
  /** The client knows that it is followed. */
  told: boolean;
}

export function createSubscriptions(
  options: SocketOptions,
  credentials: Credentials,
  outgoing: Outgoing,
): Subscriptions {
  const { engine, limits, log } = options;
  const all = new Map<string, Following>();

  async function follow(following: Following): Promise<void> {
    const { frame, over, visibility } = following;
    const { session, after } = frame;
    const { signal } = over;
    try {
      const { identity } = credentials.of(frame);
      const reading = {
        signal,
        ...(personIn(identity, session) && {
          // By the token that the socket has then.
          person: (verb: "answer" | "approve", tool: string) =>
            personIn(credentials.own?.identity ?? identity, session)?.(verb, tool) ?? false,
        }),
        visibility,
        onSlow: () => close(following, SLOW),
        // An attempt's are bounded by what it works on.
        ...(identity.attempt === undefined && { principal: identity.principal }),
      };
      const { reset, frames } =
        frame.state || following.told
          ? await engine.follow(session, reading)
          : await engine.resume(session, after, reading);
      // Nobody has begun to read it: it holds nothing yet.
      if (signal.aborted) return void (await frames.return());
      if (!following.told) {
        outgoing.send({
          type: "subscribed",
          ...nameOf(frame),
          ...seenIn(visibility.key),
          ...refIn(frame),
        });
        following.told = true;
      }
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

  /** What its reader sees. @throws HoldfastError `forbidden`, `unauthenticated` */
  function permit(frame: SocketSubscribe): Visibility {
    const { identity } = credentials.of(frame);
    mayRead(identity, frame.session);
    return visibilityOf(identity, frame.session);
  }

  function begin(following: Following): void {
    all.set(keyFor(following.frame), following);
    void follow(following);
  }

  return {
    add(frame) {
      const key = keyFor(frame);
      const visibility = permit(frame);
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
      begin({ frame, over: new AbortController(), visibility, told: false });
    },
    remove(frame) {
      const following = all.get(keyFor(frame));
      if (following) close(following, undefined, refIn(frame));
      else outgoing.send({ type: "unsubscribed", ...nameOf(frame), ...refIn(frame) });
    },
    review() {
      for (const following of all.values()) {
        try {
          const visibility = permit(following.frame);
          if (visibility.key === following.visibility.key) continue;
          // Not a word more of what the token before showed: the state comes anew.
          following.over.abort();
          begin({ ...following, over: new AbortController(), visibility });
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
    const head = { type: "entries", session, ...seenIn(frame.visibility) };
    message = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"frame":${frame.text}}`);
    encoded.set(frame, message);
  }
  return message;
}

function resetOf(frame: Named, { offset, text, visibility }: Snapshot): string {
  const seen = visibility !== undefined && { visibility };
  const head = { type: "reset", ...nameOf(frame), offset, ...seen };
  return `${JSON.stringify(head).slice(0, -1)},"state":${text}}`;
}

/** The key of what a reader sees, where that is not everything. */
function seenIn(key: string): { readonly visibility?: string } {
  return key === "" ? {} : { visibility: key };
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
