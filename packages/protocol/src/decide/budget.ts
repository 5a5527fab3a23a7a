import { hasSameArguments } from "../canonical.ts";
import type { Call } from "../call.ts";
import type { Run } from "../run.ts";
import { partsOf } from "../state.ts";
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
export function repeatsTooOften({ state }: Draft, call: Call): boolean {
  const { repeats } = state.session.policy.budget;
  const ofTool = (isCounted: (other: Call) => boolean) => {
    let count = 0;
    for (const { kind, id } of partsOf(state, call.runId)) {
      const other = kind === "call" ? state.calls.get(id) : undefined;
      if (other?.name !== call.name || other.withdrawn || other.outcome === "superseded") continue;
      if (isCounted(other)) count += 1;
    }
    return count;
  };
  // Every END comes by here: arguments are only read where there are calls enough.
  return ofTool(() => true) > repeats && ofTool((other) => hasSameArguments(other, call)) > repeats;
}
