import { CALL_TABLE } from "../call-table.ts";
import { wasClaimed, type Call } from "../call.ts";
import { RUN_TABLE } from "../run-table.ts";
import type { Run } from "../run.ts";
import { callsOf } from "../state.ts";
import { closeCall, settleCall } from "./call.ts";
import type { Draft } from "./draft.ts";
import { endSteps } from "./end-steps.ts";
import { closeItems, endRun } from "./end.ts";
import type { Env } from "./env.ts";
import { next, passBarrier } from "./next.ts";
import { phaseOf } from "./queue.ts";
import { releaseClaim } from "./release.ts";
import { closeRound, supersedeRound } from "./round.ts";
import { record } from "./ruling.ts";

/** Something whose time came. Leases are the engine's to judge; the other two are read from the call. */
export type Timer =
  | {
      readonly type: "lease";
      readonly runId: string;
      readonly attempt: number;
      readonly reason?: string;
    }
  | { readonly type: "claim"; readonly callId: string; readonly claimId: string }
  | { readonly type: "approval"; readonly callId: string }
  | { readonly type: "deadline"; readonly callId: string }
  | { readonly type: "escalation"; readonly callId: string };

/** Losses in a row after which a run is given up. */
const MAX_LOSSES = 3;

/** Lets time act, once: a timer whose reason is gone, or that is not due yet, changes nothing. */
export function decideTimer(draft: Draft, timer: Timer, env: Env): void {
  if (timer.type === "lease") {
    const run = draft.state.runs.get(timer.runId);
    if (run?.attempt === timer.attempt && RUN_TABLE.lease_expires[phaseOf(run)] === "lose") {
      loseAttempt(draft, env, run, timer.reason ?? "lease_expired");
    }
    return;
  }
  const call = draft.state.calls.get(timer.callId);
  if (!call) return;
  switch (timer.type) {
    case "claim":
      if (
        CALL_TABLE.claim_expires[call.status] === "claim_expire" &&
        call.claim?.id === timer.claimId
      ) {
        expireClaim(draft, env, call);
      }
      return;
    case "approval":
      if (
        CALL_TABLE.approval_expires[call.status] !== "expire" ||
        !isDue(call.approval?.expiresAt, env)
      )
        return;
      settleCall(draft, env, call, { outcome: "expired", reason: "approval_expired" });
      break;
    case "escalation":
      // Once: it goes on waiting, and somebody is told that it does.
      if (isWaiting(call) && !call.escalatedAt && isDue(call.escalateAt, env)) {
        record(draft, env, { type: "call.escalated", callId: call.id }, { runId: call.runId });
      }
      return;
    case "deadline":
      if (CALL_TABLE.deadline[call.status] !== "expire" || !isDue(call.deadlineAt, env)) return;
      settleCall(draft, env, call, { outcome: "expired", reason: "deadline" });
      break;
  }
  passBarrier(draft, env, call.runId);
}

function isWaiting({ status, executor }: Call): boolean {
  return status === "gated" || (status === "open" && executor === "client");
}

function isDue(at: number | undefined, env: Env): boolean {
  return at !== undefined && at <= env.now;
}

function expireClaim(draft: Draft, env: Env, call: Call): void {
  if (call.claim?.implicit) return;
  const safe = call.tool?.retry === "safe";
  if (safe || call.executor === "client") {
    const how = { reason: "expired", ...(!safe && { manual: true }) } as const;
    releaseClaim(draft, env, call, how, { runId: call.runId });
  } else {
    settleCall(draft, env, call, LOST);
  }
  passBarrier(draft, env, call.runId);
}

const LOST = {
  outcome: "error",
  reason: "executor_lost",
  message: "Whoever executed this call was lost; it may or may not have taken effect.",
} as const;

/** An attempt is gone: what it left half done is taken back or closed, and the run is handed over or given up. */
function loseAttempt(draft: Draft, env: Env, run: Run, reason: string): void {
  const scope = { runId: run.id };
  record(draft, env, { type: "attempt.lost", reason }, { ...scope, attempt: run.attempt });
  if (run.losses + 1 > MAX_LOSSES) {
    return endRun(draft, env, run, {
      outcome: "error",
      reason: "agent_lost",
      error: {
        code: "agent_lost",
        message: `The agent was lost ${run.losses + 1} times in a row.`,
      },
      calls: { outcome: "abandoned", reason: "run_failed" },
    });
  }
  for (const round of run.openRounds) {
    const kept = callsOf(draft.state, run.id).some(
      (call) => call.round === round && (call.status === "settled" || wasClaimed(call)),
    );
    if (kept) closeRound(draft, env, run, round, scope);
    else supersedeRound(draft, env, run, round, "attempt_lost", scope);
  }
  closeItems(draft, env, run.id, scope);
  endSteps(draft, env, run, scope);
  for (const call of callsOf(draft.state, run.id)) loseCall(draft, env, call);
  next(draft, env, run.id, "lost");
}

function loseCall(draft: Draft, env: Env, call: Call): void {
  const scope = { runId: call.runId };
  if (CALL_TABLE.attempt_lost[call.status] !== "lose_claimed")
    return closeCall(draft, env, call, scope);
  if (!call.claim?.implicit) return;
  if (call.tool?.retry !== "safe") return settleCall(draft, env, call, LOST, scope);
  releaseClaim(draft, env, call, { reason: "lost", closed: true }, scope);
}
