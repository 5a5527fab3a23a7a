import type { AgUiMessage } from "@holdfast/protocol/ag-ui";
import { isObject } from "@holdfast/protocol/schemas";

/**
 * Whether nobody said it: CopilotKit's runtime puts a result of its own (`finalizeRunEvents`) behind every call whose
 * stream broke off before it, and its page has that in its list from then on.
 */
export function isFilledIn({
  id,
  toolCallId,
  content,
}: Extract<AgUiMessage, { role: "tool" }>): boolean {
  if (id !== `${toolCallId}-result` || typeof content !== "string") return false;
  const said = parsed(content);
  return isObject(said) && REASONS.has(said["reason"]);
}

const REASONS: ReadonlySet<unknown> = new Set(["missing_terminal_event", "stop_requested"]);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // words
  }
}
