import type { AgUiMessage, Peer } from "./face-event.ts";
import type { Placed } from "./place.ts";

/** A message that a reader holds, as far as it matters to what it is sent. */
export interface HeldMessage extends Placed {
  readonly id: string;
  /** A message that only carries calls has no content yet. */
  hasContent: boolean;
}

/** What a reader's list of messages is like: kept as its reducer keeps it, without what the messages say. */
export interface Held {
  /** Messages of the client's own, which no session knows; every snapshot says them again. */
  readonly own: readonly AgUiMessage[];
  readonly list: readonly HeldMessage[];
  get(messageId: string): HeldMessage | undefined;
  /** The message that carries a call. */
  home(callId: string): HeldMessage | undefined;
  push(message: HeldMessage): HeldMessage;
  setHome(callId: string, message: HeldMessage): void;
  /** A result, put where a stock client puts it. */
  putResult(callId: string, message: HeldMessage): void;
  /** What a stock client holds after a MESSAGES_SNAPSHOT; what it says is the same from here on. */
  snapshot(messages: readonly AgUiMessage[], peer: Peer): void;
  /** The ids that it would hold. */
  idsAfter(messages: readonly AgUiMessage[], peer: Peer): string[];
}

export function createHeld(
  messages: readonly AgUiMessage[] = [],
  own: readonly AgUiMessage[] = [],
): Held {
  let list: HeldMessage[] = [];
  let byId = new Map<string, HeldMessage>();
  let homes = new Map<string, HeldMessage>();
  const take = (message: HeldMessage, calls?: readonly { readonly id: string }[]) => {
    list.push(message);
    byId.set(message.id, message);
    for (const { id } of calls ?? []) homes.set(id, message);
  };
  for (const message of messages) take(entryOf(message), callsIn(message));

  const after = (snapshot: readonly AgUiMessage[], peer: Peer): Kept[] => {
    const named = new Set(snapshot.map(({ id }) => id));
    const kinds = new Set(snapshot.map(({ role }): string => role));
    const isSpared = (role: string) =>
      (role === "activity" || role === "reasoning") && !kinds.has(role);
    const kept = list.filter(({ id, role }) => named.has(id) || isSpared(role));
    const known = new Set(kept.map(({ id }) => id));
    return [
      ...kept.map(({ id, role }) => ({
        id,
        // Before 1.0 a kind that a snapshot does not hold is not touched by it at all.
        isAsBefore: !named.has(id) || (peer === "0" && isSpared(role)),
      })),
      ...snapshot.flatMap(({ id }) => (known.has(id) ? [] : [{ id, isAsBefore: false }])),
    ];
  };

  return {
    own,
    get list() {
      return list;
    },
    get: (id) => byId.get(id),
    home: (callId) => homes.get(callId),
    push(message) {
      take(message);
      return message;
    },
    setHome: (callId, message) => void homes.set(callId, message),
    putResult(callId, message) {
      const home = homes.get(callId);
      const at = home ? list.lastIndexOf(home) : -1;
      if (at === -1) return take(message);
      let place = at + 1;
      while (list[place]?.role === "tool") place += 1;
      list.splice(place, 0, message);
      byId.set(message.id, message);
    },
    idsAfter: (snapshot, peer) => after(snapshot, peer).map(({ id }) => id),
    snapshot(snapshot, peer) {
      const said = new Map(snapshot.map((message) => [message.id, message]));
      const ids = after(snapshot, peer);
      const before = byId;
      list = [];
      byId = new Map();
      homes = new Map();
      for (const { id, isAsBefore } of ids) {
        const message = isAsBefore ? undefined : said.get(id);
        const known = before.get(id);
        if (message) take(entryOf(message), callsIn(message));
        else if (known) take(known);
      }
    },
  };
}

/** A message that is there after a snapshot, and whether it is the one from before. */
interface Kept {
  readonly id: string;
  readonly isAsBefore: boolean;
}

function entryOf(message: AgUiMessage): HeldMessage {
  return {
    id: message.id,
    role: message.role,
    owner: message.subagentRunId,
    hasContent: message.content !== undefined,
  };
}

function callsIn(message: AgUiMessage) {
  return message.role === "assistant" ? message.toolCalls : undefined;
}
