import type { AgentItem } from "../../command.ts";
import type { AgUiEvent, AgUiEventOf, AgUiMessage } from "../vocabulary.ts";
import type { IngestContext } from "./context.ts";
import { messageKey, type Kind } from "./messages.ts";
import { twinsIn, type TwinsContext } from "./twins.ts";

export interface SnapshotContext extends IngestContext, TwinsContext {
  /** Has an event ingested as if the stream had said it. */
  readonly take: (event: AgUiEvent) => AgentItem[];
  /** Whether a message was there before this stream. */
  readonly isGivenMessage: (id: string) => boolean;
  /** Notes that the agent calls a message otherwise from here on. */
  readonly rename: (id: string, to: string) => void;
}

type Message<R extends AgUiMessage["role"]> = Extract<AgUiMessage, { role: R }>;

/**
 * What a snapshot changes of its own run (SPEC 12.5): it adds messages, calls and results that were not said yet, and the rest
 * of a text that was; and of what nobody has built on, it replaces texts and takes back what it leaves out. What was settled
 * before stands, whatever it says, and so does what it leaves out of that.
 */
export function snapshotItems(
  { messages }: AgUiEventOf<"MESSAGES_SNAPSHOT">,
  context: SnapshotContext,
): AgentItem[] {
  const twins = twinsIn(messages, context);
  for (const [id, known] of twins) context.rename(known, id);
  const known = messages.map((it) => ({ ...it, id: twins.get(it.id) ?? it.id }));
  const taken = leftOut(known, context);
  return [...taken, ...known.flatMap((message) => messageItems(message, context))];
}

/** Takes back what a snapshot leaves out; a snapshot without any reasoning leaves that alone, as in a stock client. */
function leftOut(snapshot: readonly AgUiMessage[], context: SnapshotContext): AgentItem[] {
  const { messages, rounds, ids, note } = context;
  const named = new Set(snapshot.map(({ id }) => id));
  const hasReasoning = snapshot.some(({ role }) => role === "reasoning");
  const gone = new Set<string>();
  let standing = 0;
  for (const [key, { open, round }] of messages.messages) {
    const kind: Kind = key.startsWith("text ") ? "text" : "reasoning";
    const id = key.slice(kind.length + 1);
    if (named.has(id) || open || (kind === "reasoning" && !hasReasoning)) continue;
    if (round !== rounds.number || !rounds.kept) {
      standing += 1;
      continue;
    }
    gone.add(ids.known(kind, id) ?? id);
    messages.forget(kind, id);
  }
  if (standing > 0) {
    note("snapshot", `A snapshot leaves out ${standing} messages of its run: they stand.`);
  }
  if (gone.size === 0 || !rounds.kept) return [];
  return rounds.replace(rounds.kept.filter((item) => !isOf(item, gone)));
}

/** Whether an item says something of one of these messages. */
function isOf(item: AgentItem, messages: ReadonlySet<string>): boolean {
  if (item.type === "REASONING_ENCRYPTED_VALUE") {
    return item.subtype === "message" && messages.has(item.entityId);
  }
  const isText = /^(?:TEXT|REASONING)_MESSAGE_/.test(item.type);
  return isText && "messageId" in item && messages.has(item.messageId ?? "");
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
