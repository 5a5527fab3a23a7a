import { textOf } from "../content-parts.ts";
import type { AgUiMessage } from "../vocabulary.ts";
import type { CallIngest } from "./calls.ts";
import type { MessageIngest } from "./messages.ts";

export interface TwinsContext {
  readonly messages: MessageIngest;
  readonly calls: CallIngest;
  /** What the stream's agent was told of; nothing where that is not known. */
  readonly history: () => readonly AgUiMessage[];
}

/**
 * Which messages of a snapshot are there already, under an id that the snapshot does not know: agents stream under one id and
 * keep under another. Those with the same call, with its result, or else of the same role and words; where words are all
 * that is alike with what was there before the stream, in the same order. By the snapshot's ids.
 */
export function twinsIn(
  snapshot: readonly AgUiMessage[],
  { messages, calls, history }: TwinsContext,
): ReadonlyMap<string, string> {
  const given = new Map(history().map(({ id }, at) => [id, at]));
  const named = new Set(snapshot.map(({ id }) => id));
  const there = new Set(given.keys());
  const free = new Map<string, string[]>();
  const add = (key: string, id: string) => {
    there.add(id);
    if (named.has(id)) return;
    const ids = free.get(key);
    if (ids) ids.push(id);
    else free.set(key, [id]);
  };
  for (const message of history()) for (const key of keysOf(message)) add(key, message.id);
  for (const [id, { parent, resultId }] of calls.calls) {
    // Below what is no assistant's, it is in a message of its own id.
    for (const home of [parent, id]) if (home !== undefined) add(callKey(id), home);
    if (resultId !== undefined) add(resultKey(id), resultId);
  }
  for (const [key, { role, text, open }] of messages.messages) {
    const id = key.slice(key.indexOf(" ") + 1);
    there.add(id);
    if (!open) add(wordsKey(role, text), id);
  }
  const twins = new Map<string, string>();
  const taken = new Set<string>();
  /** How far in the history the snapshot is. */
  let reached = -1;
  for (const message of snapshot) {
    const { id } = message;
    if (!there.has(id)) {
      const twin = keysOf(message)
        .flatMap((key) => free.get(key) ?? [])
        .find((it) => !taken.has(it) && (!hasWordsAlone(message) || isBehind(it)));
      if (twin !== undefined) {
        taken.add(twin);
        twins.set(id, twin);
      }
    }
    reached = Math.max(reached, given.get(twins.get(id) ?? id) ?? -1);
  }
  return twins;

  function isBehind(id: string): boolean {
    return (given.get(id) ?? Infinity) > reached;
  }
}

/** Whether nothing but its words says which message it is. */
function hasWordsAlone(message: AgUiMessage): boolean {
  return message.role !== "tool" && !(message.role === "assistant" && message.toolCalls?.length);
}

/** What a message is known by besides its id, the surest first. */
function keysOf(message: AgUiMessage): string[] {
  switch (message.role) {
    case "tool":
      return [resultKey(message.toolCallId)];
    case "activity":
      return [];
    case "assistant": {
      const calls = (message.toolCalls ?? []).map(({ id }) => callKey(id));
      return calls.length > 0 ? calls : [wordsKey(message.role, message.content ?? "")];
    }
    default:
      return [wordsKey(message.role, textOf(message.content))];
  }
}

const callKey = (id: string) => `call ${id}`;
const resultKey = (id: string) => `result ${id}`;
const wordsKey = (role: string, text: string) => `${role} ${text}`;
