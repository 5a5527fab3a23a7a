import type { AgentItem } from "../../command.ts";
import type { AgUiEvent, AgUiEventOf, AgUiMessage } from "../vocabulary.ts";
import type { CallIngest } from "./calls.ts";
import type { IngestContext } from "./context.ts";
import { messageKey, type Kind, type MessageIngest } from "./messages.ts";

export interface SnapshotContext extends IngestContext {
  readonly messages: MessageIngest;
  readonly calls: CallIngest;
  /** Has an event ingested as if the stream had said it. */
  readonly take: (event: AgUiEvent) => AgentItem[];
  /** Whether a message was there before this stream. */
  readonly isGivenMessage: (id: string) => boolean;
}

type Message<R extends AgUiMessage["role"]> = Extract<AgUiMessage, { role: R }>;

/**
 * What a snapshot adds to its own run (SPEC 12.5): messages, calls and results that were not said yet, the rest of a text
 * that was, and another text in place of one that nobody has built on. What was settled before stands, whatever it
 * says, and so does what it leaves out.
 */
export function snapshotItems(
  { messages }: AgUiEventOf<"MESSAGES_SNAPSHOT">,
  context: SnapshotContext,
): AgentItem[] {
  const named = new Set(messages.map(({ id }) => id));
  const items = messages.flatMap((message) => messageItems(message, context));
  const left = [...context.messages.messages.keys()].filter((key) => {
    return !named.has(key.slice(key.indexOf(" ") + 1));
  });
  if (left.length > 0) {
    context.note(
      "snapshot",
      `A snapshot leaves out ${left.length} messages of its run: they stand.`,
    );
  }
  return items;
}

function messageItems(message: AgUiMessage, context: SnapshotContext): AgentItem[] {
  switch (message.role) {
    case "developer":
    case "system":
    case "user":
      return [
        ...textItems(message, textOf(message.content), context),
        ...encrypted(message, context),
      ];
    case "assistant":
      return [
        ...(message.content === undefined || message.content === ""
          ? []
          : textItems(message, message.content, context)),
        ...(message.toolCalls ?? []).flatMap((call) => callItems(message, call, context)),
        ...encrypted(message, context),
      ];
    case "reasoning":
      return [...reasoningItems(message, context), ...encrypted(message, context)];
    case "tool":
      return resultItems(message, context);
    case "activity": {
      const { id: messageId, activityType, content } = message;
      return context.take({
        type: "ACTIVITY_SNAPSHOT",
        messageId,
        activityType,
        content,
        ...more(message),
      });
    }
    default:
      return message satisfies never;
  }
}

function textItems(
  message: Message<"developer" | "system" | "user" | "assistant">,
  text: string,
  context: SnapshotContext,
): AgentItem[] {
  const { id, role, name } = message;
  if (isSaid("text", id, text, context)) return [];
  const known = amended("text", id, text, context);
  if (known) return known;
  return [
    {
      type: "TEXT_MESSAGE_START",
      messageId: id,
      role,
      ...(name !== undefined && { name }),
      ...more(message),
    } as const,
    { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: text } as const,
    { type: "TEXT_MESSAGE_END", messageId: id } as const,
  ].flatMap(context.take);
}

function reasoningItems(message: Message<"reasoning">, context: SnapshotContext): AgentItem[] {
  const { id, content } = message;
  if (isSaid("reasoning", id, content, context)) return [];
  const known = amended("reasoning", id, content, context);
  if (known) return known;
  return [
    {
      type: "REASONING_MESSAGE_START",
      messageId: id,
      role: "reasoning",
      ...more(message),
    } as const,
    { type: "REASONING_MESSAGE_CONTENT", messageId: id, delta: content } as const,
    { type: "REASONING_MESSAGE_END", messageId: id } as const,
  ].flatMap(context.take);
}

/** Whether nothing is to be done: it is history, or says what the stream said already. */
function isSaid(kind: Kind, id: string, text: string, context: SnapshotContext): boolean {
  const known = context.messages.messages.get(messageKey(kind, id));
  if (!known) return context.isGivenMessage(id);
  return known.text === text || (known.open && known.text.startsWith(text));
}

