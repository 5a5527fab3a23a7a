import type { MessageContent, MessageNode } from "@holdfast/protocol";
import type { UIMessage } from "ai";
import { ownOf } from "./extras.ts";

/** A user's message. What it was sent with beside its content, under the codec's name, is its metadata. */
export function userMessage(node: MessageNode): UIMessage {
  const { metadata } = ownOf(node.metadata);
  return {
    id: node.id,
    role: "user",
    ...(metadata !== undefined && { metadata }),
    parts: partsOfContent(node.content),
  };
}

function partsOfContent(content: MessageContent): UIMessage["parts"] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part) => {
    if (part.type === "text") return { type: "text", text: part.text };
    const { source } = part;
    const mediaType = source.mimeType ?? part.type;
    const url = source.type === "data" ? `data:${mediaType};base64,${source.value}` : source.value;
    return { type: "file", mediaType, url };
  });
}
