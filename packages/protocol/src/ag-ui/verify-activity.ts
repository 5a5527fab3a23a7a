import { disagrees } from "./ownership.ts";
import { remember, reused } from "./reuse.ts";
import type { AgUiViolation, AgUiWarning } from "./rules.ts";
import type { VerifyState } from "./state.ts";
import type { AgUiEventOf } from "./vocabulary.ts";

/** A snapshot that replaces makes the activity anew, and its sender's; one that does not leaves it whose it was. */
export function activityRestated(
  state: VerifyState,
  { messageId: id, replace, subagentRunId }: AgUiEventOf<"ACTIVITY_SNAPSHOT">,
  warnings: AgUiWarning[],
): AgUiViolation | undefined {
  const violation = reused(state, id, "activity", warnings);
  if (violation) return violation;
  const { activity } = state.owners;
  if (replace !== false || !activity.has(id)) activity.set(id, subagentRunId);
  remember(state, id, "activity");
  return undefined;
}

/** V18: what it amends need not be there, but must be the same owner's. */
export function activityChanged(
  state: VerifyState,
  event: AgUiEventOf<"ACTIVITY_DELTA">,
): AgUiViolation | undefined {
  return disagrees(state.owners.activity, event, "activity", event.messageId, "V18");
}

/** V18, of a call or a message of either kind, which may be closed. */
export function encryptedValue(
  { owners: { call, message, reasoning } }: VerifyState,
  event: AgUiEventOf<"REASONING_ENCRYPTED_VALUE">,
): AgUiViolation | undefined {
  const { subtype, entityId: id } = event;
  if (subtype === "tool-call") return disagrees(call, event, "tool call", id, "V18");
  return disagrees(message.has(id) ? message : reasoning, event, "message", id, "V18");
}
