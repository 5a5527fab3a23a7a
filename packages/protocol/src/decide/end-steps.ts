import type { Scope } from "../entry.ts";
import type { Run } from "../run.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { record } from "./ruling.ts";

/** Ends every step that is open, with its run or its attempt. */
export function endSteps(draft: Draft, env: Env, run: Run, scope: Scope): void {
  for (const { id: stepId, attempt: stepAttempt, status } of run.steps ?? []) {
    if (status !== "open") continue;
    record(
      draft,
      env,
      { type: "step.ended", stepId, stepAttempt },
      { ...scope, stepId, stepAttempt },
    );
  }
}
