import { RUN_TABLE } from "../run-table.ts";
import { callsOf, type SessionState } from "../state.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { endRun } from "./end.ts";
import { phaseOf, queueRun } from "./queue.ts";
import { record } from "./ruling.ts";
import { pendingSteers } from "./steer.ts";

/** Whether the run waits for anyone but the agent's side: an unsettled call that is not open to the agent. */
export function isBlocked(state: SessionState, runId: string): boolean {
  return callsOf(state, runId).some(
    (call) => call.status !== "settled" && !(call.status === "open" && call.executor !== "client"),
  );
}

/**
 * What becomes of a run after an attempt's end (SPEC 5.3): suspended while others owe something; queued where the
 * agent has something new to do; else complete. A lost attempt is always followed by another.
 */
export function next(draft: Draft, env: Env, runId: string, how: "finished" | "lost"): void {
  const run = draft.state.runs.get(runId);
  if (!run) return;
  if (isBlocked(draft.state, runId))
    return record(draft, env, { type: "run.suspended" }, { runId });
  // What became open to the agent and was left open is the next attempt's, whatever a round read meanwhile.
  const isRunnable = callsOf(draft.state, runId).some((call) => call.status === "open");
  const isSteered = pendingSteers(run).length > 0;
  if (how === "lost" || run.news || isRunnable || isSteered)
    return queueRun(draft, env, runId, how === "lost" ? "lost" : "news");
  endRun(draft, env, run, { outcome: "complete" });
}

/** The barrier: the commit that removes the last thing others owed queues a suspended run, once. */
export function passBarrier(draft: Draft, env: Env, runId: string): void {
  const run = draft.state.runs.get(runId);
  if (!run || RUN_TABLE.barrier[phaseOf(run)] !== "queue" || isBlocked(draft.state, runId)) return;
  queueRun(draft, env, runId, "barrier");
}
