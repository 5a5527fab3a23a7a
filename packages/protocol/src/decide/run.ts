import { CALL_TABLE } from "../call-table.ts";
import type { Call } from "../call.ts";
import type { CommandBody } from "../command.ts";
import type { Scope } from "../entry.ts";
import type { Run } from "../run.ts";
import { callsOf } from "../state.ts";
import { closeCall, settleCall } from "./call.ts";
import type { Draft } from "./draft.ts";
import { endSteps } from "./end-steps.ts";
import { closeItems, endRun } from "./end.ts";
import type { Env } from "./env.ts";
import { releaseAttempt } from "./hand-over.ts";
import { fence, refuseAttempt, unknownRun } from "./fence.ts";
import { next } from "./next.ts";
import { closeRound } from "./round.ts";
import { APPLIED, record, refuse, type Ruling } from "./ruling.ts";
import { settleSteers } from "./steer.ts";

type RunCommand<T extends string> = Extract<CommandBody, { type: T }>;

/** The longest that nothing may be heard of an attempt, in milliseconds: 24 hours. */
const LONGEST_HOLD_MS = 24 * 60 * 60 * 1000;

/**
 * An attempt's word that it is at work. Its lease is the engine's to extend, and nothing is recorded; a time up to which
 * it is held without a word is, since that is for everybody to see.
 */
export function heartbeat(draft: Draft, command: RunCommand<"run.heartbeat">, env: Env): Ruling {
  const run = draft.state.runs.get(command.runId);
  if (!run) return unknownRun(command.runId);
  if (env.actor.attempt?.runId !== run.id || env.actor.attempt.attempt !== command.attempt) {
    return refuse(
      "forbidden",
      `Only the token of attempt ${command.attempt} of run ${run.id} renews it.`,
    );
  }
  const refused = refuseAttempt(run, command.attempt, "heartbeat");
  if (refused || command.until === undefined) return refused ?? APPLIED;
  const until = Math.min(command.until, env.now + LONGEST_HOLD_MS);
  const before = Math.max(run.heldUntil ?? 0, env.now);
  if (until <= before) return { heldUntil: before };
  const scope = { runId: run.id, attempt: run.attempt };
  record(draft, env, { type: "attempt.held", until }, scope);
  return { heldUntil: until };
}

/** The agent is done for now; the server decides what that means (SPEC 5.3). */
export function finishRun(draft: Draft, command: RunCommand<"run.finish">, env: Env): Ruling {
  const fenced = fence(draft.state, command, "finish", env);
  if (!("run" in fenced)) return fenced;
  const { run } = fenced;
  const scope = { runId: run.id, attempt: run.attempt };
  draft.note({ runId: run.id, attempt: run.attempt, producer: command.producer, seq: command.seq });
  for (const round of run.openRounds) closeRound(draft, env, run, round, scope);
  closeItems(draft, env, run.id, scope);
  endSteps(draft, env, run, scope);
  for (const call of callsOf(draft.state, run.id)) finishCall(draft, env, run, call, scope);
  settleSteers(draft, env, run, false, scope, run.attemptOffset);
  record(draft, env, { type: "attempt.finished" }, scope);
  next(draft, env, run.id, "finished");
  return APPLIED;
}

function finishCall(draft: Draft, env: Env, run: Run, call: Call, scope: Scope): void {
  closeCall(draft, env, call, scope);
  const now = draft.state.calls.get(call.id) ?? call;
  const move = CALL_TABLE.attempt_finishes[now.status];
  const given = (now.openedAt ?? "") < (run.attemptOffset ?? "");
  const unanswered =
    (move === "finish_open" &&
      now.executor !== "client" &&
      (given || now.openedIn === run.attempt)) ||
    (move === "finish_claimed" && now.claim?.implicit === true);
  if (!unanswered) return;
  settleCall(
    draft,
    env,
    now,
    {
      outcome: "error",
      reason: "unanswered",
      message: "The agent ended without answering this call.",
    },
    scope,
  );
}

/** The agent's process cannot go on, and says so in time: the run goes to another. */
export function releaseRun(draft: Draft, command: RunCommand<"run.release">, env: Env): Ruling {
  const fenced = fence(draft.state, command, "release", env);
  if (!("run" in fenced)) return fenced;
  const { run } = fenced;
  const { runId, attempt, producer, seq } = command;
  draft.note({ runId, attempt, producer, seq });
  releaseAttempt(draft, env, run);
  return APPLIED;
}

/** The agent gives up: the run ends in error, its open calls are abandoned. */
export function failRun(draft: Draft, command: RunCommand<"run.fail">, env: Env): Ruling {
  const fenced = fence(draft.state, command, "fail", env);
  if (!("run" in fenced)) return fenced;
  const { run } = fenced;
  draft.note({ runId: run.id, attempt: run.attempt, producer: command.producer, seq: command.seq });
  endRun(draft, env, run, {
    outcome: "error",
    reason: command.error.code,
    error: command.error,
    calls: { outcome: "abandoned", reason: "run_failed" },
  });
  return APPLIED;
}
