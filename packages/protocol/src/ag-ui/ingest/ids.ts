import { OWN_IDS } from "../../item.ts";
import type { MessageKind } from "../state.ts";
import { streamName, type AgUiScope } from "./scope.ts";

/** The session's ids for what one stream names. Agents use ids again that a session uses once. */
export interface IngestIds {
  /** The id for a message that begins in a round; its own where it may have that, or where it began there before. */
  start(kind: MessageKind, id: string, round: number): StartedId;
  /** The id of a message that this stream began; undefined for any other. */
  known(kind: MessageKind, id: string): string | undefined;
  /** The id of the text, or else reasoning message that is meant; its own where this stream began none. */
  of(id: string): string;
  /** The id for the message that carries a call: where another run has one of that id, it is not that one. */
  parent(id: string, round: number): string;
  /** The id for a call; its own unless it cannot be one. */
  call(id: string): string;
  /** The id for the call that stands for an interrupt, whose own id is unique in its AG-UI run alone. */
  interrupt(id: string): string;
}

export interface StartedId {
  readonly id: string;
  /** Why it is not the agent's own. */
  readonly changed?: "used" | "reopened" | "unusable";
}

/** The longest id that the session takes, in characters. */
const MAX_ID = 256;

/** Whether the session takes an id, its own kinds aside. */
export function isPlainId(id: string): boolean {
  return id !== "" && id.length <= MAX_ID && id.isWellFormed();
}

export function createIngestIds(scope: AgUiScope, isGiven: (id: string) => boolean): IngestIds {
  const messages = new Map<string, { readonly id: string; readonly round: number }>();
  const calls = new Map<string, string>();
  const taken = new Set<string>();
  const prefix = `${scope.runId}.${streamName(scope)}`;
  let minted = 0;
  let interrupts = 0;

  const isUsable = (id: string) => isPlainId(id) && !OWN_IDS.test(id);
  const isUsed = (id: string) => taken.has(id) || (scope.isUsed?.(id, "message") ?? false);
  const mint = () => `${prefix}.m${(minted += 1)}`;

  function start(kind: MessageKind, id: string, round: number): StartedId {
    const key = `${kind} ${id}`;
    const known = messages.get(key);
    if (known?.round === round) return { id: known.id };
    const changed = known
      ? "reopened"
      : !isUsable(id)
        ? "unusable"
        : isUsed(id)
          ? "used"
          : undefined;
    const own = changed ? mint() : id;
    messages.set(key, { id: own, round });
    taken.add(own);
    return { id: own, ...(changed && { changed }) };
  }

  const known = (kind: MessageKind, id: string) => messages.get(`${kind} ${id}`)?.id;

  return {
    start,
    known,
    of: (id) => known("text", id) ?? known("reasoning", id) ?? id,
    parent(id, round) {
      const message = known("text", id);
      // One that the agent was told of is that message; a call may be added to it.
      if (message !== undefined || isGiven(id)) return message ?? id;
      return start("text", id, round).id;
    },
    call(id) {
      if (isPlainId(id)) return id;
      const own = calls.get(id) ?? `${prefix}.c${calls.size + 1}`;
      calls.set(id, own);
      return own;
    },
    interrupt(id) {
      // An agent may give an interrupt the id of the call that it is about, and its next run's the same.
      const named = `interrupt_${id}`;
      if (isPlainId(named) && !scope.isUsed?.(named, "call")) return named;
      return `${prefix}.i${(interrupts += 1)}`;
    },
  };
}
