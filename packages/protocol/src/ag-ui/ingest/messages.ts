import type { AgentItem } from "../../command.ts";
import type { AgUiEventOf } from "../vocabulary.ts";
import { reused } from "./calls.ts";
import type { IngestContext } from "./context.ts";
import { withOwn } from "./own.ts";

type Started = AgUiEventOf<"TEXT_MESSAGE_START" | "REASONING_MESSAGE_START">;
type Content = AgUiEventOf<"TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT">;
type Ended = AgUiEventOf<"TEXT_MESSAGE_END" | "REASONING_MESSAGE_END">;

/** A message that the stream began, as far as it came. */
export interface StreamedMessage {
  readonly role: string;
  text: string;
  open: boolean;
  /** The round it is in. */
  round: number;
}

/** What comes of a run's text and reasoning (SPEC 12.5). */
export interface MessageIngest {
  /** By {@link messageKey}. */
  readonly messages: ReadonlyMap<string, StreamedMessage>;
  start(event: Started): AgentItem[];
  content(event: Content): AgentItem[];
  end(event: Ended): AgentItem[];
  /** Forgets a message that was taken back. */
  forget(kind: Kind, id: string): void;
}

export type Kind = "text" | "reasoning";

export function messageKey(kind: Kind, id: string): string {
  return `${kind} ${id}`;
}

export function createMessageIngest(context: IngestContext): MessageIngest {
  const { ids, rounds } = context;
  const messages = new Map<string, StreamedMessage>();

  const idOf = (kind: Kind, id: string) => ids.known(kind, id) ?? id;

  return {
    messages,
    start(event) {
      const { messageId: said } = event;
      const kind = kindOf(event);
      const key = messageKey(kind, said);
      const items = rounds.before(said);
      const { id: messageId, changed } = ids.start(kind, said, rounds.number);
      if (changed) reused(context, said, changed);
      const known = messages.get(key);
      if (known && !changed) known.open = true;
      else {
        const role = event.role ?? "assistant";
        messages.set(key, { role, text: "", open: true, round: rounds.number });
      }
      rounds.began(key, said);
      const own = { messageId: messageId === said ? undefined : said };
      items.push({ ...event, messageId, ...withOwn(event.metadata, own) });
      return items;
    },
    content(event) {
      const kind = kindOf(event);
      const message = messages.get(messageKey(kind, event.messageId));
      if (message) message.text += event.delta;
      const messageId = idOf(kind, event.messageId);
      return [messageId === event.messageId ? event : { ...event, messageId }];
    },
    end(event) {
      const kind = kindOf(event);
      const key = messageKey(kind, event.messageId);
      const message = messages.get(key);
      if (message) message.open = false;
      rounds.ended(key);
      const messageId = idOf(kind, event.messageId);
      return [messageId === event.messageId ? event : { ...event, messageId }];
    },
    forget: (kind, id) => void messages.delete(messageKey(kind, id)),
  };
}

function kindOf({ type }: Started | Content | Ended): Kind {
  return type.startsWith("TEXT") ? "text" : "reasoning";
}
