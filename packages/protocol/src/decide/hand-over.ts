import { CALL_TABLE } from "../call-table.ts";
import { wasClaimed, type Call } from "../call.ts";
import type { Run } from "../run.ts";
import { callsOf } from "../state.ts";
import { closeCall, settleCall } from "./call.ts";
import type { Draft } from "./draft.ts";
import { endSteps } from "./end-steps.ts";
import { closeItems } from "./end.ts";
import type { Env } from "./env.ts";
import { next } from "./next.ts";
import { releaseClaim } from "./release.ts";
import { closeRound, supersedeRound } from "./round.ts";

/** How a call ends whose executor is gone. */
export const LOST = {
  outcome: "error",
  reason: "executor_lost",
  message: "Whoever executed this call was lost; it may or may not have taken effect.",
} as const;

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
