import type { Scope } from "../entry.ts";
import type { Run } from "../run.ts";
import { callsOf } from "../state.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { record } from "./ruling.ts";

/** Messages that still wait to be taken up by the run. */
export function pendingSteers(run: Run): readonly { messageId: string; offset: string }[] {
  return (run.steers ?? []).filter(({ consumed }) => consumed === undefined);
}

/**
 * A round begins: it reads what was sent to steer the run, unless an approved call is still to run first. An agent that
 * says which messages its request holds is believed: one that came after the request was made waits for the next.
 */
export function takeSteers(
  draft: Draft,
  env: Env,
  runId: string,
  scope: Scope,
  read?: readonly string[],
): void {
  const run = draft.state.runs.get(runId);
  if (!run?.steers) return;
  if (read) {
    for (const { messageId } of pendingSteers(run)) {
      if (!read.includes(messageId)) continue;
      record(draft, env, { type: "run.steer_settled", messageId, consumed: true }, scope);
    }
    return;
  }
  const isRunnable = callsOf(draft.state, runId).some(
    ({ status, executor }) => status === "open" && executor !== "client",
  );
  if (!isRunnable) settleSteers(draft, env, run, true, scope);
}

/** Reports what became of the messages that steered a run; those that came after `before` still wait. */
export function settleSteers(
  draft: Draft,
  env: Env,
  run: Run,
  consumed: boolean,
  scope: Scope,
  before?: string,
): void {
  for (const { messageId, offset } of pendingSteers(run)) {
    if (before !== undefined && offset >= before) continue;
    record(draft, env, { type: "run.steer_settled", messageId, consumed }, scope);
  }
}
