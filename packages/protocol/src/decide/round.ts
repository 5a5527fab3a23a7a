import { CALL_TABLE } from "../call-table.ts";
import type { Scope } from "../entry.ts";
import { partsSince } from "../reduce/run.ts";
import type { Run } from "../run.ts";
import { callsOf } from "../state.ts";
import { closeCall, settleCall } from "./call.ts";
import type { Draft } from "./draft.ts";
import { closeItems } from "./end.ts";
import type { Env } from "./env.ts";
import { record, refuse, type Ruling } from "./ruling.ts";

/** Closes a round: no more arguments come, so its calls are truncated, refused, gated or opened. */
export function closeRound(draft: Draft, env: Env, run: Run, round: number, scope: Scope): void {
  closeItems(draft, env, run.id, scope, round);
  record(draft, env, { type: "round.closed", round }, { ...scope, round });
  for (const { kind, id } of partsSince(draft.state, run.id, round)) {
    const call = kind === "call" ? draft.state.calls.get(id) : undefined;
    if (call?.round === round) closeCall(draft, env, call, scope);
  }
}

/** Whether taking the round back would void what somebody else did; the refusal, or undefined. */
export function refuseWithdraw(draft: Draft, run: Run, round: number): Ruling | undefined {
  for (const call of callsOf(draft.state, run.id)) {
    if (call.round !== round) continue;
    const move = CALL_TABLE.withdraw[call.status];
    const settled =
      (move === "supersede_undecided" && call.approval?.decision !== undefined) ||
      (move === "supersede_own_claim" && call.executor === "client") ||
      (move === "supersede_own_answer" && call.answer?.attempt === undefined);
    if (settled) {
      return refuse(
        "step_settled",
        `Call ${call.id} of the round was decided, claimed or answered: the round stays.`,
        {
          callId: call.id,
        },
      );
    }
  }
  return undefined;
}

/** Takes a round back: its calls are superseded, its content leaves the history. */
export function supersedeRound(
  draft: Draft,
  env: Env,
  run: Run,
  round: number,
  reason: string,
  scope: Scope,
): void {
  for (const call of callsOf(draft.state, run.id)) {
    if (call.round !== round || call.status === "settled") continue;
    settleCall(draft, env, call, { outcome: "superseded", reason: "round_superseded" }, scope);
  }
  record(draft, env, { type: "round.superseded", round, reason }, { ...scope, round });
}
