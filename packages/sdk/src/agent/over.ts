import { HoldfastError, type RunFailure, type SessionState } from "@holdfast/protocol";
import type { Attempt } from "./attempt.ts";

/** Why an attempt is over, by the state; undefined while it is not, or the state is older than the attempt. */
export function whyOver(state: SessionState, { work }: Attempt): HoldfastError | undefined {
  const run = state.runs.get(work.runId);
  if (run?.status === "active" && run.attempt === work.attempt) return undefined;
  // An older state than the grant, from a server that is behind.
  if (!run || state.head < work.offset) return undefined;
  if (run.error?.code === "budget_exceeded") return overBudget(run.id, run.error);
  if (run.status === "ended") {
    return new HoldfastError({
      code: "run_ended",
      message: `Run ${run.id} ended ${run.outcome ?? ""}${run.reason ? ` (${run.reason})` : ""}: stop working on it.`,
      details: { outcome: run.outcome, reason: run.reason },
    });
  }
  return new HoldfastError({
    code: "attempt_fenced",
    message: `Attempt ${work.attempt} of run ${run.id} is over (it is ${run.status}, at ${run.attempt}).`,
    details: { attempt: run.attempt, status: run.status },
  });
}

/** Why an attempt is over that went past its session's budget, by the error its run ended in. */
export function overBudget(runId: string, { message }: RunFailure): HoldfastError {
  return new HoldfastError({ code: "budget_exceeded", message, details: { runId } });
}

/** Why an attempt of a step is over, by the state; undefined while it is not, or the state does not know it yet. */
export function whyStepOver(
  state: SessionState,
  runId: string,
  { stepId, stepAttempt }: { readonly stepId: string; readonly stepAttempt: number },
): HoldfastError | undefined {
  const step = state.runs.get(runId)?.steps?.find(({ id }) => id === stepId);
  if (!step || step.attempt < stepAttempt) return undefined;
  if (step.attempt === stepAttempt && step.status === "open") return undefined;
  return new HoldfastError({
    code: "attempt_fenced",
    message: `Attempt ${stepAttempt} of step ${stepId} is over (it is ${step.status}, at ${step.attempt}): start the step again.`,
    details: { stepId, stepAttempt: step.attempt },
  });
}
