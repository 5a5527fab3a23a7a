import type { SessionState } from "@holdfast/protocol";
import type { AgUiMessage } from "@holdfast/protocol/ag-ui";

/**
 * Whether the session has what a message of the client's list stands for, by its id or the calls it names: whatever it
 * says of that is no news.
 */
export function isKnown(state: SessionState, message: AgUiMessage): boolean {
  const { id } = message;
  if (state.messages.has(id) || state.items.has(id) || state.calls.has(id)) return true;
  if (message.role === "assistant") {
    return message.toolCalls?.some((call) => state.calls.has(call.id)) ?? false;
  }
  return message.role === "tool" && state.calls.has(message.toolCallId);
}

/** Whether an id is taken by a message of some kind. */
export function isTaken(state: SessionState, id: string): boolean {
  if (state.messages.has(id) || state.runs.has(id) || state.items.has(id)) return true;
  for (const { answer } of state.calls.values()) if (answer?.messageId === id) return true;
  return false;
}
