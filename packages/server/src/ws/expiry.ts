import { unauthenticated } from "../auth/index.ts";
import { rejectionOf } from "../http/index.ts";
import type { SocketOptions } from "./context.ts";
import type { Credentials, Held } from "./credentials.ts";
import type { Outgoing } from "./outgoing.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** How long before its end a token is told to end, in milliseconds. */
const WARNING_MS = 60_000;
/** The longest one timer runs: the platform's hold no more than 24 days. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/** Sees to it that nothing is served under a token that has ended. */
export interface Expiry {
  /** To be called whenever a token came or went. */
  changed(): void;
  stop(): void;
}

/** @param over closes the socket under its own token */
export function watchExpiry(
  options: SocketOptions,
  credentials: Credentials,
  {
    outgoing,
    subscriptions,
    over,
  }: {
    readonly outgoing: Outgoing;
    readonly subscriptions: Subscriptions;
    readonly over: (why: "token_expired" | "unauthenticated") => void;
  },
): Expiry {
  const { now, schedule, tokens, log } = options;
  let stop = () => {};
  /** Tells of tokens that are taken back. */
  const watched = new Map<Held, () => void>();
  /** The end that was told. */
  let told = 0;

  function forget(key: string, error: unknown): void {
    const attempt = credentials.attempts.get(key)?.identity.attempt;
    credentials.forget(key);
    if (attempt) {
      outgoing.send({ type: "forgotten", ...attempt, error: rejectionOf(error, log) });
    }
    subscriptions.review();
  }

  function watch(): void {
    const held = new Set([
      ...(credentials.own ? [credentials.own] : []),
      ...credentials.attempts.values(),
    ]);
    for (const [one, unwatch] of watched) {
      if (held.has(one)) continue;
      watched.delete(one);
      unwatch();
    }
    for (const one of held) {
      if (!watched.has(one))
        watched.set(
          one,
          tokens.watch(one.identity, () => void verify()),
        );
    }
  }

  function look(): void {
    stop();
    watch();
    const { own } = credentials;
    if (!own) return;
    const at = now();
    if (own.expiresAt <= at) return over("token_expired");
    if (own.expiresAt - WARNING_MS <= at && told !== own.expiresAt) {
      told = own.expiresAt;
      outgoing.send({ type: "expiring", expiresAt: own.expiresAt });
    }
    let next = told === own.expiresAt ? own.expiresAt : own.expiresAt - WARNING_MS;
    for (const [key, { expiresAt }] of credentials.attempts) {
      if (expiresAt <= at) forget(key, unauthenticated("The attempt's token has ended."));
      else next = Math.min(next, expiresAt);
    }
    stop = schedule(Math.min(Math.max(next - at, 1), LONGEST_MS), look);
  }

  async function verify(): Promise<void> {
    const { own } = credentials;
    if (!own) return;
    try {
      await tokens.verify(own.token);
    } catch {
      return over(own.expiresAt <= now() ? "token_expired" : "unauthenticated");
    }
    for (const [key, held] of credentials.attempts) {
      try {
        await tokens.verify(held.token);
      } catch (error) {
        if (credentials.attempts.get(key) === held) forget(key, error);
      }
    }
  }

  return {
    changed: look,
    stop() {
      stop();
      for (const unwatch of watched.values()) unwatch();
      watched.clear();
    },
  };
}
