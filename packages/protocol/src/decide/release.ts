import type { Call } from "../call.ts";
import type { Scope } from "../entry.ts";
import type { EventOf } from "../events.ts";
import type { SessionState } from "../state.ts";
import { closeCall } from "./call.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { record } from "./ruling.ts";

type Released = EventOf<"call.released">;

/** Whether arguments may still come: the call's round is open, or, where it has none, its step, or else its attempt. */
export function isRoundOpen(state: SessionState, call: Call): boolean {
  const run = state.runs.get(call.runId);
  if (!run) return false;
  if (call.round !== undefined) return run.openRounds.includes(call.round);
  if (run.status !== "active" || run.attempt !== call.attempt) return false;
  const { stepId, stepAttempt } = call;
  const step = run.steps?.find(({ id }) => id === stepId);
  return stepId === undefined || (step?.status === "open" && step.attempt === stepAttempt);
}

/**
 * Ends the claim on a call: it is `ended` again while its round is open, else `open`. One that was claimed before its
 * round closed has yet to be opened, so that its deadline begins.
 */
export function releaseClaim(
  draft: Draft,
  env: Env,
  call: Call,
  how: Pick<Released, "reason" | "manual"> & { readonly closed?: boolean },
  scope: Scope,
): void {
  if (!call.claim) return;
  const { closed = !isRoundOpen(draft.state, call), ...rest } = how;
  const status = closed && call.openedAt !== undefined ? "open" : "ended";
  record(
    draft,
    env,
    { type: "call.released", callId: call.id, claimId: call.claim.id, status, ...rest },
    scope,
  );
  const released = draft.state.calls.get(call.id);
  if (closed && released) closeCall(draft, env, released, scope);
}
