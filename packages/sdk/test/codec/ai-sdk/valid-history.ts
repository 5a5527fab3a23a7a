import type { ModelMessage } from "ai";

/**
 * What makes providers refuse a history, in words; empty for a valid one. Every call has one result, in the message
 * after it or beside it where the provider executed it; input is an object. Only the last message may leave a call
 * open, by its approval.
 */
export function faultsOf(
  messages: readonly ModelMessage[],
  textTools: readonly string[] = [],
): string[] {
  const faults: string[] = [];
  messages.forEach((message, index) => {
    if (message.role !== "assistant" || typeof message.content === "string") return;
    const next = messages[index + 1];
    const answers = next?.role === "tool" ? next.content : [];
    for (const part of message.content) {
      if (part.type !== "tool-call") continue;
      const { toolCallId, toolName, input } = part;
      const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
      if (!isObject && !(textTools.includes(toolName) && typeof input === "string"))
        faults.push(`${toolCallId}: input ${JSON.stringify(input)}`);
      const results = [...message.content, ...answers].filter(
        (it) => it.type === "tool-result" && it.toolCallId === toolCallId,
      );
      const request = message.content.find(
        (it) => it.type === "tool-approval-request" && it.toolCallId === toolCallId,
      );
      const approvalId = request?.type === "tool-approval-request" && request.approvalId;
      const response = answers.find(
        (it) => it.type === "tool-approval-response" && it.approvalId === approvalId,
      );
      const isLast = index === messages.length - 2;
      const waits = response?.type === "tool-approval-response" && response.approved && isLast;
      // A provider takes the denial itself.
      const denied =
        part.providerExecuted && response?.type === "tool-approval-response" && !response.approved;
      if (request && !response)
        faults.push(`${toolCallId}: a request for approval without response`);
      if (results.length > 1 || (results.length === 0 && !waits && !denied))
        faults.push(`${toolCallId}: ${results.length} results`);
    }
  });
  messages.forEach((message, index) => {
    if (message.role !== "tool") return;
    const before = messages[index - 1];
    const calls =
      before?.role === "assistant" && typeof before.content !== "string" ? before.content : [];
    for (const part of message.content) {
      if (part.type !== "tool-result") continue;
      if (!calls.some((it) => it.type === "tool-call" && it.toolCallId === part.toolCallId))
        faults.push(`${part.toolCallId}: a result without its call`);
    }
  });
  return faults;
}
