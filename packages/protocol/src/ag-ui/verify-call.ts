import { disagrees, own } from "./ownership.ts";
import { remember, reused, reusedCall } from "./reuse.ts";
import type { AgUiViolation, AgUiWarning } from "./rules.ts";
import { violates } from "./rules.ts";
import type { VerifyState } from "./state.ts";
import { TEXTS } from "./texts.ts";
import type { AgUiEventOf } from "./vocabulary.ts";

export function callStarted(
  state: VerifyState,
  event: AgUiEventOf<"TOOL_CALL_START">,
  warnings: AgUiWarning[],
): AgUiViolation | undefined {
  const { type, toolCallId: id } = event;
  if (state.open.calls.has(id)) {
    return violates("V7", TEXTS.alreadyOpen(type, "tool call", id, "TOOL_CALL_END"));
  }
  const violation = misplaced(state, event);
  if (violation) return violation;
  const again = reusedCall(state, id, warnings);
  const { message, call } = state.owners;
  const parent = event.parentMessageId;
  state.open.calls.add(id);
  own(call, id, event.subagentRunId ?? (parent === undefined ? undefined : message.get(parent)));
  begin(state, event, warnings);
  return (
    again ??
    (state.early.has(id) ? answeredByProducer(state, event.toolCallName, event) : undefined)
  );
}

export function callArguments(
  state: VerifyState,
  event: AgUiEventOf<"TOOL_CALL_ARGS">,
): AgUiViolation | undefined {
  const { type, toolCallId: id } = event;
  if (!state.open.calls.has(id)) {
    return violates("V8", TEXTS.notOpen(type, "tool call", id, "TOOL_CALL_START"));
  }
  return event.subagentRunId === undefined
    ? undefined
    : disagrees(state.owners.call, event, "tool call", id);
}

export function callEnded(
  state: VerifyState,
  event: AgUiEventOf<"TOOL_CALL_END">,
): AgUiViolation | undefined {
  const { type, toolCallId: id } = event;
  const open = state.open.calls;
  if (!open.has(id)) {
    return violates("V8", TEXTS.nothingToEnd(type, "tool call", id, "TOOL_CALL_START"));
  }
  const violation = disagrees(state.owners.call, event, "tool call", id);
  if (!violation) open.delete(id);
  return violation;
}

/** V16: a result may come for any call, open or not, known or not, and more than once; it mints a message. */
export function callResult(
  state: VerifyState,
  event: AgUiEventOf<"TOOL_CALL_RESULT">,
  warnings: AgUiWarning[],
): AgUiViolation | undefined {
  const { messageId, toolCallId, subagentRunId } = event;
  const again = reused(state, messageId, "tool", warnings);
  // The newest mint counts, not the first: who executes need not be who called.
  state.owners.message.set(messageId, subagentRunId);
  remember(state, messageId, "tool");
  const call = state.calls.get(toolCallId);
  if (!call) state.early.add(toolCallId);
  else call.answered = "result";
  return again ?? (call && answeredByProducer(state, call.name, event));
}

/** D8, of a call whose result is in the stream. */
function answeredByProducer(
  state: VerifyState,
  tool: string,
  { type, toolCallId: id }: AgUiEventOf<"TOOL_CALL_RESULT" | "TOOL_CALL_START">,
): AgUiViolation | undefined {
  if (!isFrontend(state, tool)) return undefined;
  const what =
    type === "TOOL_CALL_RESULT" ? `for tool call '${id}'` : `for the answered call '${id}'`;
  return violates(
    "D8",
    `Cannot send '${type}' ${what}: its tool '${tool}' is the application's to execute.`,
  );
}

/** Whether a tool is known to be the application's. */
export function isFrontend({ frontend }: VerifyState, tool: string): boolean {
  return frontend?.has(tool) === true;
}

/** V12 and V13: a call belongs to the message that carries it, and to whoever opened it first. */
function misplaced(
  { owners }: VerifyState,
  event: AgUiEventOf<"TOOL_CALL_START">,
): AgUiViolation | undefined {
  const { toolCallId: id, parentMessageId: parent, subagentRunId: tag } = event;
  const carried = parent !== undefined && owners.message.has(parent);
  const carrier = carried ? owners.message.get(parent) : undefined;
  if (carried && tag !== undefined && tag !== carrier) {
    return violates("V13", TEXTS.parentOwner(tag, parent, carrier));
  }
  const violation = disagrees(owners.call, event, "tool call", id);
  if (violation || tag !== undefined || !carried || !owners.call.has(id)) return violation;
  const owner = owners.call.get(id);
  // Without a tag it is the parent's, and that is another one's.
  return owner === carrier
    ? undefined
    : violates("V13", TEXTS.reopenedElsewhere(id, owner, parent, carrier));
}

function begin(
  { calls, runs, early }: VerifyState,
  event: AgUiEventOf<"TOOL_CALL_START">,
  warnings: AgUiWarning[],
): void {
  const { toolCallId: id, toolCallName: name, parentMessageId: parent } = event;
  const known = calls.get(id);
  if (known) {
    const elsewhere = parent !== undefined && parent !== (known.parent ?? id);
    const was = known.name !== name ? `the tool '${known.name}'` : `parent '${known.parent ?? id}'`;
    if (known.name !== name || elsewhere) {
      const message = `The call '${id}' begins again, and disagrees with its first start: it had ${was}.`;
      warnings.push({ rule: "D10", message, id });
    }
    if (known.started === runs || known.restated === runs) {
      known.started = runs;
      return;
    }
    calls.delete(id);
  }
  const answered = early.has(id) ? "result" : "no";
  calls.set(id, { name, parent, started: runs, restated: 0, answered });
}
