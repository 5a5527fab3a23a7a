import type { ContentPart } from "@ag-ui/core";
import type { Answer } from "../call.ts";
import type { MessageContent } from "../events.ts";
import { isObject } from "../json.ts";
import type { Peer } from "./face-event.ts";

/** What a user said, as a reader takes it: before 1.0 that is text alone. */
export function contentOf(content: MessageContent, peer: Peer): string | ContentPart[] {
  if (typeof content === "string") return content;
  return peer === "0" ? textOf(content) : content.map(toPart);
}

/** An answer's value as the content of a tool message. */
export function answerContent(answer: Answer, peer: Peer): string | ContentPart[] {
  switch (answer.type) {
    case "json":
      return JSON.stringify(answer.value);
    case "text":
      return answer.text;
    case "parts": {
      const parts = answer.parts.map(toPart);
      return peer === "0" ? textOf(parts) : parts;
    }
  }
}

/** The text of some content; media are left out. */
export function textOf(content: string | readonly ContentPart[]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

const MEDIA: ReadonlySet<unknown> = new Set(["image", "audio", "video", "document"]);
const SOURCES: ReadonlySet<unknown> = new Set(["data", "url", "file"]);

/** A part that AG-UI has, without what it does not; any other as the JSON it is. */
function toPart(value: unknown): ContentPart {
  const part = isObject(value) ? value : {};
  const { type, text, source, id, metadata } = part;
  const more = {
    ...(typeof id === "string" && { id }),
    ...(metadata !== undefined && metadata !== null && { metadata }),
  };
  if (type === "text" && typeof text === "string") return { type, text, ...more };
  const from = MEDIA.has(type) && isObject(source) ? sourceOf(source) : undefined;
  // `type` is one of four, and `from` of its form: what the sets above say.
  if (from) return { type, source: from, ...more } as ContentPart;
  return { type: "text", text: JSON.stringify(value) };
}

function sourceOf({ type, value, mimeType, provider }: Record<string, unknown>) {
  if (!SOURCES.has(type) || typeof value !== "string") return undefined;
  if (type === "data" && typeof mimeType !== "string") return undefined;
  return {
    type,
    value,
    ...(typeof mimeType === "string" && { mimeType }),
    ...(type === "file" && typeof provider === "string" && { provider }),
  };
}
