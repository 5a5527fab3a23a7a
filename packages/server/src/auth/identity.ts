import type { Actor } from "@holdfast/protocol";
import { allowsFor, type Grant } from "./grants.ts";

/** Who a request is from, and what they may do, as their token says. */
export interface Identity {
  /** `user:<name>`, `agent:<name>` or `app:<name>`. */
  readonly principal: string;
  /** What it may do. An attempt's token has none: it is for its attempt. */
  readonly grants: readonly Grant[];
  /** The one attempt the token is for. */
  readonly attempt?: AttemptName;
  /** The token's id, and that of the token an attempt was claimed with: either may be revoked. */
  readonly tokenIds: readonly string[];
  /** When the token was issued and when it ends, Unix milliseconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export interface AttemptName {
  readonly session: string;
  readonly runId: string;
  readonly attempt: number;
}

/** The identity as decisions in a session see it. */
export function actorOf({ principal, grants, attempt }: Identity, session: string): Actor {
  if (attempt) {
    return { principal, attempt: { runId: attempt.runId, attempt: attempt.attempt } };
  }
  return { principal, may: (verb, tool) => allowsFor(grants, session, verb, tool) };
}

export type Principal = `${"user" | "agent" | "app"}:${string}`;

/** Whether a text can be who somebody is: a name that shows, after its kind. A name itself may have 256 characters. */
export function isPrincipal(text: unknown): text is Principal {
  return (
    typeof text === "string" &&
    text.length <= 262 &&
    text.isWellFormed() &&
    /^(user|agent|app):\P{Cc}+$/u.test(text)
  );
}
