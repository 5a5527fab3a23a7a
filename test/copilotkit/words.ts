import type { Message } from "@ag-ui/client";

/** A message as one line. */
export function words(message: Message): string {
  if (message.role === "assistant" && message.toolCalls?.length) {
    return `${message.content ?? ""}[${message.toolCalls.map((call) => call.function.name).join()}]`;
  }
  return `${message.role}: ${textOf(message)}`;
}

/** What a message says, where that is text. */
export function textOf(message: Message | undefined): string {
  const content = message && "content" in message ? message.content : undefined;
  return typeof content === "string" ? content : JSON.stringify(content);
}
