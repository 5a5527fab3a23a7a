import type { CommandBody } from "../command.ts";
import type { Scope } from "../entry.ts";
import type { Run, Step } from "../run.ts";
import { callsOf } from "../state.ts";
import { closeCall, settleCall } from "./call.ts";
import type { Draft } from "./draft.ts";
import { closeItems } from "./end.ts";
import type { Env } from "./env.ts";
import { fence } from "./fence.ts";
import { closeRound, openRoundOf } from "./round.ts";
import { APPLIED, record, type Ruling } from "./ruling.ts";
import { isConsumed, refuseSettled, refuseWithdraw } from "./withdraw.ts";

type StepCommand<T extends string> = Extract<CommandBody, { type: T }>;

/**
 * Opens a step, or starts it again: everything its last attempt wrote leaves the history, live and on reload; what it
 * answered stands until this attempt answers anew. Refused with `step_settled` once anybody else decided, claimed,
 * answered or read any of it.
 */
export function startStep(draft: Draft, command: StepCommand<"step.start">, env: Env): Ruling {
  const { runId, attempt, producer, seq, stepId } = command;
  const fenced = fence(draft.state, command, "append", env);
  const known = draft.state.runs.get(runId)?.steps?.find(({ id }) => id === stepId);
  if (!("run" in fenced)) {
    // A repeat learns again which attempt of the step it began, while no other began a newer one.
    const begun = known?.startedBy;
    const isLatest = begun?.attempt === attempt && begun.producer === producer && begun.seq === seq;
    return fenced.error || !isLatest ? fenced : { ...fenced, stepAttempt: known?.attempt ?? 0 };
  }
  const { run } = fenced;
  const refused = known && refuseRestart(draft, run, known);
  if (refused) return refused;
  draft.note({ runId, attempt, producer, seq });
  if (known) supersedeStep(draft, env, run, known, { runId, attempt });
  const stepAttempt = (known?.attempt ?? 0) + 1;
  record(
    draft,
    env,
    { type: "step.started", stepId, stepAttempt, producer, seq },
    { runId, attempt, stepId, stepAttempt },
  );
  return { stepAttempt };
}

/** Ends the step: its round closes, and no batch of it is taken any more. */
export function endStep(draft: Draft, command: StepCommand<"step.end">, env: Env): Ruling {
  const fenced = fence(draft.state, command, "append", env);
  if (!("run" in fenced)) return fenced;
  const { run } = fenced;
  const { runId, attempt, producer, seq, stepId, stepAttempt } = command;
  draft.note({ runId, attempt, producer, seq });
  const scope = { runId, attempt, stepId, stepAttempt };
  const round = openRoundOf(draft.state, run, stepId);
  if (round !== undefined) closeRound(draft, env, run, round, scope);
  closeItems(draft, env, runId, scope, { stepId });
  for (const call of callsOf(draft.state, runId)) {
    if (isWrittenIn(call, { id: stepId, attempt: stepAttempt })) closeCall(draft, env, call, scope);
  }
  record(draft, env, { type: "step.ended", stepId, stepAttempt }, scope);
  return APPLIED;
}

function refuseRestart(draft: Draft, run: Run, step: Step): Ruling | undefined {
  const calls = callsOf(draft.state, run.id);
  const read = calls.find(
    ({ answer }) => answer && isWrittenIn(answer, step) && isConsumed(run, answer),
  );
  if (read) return refuseSettled(read);
  return refuseWithdraw(
    run,
    calls.filter((call) => isWrittenIn(call, step)),
  );
}

function supersedeStep(draft: Draft, env: Env, run: Run, step: Step, scope: Scope): void {
  const within = { ...scope, stepId: step.id, stepAttempt: step.attempt };
  for (const call of callsOf(draft.state, run.id)) {
    if (!isWrittenIn(call, step) || call.status === "settled") continue;
    settleCall(draft, env, call, { outcome: "superseded", reason: "step_superseded" }, within);
  }
  record(
    draft,
    env,
    { type: "step.superseded", stepId: step.id, stepAttempt: step.attempt },
    within,
  );
}

/** Whether a call was proposed, or an answer given, by this attempt of the step. */
function isWrittenIn(
  row: { readonly stepId?: string; readonly stepAttempt?: number },
  step: Pick<Step, "id" | "attempt">,
): boolean {
  return row.stepId === step.id && row.stepAttempt === step.attempt;
}
