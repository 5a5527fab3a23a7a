import type { CommandBody, Metadata, MessageContent, SessionState } from "@holdfast/protocol";
import { AG_UI, type AgUiInput, type AgUiMessage } from "@holdfast/protocol/ag-ui";
import { isKnown } from "./known.ts";

type UserMessage = Extract<AgUiMessage, { role: "user" }>;

/**
 * The user messages behind the last one that the session knows, as one message under the id of the last of them;
 * undefined where there is none. Of a list that the session knows nothing of, those behind the last assistant message:
 * what came before was answered, elsewhere.
 */
export function newMessageIn(
  { messages }: AgUiInput,
  state: SessionState,
): Extract<CommandBody, { type: "message.send" }> | undefined {
  const known = messages.findLastIndex((message) => isKnown(state, message));
  const from = known >= 0 ? known : messages.findLastIndex(({ role }) => role === "assistant");
  const said = messages.slice(from + 1).filter((message) => message.role === "user");
  const last = said.at(-1);
  if (!last) return undefined;
  const metadata = metadataOf(last);
  return {
    type: "message.send",
    messageId: last.id,
    content: joined(said),
    ...(metadata && { metadata }),
  };
}

function joined(messages: readonly UserMessage[]): MessageContent {
  const contents = messages.map(({ content }) => content);
  const texts = contents.filter((content) => typeof content === "string");
  if (texts.length === contents.length) return texts.join("\n\n");
  const parts = contents.flatMap((content) =>
    typeof content === "string" ? [{ type: "text" as const, text: content }] : content,
  );
  return parts.length > 0 ? parts : "";
}

function metadataOf({ metadata, name, encryptedValue }: UserMessage): Metadata | undefined {
  const { [AG_UI]: _, ...rest } = metadata ?? {};
  const kept = {
    ...(name !== undefined && { name }),
    ...(encryptedValue !== undefined && { encryptedValue }),
  };
  const all = { ...rest, ...(Object.keys(kept).length > 0 && { [AG_UI]: kept }) };
  return Object.keys(all).length > 0 ? (all as Metadata) : undefined;
}
