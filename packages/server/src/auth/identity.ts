import type { Actor } from "@holdfast/protocol";

/** Who a request is from, as its token says. */
export interface Identity {
  /** `user:<name>` or `agent:<name>`. */
  readonly principal: string;
  /** The one attempt the token is for. */
  readonly attempt?: {
    readonly session: string;
    readonly runId: string;
    readonly attempt: number;
  };
}

/** The identity as decisions see it. */
export function actorOf({ principal, attempt }: Identity): Actor {
  if (!attempt) return { principal };
  return { principal, attempt: { runId: attempt.runId, attempt: attempt.attempt } };
}
