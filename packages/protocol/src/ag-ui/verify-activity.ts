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
  const { activity } = state.owners;
  if (replace !== false || !activity.has(id)) activity.set(id, subagentRunId);
  remember(state, id, "activity");
  return violation;
}

/** V18: what it amends must be the same owner's. D11: where it is not there, the event changes nothing. */
export function activityChanged(
  state: VerifyState,
  event: AgUiEventOf<"ACTIVITY_DELTA">,
  warnings: AgUiWarning[],
): AgUiViolation | undefined {
  const { messageId: id } = event;
  const violation = disagrees(state.owners.activity, event, "activity", id, "V18");
  if (violation) return violation;
  const isKnown = state.owners.activity.has(id) || state.messages.get(id)?.kind === "activity";
  if (!isKnown) warnings.push(missing(event.type, "activity", id));
  return undefined;
}

/** V18, of a call or a message of either kind, which may be closed. D11: where there is none, it belongs to nothing. */
export function encryptedValue(
  { owners: { call, message, reasoning }, calls, messages }: VerifyState,
  event: AgUiEventOf<"REASONING_ENCRYPTED_VALUE">,
  warnings: AgUiWarning[],
): AgUiViolation | undefined {
  const { type, subtype, entityId: id } = event;
  const [owners, kind, known] =
    subtype === "tool-call"
      ? ([call, "tool call", calls] as const)
      : ([message.has(id) ? message : reasoning, "message", messages] as const);
  const violation = disagrees(owners, event, kind, id, "V18");
  if (violation) return violation;
  if (!known.has(id)) warnings.push(missing(type, kind, id));
  return undefined;
}

function missing(type: string, kind: string, id: string): AgUiWarning {
  return {
    rule: "D11",
    id,
    message: `'${type}' is about the ${kind} '${id}', which is not there.`,
  };
}
