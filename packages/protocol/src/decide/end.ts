import { CALL_TABLE } from "../call-table.ts";
import type { SettleReason } from "../call.ts";
import type { Scope } from "../entry.ts";
import type { RunFailure, RunOutcome } from "../events.ts";
import { partsSince } from "../reduce/run.ts";
import type { Run } from "../run.ts";
import { callsOf, partsOf } from "../state.ts";
import { settleCall } from "./call.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { endSteps } from "./end-steps.ts";
import { queueRun } from "./queue.ts";
import { record } from "./ruling.ts";
import { settleSteers } from "./steer.ts";

export interface RunEnd {
  readonly outcome: RunOutcome;
  readonly reason?: string;
  readonly error?: RunFailure;
  /** How its unsettled calls end. Default: abandoned, `run_ended`. */
  readonly calls?: {
    readonly outcome: "cancelled" | "abandoned";
    readonly reason: SettleReason;
    readonly message?: string;
  };
}

/** Ends a run in one commit: its open calls, its open items and rounds, itself; then frees the runs behind it. */
export function endRun(draft: Draft, env: Env, run: Run, end: RunEnd): void {
  const { calls = { outcome: "abandoned", reason: "run_ended" }, ...event } = end;
  const scope = { runId: run.id };
  for (const call of callsOf(draft.state, run.id)) {
    if (CALL_TABLE.run_ends[call.status] === "settle") settleCall(draft, env, call, calls, scope);
  }
  closeItems(draft, env, run.id, scope);
  for (const round of run.openRounds)
    record(draft, env, { type: "round.closed", round }, { ...scope, round });
  endSteps(draft, env, run, scope);
  settleSteers(draft, env, run, false, scope);
  record(draft, env, { type: "run.ended", ...event }, scope);
  for (const id of draft.state.index.live) {
    const waiting = draft.state.runs.get(id);
    if (
      waiting?.status === "queued" &&
      waiting.behind.length === 0 &&
      waiting.wakeId === undefined
    ) {
      queueRun(draft, env, id, "freed");
    }
  }
}

/** Closes text and reasoning that nobody will go on with: of one round, of one step, or of all of the run. */
export function closeItems(
  draft: Draft,
  env: Env,
  runId: string,
  scope: Scope,
  { round, stepId }: { readonly round?: number; readonly stepId?: string } = {},
): void {
  const { state } = draft;
  const parts = round === undefined ? partsOf(state, runId) : partsSince(state, runId, round);
  for (const part of parts) {
    const item = part.kind === "item" ? draft.state.items.get(part.id) : undefined;
    if (item?.kind !== "text" && item?.kind !== "reasoning") continue;
    if (item.status !== "open" || (round !== undefined && item.round !== round)) continue;
    if (stepId !== undefined && item.stepId !== stepId) continue;
    const type = item.kind === "text" ? "TEXT_MESSAGE_END" : "REASONING_MESSAGE_END";
    record(draft, env, { type, messageId: item.id }, scope);
  }
}
