import type { AgentItem, Rejection } from "@holdfast/protocol";

const PREVIEW = 2_000;

/**
 * What to send in place of an item that is too large, or undefined where nothing can stand for it. A call must not stay
 * open because its answer was big: it fails, and its first characters are kept.
 */
export function insteadOf(item: AgentItem, { code, message }: Rejection): AgentItem | undefined {
  if (code !== "too_large" && code !== "result_too_large") return undefined;
  if (item.type !== "call.answer") return undefined;
  const { metadata: _metadata, ...answer } = item;
  const text = item.answer.type === "text" ? item.answer.text : JSON.stringify(item.answer);
  if (text.length <= 2 * PREVIEW) return undefined;
  return {
    ...answer,
    outcome: "error",
    answer: {
      type: "text",
      text: `The result has ${text.length} characters, which is too large to keep. ${message} It begins: ${text.slice(0, PREVIEW)}`,
    },
  };
}
