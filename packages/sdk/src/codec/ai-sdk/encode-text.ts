import type { AgentItem } from "@holdfast/protocol";
import type { UIMessageChunk } from "ai";
import { own, rest } from "./extras.ts";
import type { Ids } from "./scope.ts";

type Kind = "TEXT" | "REASONING";

type StartChunk = Extract<UIMessageChunk, { type: "text-start" | "reasoning-start" }>;
type DeltaChunk = Extract<UIMessageChunk, { type: "text-delta" | "reasoning-delta" }>;
type EndChunk = Extract<UIMessageChunk, { type: "text-end" | "reasoning-end" }>;

/** One message per text or reasoning part. A delta or an end without its start opens the part: no text is lost. */
export interface TextEncoder {
  start(chunk: StartChunk): AgentItem[];
  delta(chunk: DeltaChunk): AgentItem[];
  end(chunk: EndChunk): AgentItem[];
  /** The open parts were taken back with their round. */
  reset(): void;
}

export function createTextEncoder(kind: Kind, ids: Ids): TextEncoder {
  const open = new Map<string, string>();

  function start(chunk: { id: string }, fields: readonly string[]): AgentItem {
    const messageId = ids.part();
    open.set(chunk.id, messageId);
    const metadata = own({ id: chunk.id, ...rest(chunk, fields) });
    return kind === "TEXT"
      ? { type: "TEXT_MESSAGE_START", messageId, role: "assistant", ...metadata }
      : { type: "REASONING_MESSAGE_START", messageId, role: "reasoning", ...metadata };
  }

  function opened(id: string): { messageId: string; items: AgentItem[] } {
    const known = open.get(id);
    if (known !== undefined) return { messageId: known, items: [] };
    const item = start({ id }, ["id"]);
    return { messageId: open.get(id) ?? "", items: [item] };
  }

  return {
    start: (chunk) => [start(chunk, ["id"])],
    delta(chunk) {
      const { messageId, items } = opened(chunk.id);
      const metadata = own(rest(chunk, ["id", "delta"]));
      const { delta } = chunk;
      return [...items, { type: `${kind}_MESSAGE_CONTENT`, messageId, delta, ...metadata }];
    },
    end(chunk) {
      const { messageId, items } = opened(chunk.id);
      open.delete(chunk.id);
      const metadata = own(rest(chunk, ["id"]));
      return [...items, { type: `${kind}_MESSAGE_END`, messageId, ...metadata }];
    },
    reset: () => open.clear(),
  };
}
