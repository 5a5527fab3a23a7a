import { CALL_TABLE } from "../call-table.ts";
import { wasClaimed, type Call } from "../call.ts";
import type { Run } from "../run.ts";
import { callsOf } from "../state.ts";
import { closeCall, settleCall } from "./call.ts";
import type { Draft } from "./draft.ts";
import { endSteps } from "./end-steps.ts";
import { closeItems, endRun } from "./end.ts";
import type { Env } from "./env.ts";
import { next } from "./next.ts";
import { releaseClaim } from "./release.ts";
import { closeRound, supersedeRound } from "./round.ts";
import { record } from "./ruling.ts";

/** How a call ends whose executor is gone. */
export const LOST = {
  outcome: "error",
  reason: "executor_lost",
  message: "Whoever executed this call was lost; it may or may not have taken effect.",
} as const;

/** How often in a row attempts may be handed back that opened no round; rounds are bounded by the run's budget. */
const MAX_RELEASES = 20;

/**
 * An attempt was handed back: another goes on and nothing counts as lost, but not for ever. Where attempt after attempt
 * comes back without a round, nobody is going to answer this run.
 */
export function releaseAttempt(draft: Draft, env: Env, run: Run, reason?: string): void {
  const scope = { runId: run.id, attempt: run.attempt };
  record(draft, env, { type: "attempt.released", ...(reason !== undefined && { reason }) }, scope);
  const times = draft.state.runs.get(run.id)?.releases ?? 0;
  if (times <= MAX_RELEASES) return handOver(draft, env, run, "released");
  endRun(draft, env, run, {
    outcome: "error",
    reason: "released_too_often",
    error: {
      code: "released_too_often",
      message: `The run was handed back ${times} times in a row, without a round in between.`,
    },
    calls: { outcome: "abandoned", reason: "run_failed" },
  });
}

/** What an attempt that is gone left half done is taken back or closed, and its run goes to another. */
export function handOver(draft: Draft, env: Env, run: Run, how: "lost" | "released"): void {
  const scope = { runId: run.id };
  for (const round of run.openRounds) {
    const kept = callsOf(draft.state, run.id).some(
      (call) => call.round === round && (call.status === "settled" || wasClaimed(call)),
    );
    if (kept) closeRound(draft, env, run, round, scope);
    else supersedeRound(draft, env, run, round, `attempt_${how}`, scope);
  }
  closeItems(draft, env, run.id, scope);
  endSteps(draft, env, run, scope);
  for (const call of callsOf(draft.state, run.id)) loseCall(draft, env, call);
  next(draft, env, run.id, how);
}

function loseCall(draft: Draft, env: Env, call: Call): void {
  const scope = { runId: call.runId };
  if (CALL_TABLE.attempt_lost[call.status] !== "lose_claimed")
    return closeCall(draft, env, call, scope);
  if (!call.claim?.implicit) return;
  if (call.tool?.retry !== "safe") return settleCall(draft, env, call, LOST, scope);
  releaseClaim(draft, env, call, { reason: "lost", closed: true }, scope);
}
