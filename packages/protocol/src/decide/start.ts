import { RUN_TABLE } from "../run-table.ts";
import type { ToolDeclaration } from "../tool.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { runEnded, unknownRun } from "./fence.ts";
import { phaseOf } from "./queue.ts";
import { record, refuse, REPEATED, type Ruling } from "./ruling.ts";
import { withDigest } from "./session.ts";

export interface Start {
  readonly runId: string;
  readonly wakeId: string;
  readonly worker: string;
  /** False for an agent that never claims its calls. */
  readonly claims: boolean;
  readonly tools?: readonly ToolDeclaration[];
  /** `tools` names every tool there is. */
  readonly complete?: boolean;
}

/**
 * Starts a run's next attempt: compare-and-set on the wake id. The same worker and wake id get the attempt they
 * started; anybody else is `run_held`.
 */
export function startRun(draft: Draft, start: Start, env: Env): Ruling {
  const run = draft.state.runs.get(start.runId);
  if (!run) return unknownRun(start.runId);
  const { worker, wakeId, claims, tools, complete } = start;
  const move = RUN_TABLE.start[phaseOf(run)];
  if (move === "run_ended") return runEnded(run);
  if (move === "same_attempt" && run.worker === worker && run.startedBy === wakeId) return REPEATED;
  if (move !== "start" || run.wakeId !== wakeId) {
    return refuse(
      "run_held",
      `Run ${run.id} is ${run.status} and that wake-up is not the one it waits for.`,
      {
        status: run.status,
        worker: run.worker,
      },
    );
  }
  record(
    draft,
    env,
    {
      type: "attempt.started",
      worker,
      wakeId,
      claims,
      ...(tools && { tools: tools.map((tool) => withDigest(tool, env)) }),
      ...(complete && { complete }),
    },
    { runId: run.id, attempt: run.attempt + 1 },
  );
  return { runId: run.id };
}
