import type { MessageContent } from "@holdfast/protocol";

/** The words of a message; parts that are no text are named. */
export function textOf(content: MessageContent): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}
