import type { AgUiViolation } from "./rules.ts";
import { violates } from "./rules.ts";
import type { VerifyState } from "./state.ts";
import { TEXTS } from "./texts.ts";
import type { AgUiEventOf } from "./vocabulary.ts";

export function stepStarted(
  { open: { steps } }: VerifyState,
  { stepName: name, subagentRunId: owner }: AgUiEventOf<"STEP_STARTED">,
): AgUiViolation | undefined {
  const names = steps.get(owner);
  if (names?.has(name) === true) return violates("V9", TEXTS.stepOpen(name, owner));
  if (names) names.add(name);
  else steps.set(owner, new Set([name]));
  return undefined;
}

export function stepFinished(
  { open: { steps } }: VerifyState,
  { stepName: name, subagentRunId: owner }: AgUiEventOf<"STEP_FINISHED">,
): AgUiViolation | undefined {
  if (steps.get(owner)?.delete(name) === true) return undefined;
  for (const [other, names] of steps) {
    if (names.has(name)) return violates("V9", TEXTS.stepOfOther(name, owner, other));
  }
  return violates("V9", TEXTS.stepUnknown(name));
}
