import { CALL_TABLE } from "../call-table.ts";
import type { Call } from "../call.ts";
import { RUN_TABLE } from "../run-table.ts";
import type { Run } from "../run.ts";
import { settleCall } from "./call.ts";
import type { Draft } from "./draft.ts";
import { endRun } from "./end.ts";
import type { Env } from "./env.ts";
import { handOver, LOST, releaseAttempt } from "./hand-over.ts";
import { passBarrier } from "./next.ts";
import { phaseOf } from "./queue.ts";
import { releaseClaim } from "./release.ts";
import { record } from "./ruling.ts";

/** Something whose time came. Leases and workers are the engine's to judge; the others are read from the call. */
export type Timer =
  | {
      readonly type: "lease";
      readonly runId: string;
      readonly attempt: number;
      readonly reason?: string;
    }
  /** The attempt's worker was gone before it could be given the attempt. */
  | { readonly type: "left"; readonly runId: string; readonly attempt: number }
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
  if (timer.type === "left") {
    const run = draft.state.runs.get(timer.runId);
    if (run?.attempt === timer.attempt && RUN_TABLE.release[phaseOf(run)] === "release") {
      releaseAttempt(draft, env, run, "worker_left");
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

/** An attempt is gone: the run is handed over, or given up. */
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
  handOver(draft, env, run, "lost");
}
