import { CALL_TABLE } from "../call-table.ts";
import type { CommandBody } from "../command.ts";
import { RUN_TABLE } from "../run-table.ts";
import { findCall, refuseMove, settleCall, unknownCall } from "./call.ts";
import { scopeOf } from "./claim.ts";
import type { Draft } from "./draft.ts";
import { endRun } from "./end.ts";
import type { Env } from "./env.ts";
import { passBarrier } from "./next.ts";
import { phaseOf } from "./queue.ts";
import { APPLIED, type Ruling } from "./ruling.ts";
import { runEnded, unknownRun } from "./fence.ts";

/** Stops one call; its run goes on without it. */
export function cancelCall(
  draft: Draft,
  command: Extract<CommandBody, { type: "call.cancel" }>,
  env: Env,
): Ruling {
  const call = findCall(draft.state, command.callId, env);
  if (!call) return unknownCall(command.callId, draft.state);
  if (CALL_TABLE.cancel[call.status] !== "settle") return refuseMove("call_settled", call);
  const end = {
    outcome: "cancelled",
    reason: "cancelled",
    ...(command.reason !== undefined && { message: command.reason }),
  } as const;
  settleCall(draft, env, call, end, scopeOf(call, env));
  passBarrier(draft, env, call.runId);
  return APPLIED;
}

/** Stops a run with its open calls, in one commit, also before its agent exists. */
export function cancelRun(
  draft: Draft,
  command: Extract<CommandBody, { type: "run.cancel" }>,
  env: Env,
): Ruling {
  const run = draft.state.runs.get(command.runId);
  if (!run) return unknownRun(command.runId);
  if (RUN_TABLE.cancel[phaseOf(run)] !== "cancel") return runEnded(run);
  endRun(draft, env, run, {
    outcome: "cancelled",
    ...(command.reason !== undefined && { reason: command.reason }),
    calls: { outcome: "cancelled", reason: "run_cancelled" },
  });
  return APPLIED;
}
