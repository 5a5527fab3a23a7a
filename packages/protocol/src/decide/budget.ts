import { canonicalArguments } from "../canonical.ts";
import type { Call } from "../call.ts";
import type { Run } from "../run.ts";
import { callsOf } from "../state.ts";
import type { Draft } from "./draft.ts";
import { endRun } from "./end.ts";
import type { Env } from "./env.ts";
import type { Made } from "./ruling.ts";

/**
 * Ends a run that went past its budget. The item that went past is taken, and its doing is the end: a refusal would
 * have to leave everything as it was (SPEC 5.9.2).
 */
export function breach(draft: Draft, env: Env, run: Run, what: string): Made {
  const message = `The run was ended: it would have made ${what}, its session's budget.`;
  const error = { code: "budget_exceeded", message };
  endRun(draft, env, run, {
    outcome: "error",
    reason: error.code,
    error,
    calls: { outcome: "abandoned", reason: "run_failed" },
  });
  return { ended: error };
}

/** Whether a complete call repeats one tool with the same arguments more often than the run may. */
export function repeatsTooOften(draft: Draft, call: Call): boolean {
  const { repeats } = draft.state.session.policy.budget;
  const same = callsOf(draft.state, call.runId).filter(
    (other) => other.name === call.name && !other.withdrawn && other.outcome !== "superseded",
  );
  if (same.length <= repeats) return false;
  const args = canonicalOf(call);
  return same.filter((other) => canonicalOf(other) === args).length > repeats;
}

/** Kept by row, since rows do not change: each END looks at all of its tool's calls. */
const known = new WeakMap<Call, string>();

function canonicalOf(call: Call): string {
  let args = known.get(call);
  if (args === undefined) known.set(call, (args = canonicalArguments(call.arguments)));
  return args;
}
