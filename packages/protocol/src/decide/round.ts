import type { Scope } from "../entry.ts";
import { partsSince, roundId } from "../reduce/run.ts";
import type { Run } from "../run.ts";
import { callsOf, type SessionState } from "../state.ts";
import { closeCall, settleCall } from "./call.ts";
import type { Draft } from "./draft.ts";
import { closeItems } from "./end.ts";
import type { Env } from "./env.ts";
import { breach } from "./budget.ts";
import { APPLIED, record, type Made } from "./ruling.ts";
import { takeSteers } from "./steer.ts";

/** Closes a round: no more arguments come, so its calls are truncated, refused, gated or opened. */
export function closeRound(draft: Draft, env: Env, run: Run, round: number, scope: Scope): void {
  closeItems(draft, env, run.id, scope, { round });
  record(draft, env, { type: "round.closed", round }, { ...scope, round });
  for (const { kind, id } of partsSince(draft.state, run.id, round)) {
    const call = kind === "call" ? draft.state.calls.get(id) : undefined;
    if (call?.round === round) closeCall(draft, env, call, scope);
  }
}

/** The open round of a step, or of what belongs to none: one at a time each. */
export function openRoundOf(
  state: SessionState,
  run: Run,
  stepId: string | undefined,
): number | undefined {
  return run.openRounds.findLast(
    (round) => state.items.get(roundId(run.id, round))?.stepId === stepId,
  );
}

/** Opens the next round: what was sent to steer the run is read in it, once nothing else is left to run. */
export function openRound(
  draft: Draft,
  env: Env,
  runId: string,
  attempt: Scope & { readonly runId: string },
  read?: readonly string[],
): Made {
  const run = draft.state.runs.get(runId);
  if (!run) return APPLIED;
  const round = run.round + 1;
  const { rounds } = draft.state.session.policy.budget;
  if (round > rounds) return breach(draft, env, run, `more than ${rounds} rounds`);
  record(draft, env, { type: "round.opened", round }, { ...attempt, round });
  takeSteers(draft, env, runId, { ...attempt, round }, read);
  return APPLIED;
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
