import type { Fence } from "../command.ts";
import { RUN_TABLE, type RunTrigger } from "../run-table.ts";
import type { Run } from "../run.ts";
import { producerKey, type SessionState } from "../state.ts";
import type { Env } from "./env.ts";
import { phaseOf } from "./queue.ts";
import { refuse, REPEATED, type Ruling } from "./ruling.ts";

/**
 * Says whether a batch of an attempt is still allowed (SPEC 5.2): its run, or the ruling that ends the matter.
 * Repeats are recognised first and change nothing, whatever became of the attempt.
 */
export function fence(
  state: SessionState,
  batch: Fence,
  trigger: RunTrigger,
  env: Env,
): { run: Run } | Ruling {
  const run = state.runs.get(batch.runId);
  if (!run) return unknownRun(batch.runId);
  const { attempt } = env.actor;
  if (attempt?.runId !== batch.runId || attempt.attempt !== batch.attempt) {
    return refuse(
      "forbidden",
      `Only the token of attempt ${batch.attempt} of run ${batch.runId} appends to it.`,
    );
  }
  const last = state.producers.get(producerKey(batch))?.seq ?? 0;
  if (batch.seq <= last) return REPEATED;
  const refused = refuseAttempt(run, batch.attempt, trigger);
  if (refused) return refused;
  if (batch.seq !== last + 1) {
    return refuse(
      "sequence_gap",
      `Producer ${batch.producer} is at ${last}: send batch ${last + 1} first.`,
      {
        expected: last + 1,
      },
    );
  }
  return refuseStep(run, batch) ?? { run };
}

/** Refuses a step attempt that is not its step's open one. */
function refuseStep(run: Run, { stepId, stepAttempt }: Fence): Ruling | undefined {
  if (stepAttempt === undefined) return undefined;
  const step = run.steps?.find((it) => it.id === stepId);
  if (step?.status === "open" && step.attempt === stepAttempt) return undefined;
  return refuse(
    "attempt_fenced",
    `Attempt ${stepAttempt} of step ${stepId} is ${step?.attempt === stepAttempt ? "ended" : "not its latest"}: start the step again.`,
    { stepId, ...(step && { stepAttempt: step.attempt }) },
  );
}

/** Refuses an attempt that is not the active one of its run. */
export function refuseAttempt(run: Run, attempt: number, trigger: RunTrigger): Ruling | undefined {
  const move = RUN_TABLE[trigger][phaseOf(run)];
  if (move === "run_ended") return runEnded(run);
  if (move !== "attempt_fenced" && run.attempt === attempt) return undefined;
  return refuse(
    "attempt_fenced",
    `Attempt ${attempt} of run ${run.id} is over (it is ${run.status}, at ${run.attempt}): claim work again.`,
    {
      attempt: run.attempt,
      status: run.status,
    },
  );
}

export function unknownRun(runId: string): Ruling {
  return refuse(
    "unknown_run",
    `This session has no run ${runId}: read its state for the runs it has.`,
  );
}

export function runEnded(run: Run): Ruling {
  return refuse(
    "run_ended",
    `Run ${run.id} ended ${run.outcome}${run.reason ? ` (${run.reason})` : ""}: send a message to begin another.`,
    {
      outcome: run.outcome,
      ...(run.reason !== undefined && { reason: run.reason }),
    },
  );
}
