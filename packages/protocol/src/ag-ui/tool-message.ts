import type { ToolMessage } from "@ag-ui/core";
import type { Call } from "../call.ts";
import { resultOf } from "../history.ts";
import { answerContent, textOf } from "./content-parts.ts";
import type { Peer } from "./face-event.ts";
import { agUiExtra, shownMetadata } from "./shown-metadata.ts";

/**
 * The tool message of a settled call; undefined while it waits, and for one that was taken back.
 *
 * A failure of a client's call is in `error`. One of the agent's side is spelled in `content`, since that is all a
 * TOOL_CALL_RESULT can say: so the message is the same, whichever way a reader was told (SPEC 12.3.9).
 */
export function toolMessageOf(call: Call, peer: Peer): ToolMessage | undefined {
  if (call.status !== "settled") return undefined;
  const said = saidOf(call, peer);
  if (!said) return undefined;
  const { content, error } = said;
  const metadata = shownMetadata(call.answer?.metadata);
  const { encryptedValue, subagentRunId } = agUiExtra(call.answer?.metadata);
  const message: ToolMessage = {
    id: call.answer?.messageId ?? `result:${call.id}`,
    role: "tool",
    toolCallId: call.id,
    content: error === undefined || call.executor === "client" ? content : inWords(content, error),
    ...(typeof subagentRunId === "string" && { subagentRunId }),
    ...(metadata && { metadata }),
  };
  if (call.executor !== "client") return message;
  return {
    ...message,
    ...(error !== undefined && { error }),
    ...(typeof encryptedValue === "string" && { encryptedValue }),
  };
}

interface Said {
  readonly content: ToolMessage["content"];
  readonly error?: string;
}

function saidOf(call: Call, peer: Peer): Said | undefined {
  const result = resultOf(call);
  switch (result.kind) {
    case "withdrawn":
      return undefined;
    case "denied": {
      const text = result.reason === undefined ? "Denied." : `Denied: ${result.reason}`;
      return { content: text, error: text };
    }
    case "note":
      return { content: result.text, error: result.text };
    case "answer": {
      const content = answerContent(result.answer, peer);
      if (result.outcome === "ok") return { content };
      const error = agUiExtra(call.answer?.metadata)["error"];
      return { content, error: typeof error === "string" ? error : textOf(content) };
    }
    case "approved":
      return undefined;
  }
}

/** A failure as the one thing there is room for. */
function inWords(content: ToolMessage["content"], error: string): ToolMessage["content"] {
  if (typeof content !== "string") return [{ type: "text", text: "Error: " }, ...content];
  return content === error && !content.startsWith("Error") ? `Error: ${content}` : content;
}
