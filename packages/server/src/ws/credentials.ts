import type { SocketAttempt } from "@holdfast/protocol";
import { forbidden, unauthenticated, type Identity } from "../auth/index.ts";
import type { SocketOptions } from "./context.ts";
import { tooMany } from "./limits.ts";

/** A token that was verified, and whom it stands for. */
export interface Held {
  readonly token: string;
  readonly identity: Identity;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** The tokens of one socket: its own, and those of attempts. */
export interface Credentials {
  /** The socket's own; undefined before it said who it is. */
  readonly own: Held | undefined;
  readonly attempts: ReadonlyMap<string, Held>;
  /**
   * Takes a token for the socket's own, in place of the one before.
   *
   * @throws HoldfastError `unauthenticated`; `forbidden` for another principal than before
   */
  authenticate(token: string): Promise<Held>;
  /** Takes an attempt's token. @throws HoldfastError `unauthenticated`, `forbidden`, `overloaded` */
  hold(token: string): Promise<Held & { readonly attempt: SocketAttempt }>;
  forget(key: string): void;
  /**
   * Whose right a frame uses: the attempt it names, or the socket's own.
   *
   * @throws HoldfastError `unauthenticated` for an attempt whose token the socket does not hold, or an expired one
   */
  of(frame?: {
    readonly session: string;
    readonly runId?: string;
    readonly attempt?: number;
  }): Held;
}

export function createCredentials(options: SocketOptions): Credentials {
  const { tokens, now, limits } = options;
  const attempts = new Map<string, Held>();
  /** What was found last for each session: an attempt says many things, and a key is dear to make. */
  const found = new Map<string, Held>();
  let own: Held | undefined;

  async function verify(token: string): Promise<Held> {
    const identity = await tokens.verify(token);
    return { token, identity, expiresAt: identity.expiresAt };
  }

  function keep(held: Held): SocketAttempt | undefined {
    const { attempt } = held.identity;
    if (attempt) {
      attempts.set(keyOf(attempt), held);
      found.set(attempt.session, held);
    }
    return attempt;
  }

  function heldFor(named: SocketAttempt): Held | undefined {
    const last = found.get(named.session);
    const { runId, attempt } = last?.identity.attempt ?? {};
    if (runId === named.runId && attempt === named.attempt) return last;
    const held = attempts.get(keyOf(named));
    if (held) found.set(named.session, held);
    return held;
  }

  return {
    get own() {
      return own;
    },
    attempts,
    async authenticate(token) {
      const held = await verify(token);
      const { principal } = held.identity;
      if (own && own.identity.principal !== principal) {
        throw forbidden(
          `This socket is ${own.identity.principal}'s: open another for ${principal}.`,
        );
      }
      own = held;
      keep(held);
      return held;
    },
    async hold(token) {
      const held = await verify(token);
      const { principal, attempt } = held.identity;
      if (!attempt) throw forbidden("This is no attempt's token: send it as `auth`.");
      if (own?.identity.principal !== principal) {
        throw forbidden(`The attempt is ${principal}'s: open a socket of that principal for it.`);
      }
      if (attempts.size >= limits.attempts && !attempts.has(keyOf(attempt))) {
        throw tooMany("attempts", limits.attempts, "forget one that is over");
      }
      keep(held);
      return { ...held, attempt };
    },
    forget(key) {
      const session = attempts.get(key)?.identity.attempt?.session;
      attempts.delete(key);
      if (session !== undefined) found.delete(session);
    },
    of(frame) {
      const { session, runId, attempt } = frame ?? {};
      const isOwn = session === undefined || runId === undefined || attempt === undefined;
      const held = isOwn ? own : heldFor({ session, runId, attempt });
      if (!held) {
        throw unauthenticated(
          `The socket has no token of attempt ${attempt} of run ${runId}: send it as \`attempt\`.`,
        );
      }
      if (held.expiresAt <= now()) throw unauthenticated("The token has ended: get a new one.");
      return held;
    },
  };
}

export function keyOf({ session, runId, attempt }: SocketAttempt): string {
  return `${session}\n${runId}\n${attempt}`;
}