/** What becomes of a message that the stream began and the snapshot has otherwise; undefined for another. */
function amended(
  kind: Kind,
  id: string,
  text: string,
  context: SnapshotContext,
): AgentItem[] | undefined {
  const known = context.messages.messages.get(messageKey(kind, id));
  if (!known) return undefined;
  const { rounds, take } = context;
  if (text.startsWith(known.text) && (known.open || known.round === rounds.number)) {
    const delta = text.slice(known.text.length);
    const [start, content, end] = EVENTS[kind];
    const more = { type: content, messageId: id, delta } as AgUiEvent;
    if (known.open) return take(more);
    const role = kind === "reasoning" ? { role: "reasoning" } : {};
    const again = { type: start, messageId: id, ...role } as AgUiEvent;
    return [again, more, { type: end, messageId: id } as AgUiEvent].flatMap(take);
  }
  const own = context.ids.known(kind, id) ?? id;
  const replaced = known.round === rounds.number ? rounds.kept : undefined;
  if (!replaced) {
    const words = `A snapshot has another text for the message '${id}', which stands as it was said.`;
    context.note("snapshot", words, id);
    return [];
  }
  known.text = text;
  return rounds.replace(withText(replaced, own, text));
}

const EVENTS = {
  text: ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"],
  reasoning: ["REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END"],
} as const;

/** A round's items with another text in one of its messages. */
function withText(items: readonly AgentItem[], messageId: string, text: string): AgentItem[] {
  let said = false;
  return items.flatMap((item): AgentItem[] => {
    if (!("messageId" in item) || item.messageId !== messageId) return [item];
    const { type } = item;
    if (type === "TEXT_MESSAGE_CONTENT" || type === "REASONING_MESSAGE_CONTENT") return [];
    if (said || (type !== "TEXT_MESSAGE_START" && type !== "REASONING_MESSAGE_START"))
      return [item];
    said = true;
    const content =
      type === "TEXT_MESSAGE_START" ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT";
    return [item, { type: content, messageId, delta: text }];
  });
}

function callItems(
  message: Message<"assistant">,
  call: NonNullable<Message<"assistant">["toolCalls"]>[number],
  context: SnapshotContext,
): AgentItem[] {
  const { id: toolCallId, encryptedValue, metadata } = call;
  const { name: toolCallName, arguments: text } = call.function;
  const known = context.calls.calls.get(toolCallId);
  const items: AgentItem[] = [];
  if (!known && !context.isGivenCall(toolCallId)) {
    const tag = message.subagentRunId === undefined ? {} : { subagentRunId: message.subagentRunId };
    const start = {
      type: "TOOL_CALL_START",
      toolCallId,
      toolCallName,
      parentMessageId: message.id,
    } as const;
    items.push(...context.take({ ...start, ...tag, ...(metadata && { metadata }) }));
    if (text !== "")
      items.push(...context.take({ type: "TOOL_CALL_ARGS", toolCallId, delta: text }));
    items.push(...context.take({ type: "TOOL_CALL_END", toolCallId }));
  } else if (known && known.status === "ended" && known.arguments !== text) {
    const words = `A snapshot has other arguments for the call '${toolCallId}', which stands as it was made.`;
    context.note("snapshot", words, toolCallId);
  }
  if (encryptedValue !== undefined && !context.isGivenCall(toolCallId)) {
    const value = { subtype: "tool-call", entityId: toolCallId, encryptedValue } as const;
    items.push(...context.take({ type: "REASONING_ENCRYPTED_VALUE", ...value }));
  }
  return items;
}

function resultItems(message: Message<"tool">, context: SnapshotContext): AgentItem[] {
  const { id: messageId, toolCallId, content, error } = message;
  const call = context.calls.calls.get(toolCallId);
  if (context.isGivenMessage(messageId) || call?.answered) return [];
  return context.calls.result({ toolCallId, messageId, content, ...more(message) }, error);
}

function encrypted(
  message: AgUiMessage & { readonly encryptedValue?: string },
  context: SnapshotContext,
): AgentItem[] {
  const { id: entityId, encryptedValue } = message;
  if (encryptedValue === undefined || context.isGivenMessage(entityId)) return [];
  return context.take({
    type: "REASONING_ENCRYPTED_VALUE",
    subtype: "message",
    entityId,
    encryptedValue,
  });
}

/** A text of parts is its text; what else it holds has no place in a message of the log. */
function textOf(content: Message<"user">["content"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function more({ subagentRunId, metadata }: AgUiMessage) {
  return {
    ...(subagentRunId !== undefined && { subagentRunId }),
    ...(metadata !== undefined && { metadata }),
  };
}
