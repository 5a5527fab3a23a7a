import type { AgentItem } from "../../command.ts";
import type { EventOf } from "../../events.ts";

/**
 * The rounds of one AG-UI run. AG-UI has none: one run may hold any number of model requests. A new round begins where
 * output follows results: nothing is open, and every call of the round has its result. So a call's result comes between
 * what was said before and after it, in every history.
 */
export interface Rounds {
  /** From 1; 0 before the first. */
  readonly number: number;
  open(): AgentItem[];
  close(): AgentItem[];
  /** Output begins, under a message where it names one: what ends the round before it. */
  before(messageId?: string): AgentItem[];
  began(what: string, messageId: string): void;
  ended(what: string): void;
  /** A call waits for its result. */
  owes(callId: string): void;
  answered(callId: string): void;
  /** Keeps what was said in the round, as long as it can be taken back without a trace. */
  keep(items: readonly AgentItem[]): void;
  /** All of the round, in order; undefined where it has calls. */
  readonly kept: readonly AgentItem[] | undefined;
  /** The round begins again, and holds this. */
  replace(items: readonly AgentItem[]): AgentItem[];
}

export function createRounds(steers: readonly string[] | undefined): Rounds {
  let number = 0;
  let isOpen = false;
  let hasResult = false;
  let opener: AgentItem = { type: "round.open" };
  let kept: AgentItem[] | undefined;
  const open = new Set<string>();
  const owed = new Set<string>();
  const messages = new Set<string>();

  function begin(): AgentItem[] {
    // Only the first request of a run holds what steered it: the agent hears of nothing more.
    const named = steers && { steers: number === 0 ? steers : [] };
    number += 1;
    isOpen = true;
    hasResult = false;
    kept = [];
    owed.clear();
    messages.clear();
    opener = { type: "round.open", ...named };
    return [opener];
  }

  function end(): AgentItem[] {
    if (!isOpen) return [];
    isOpen = false;
    return [{ type: "round.close" }];
  }

  return {
    get number() {
      return number;
    },
    open: () => (isOpen ? [] : begin()),
    close: end,
    before(messageId) {
      const goesOn = messageId !== undefined && messages.has(messageId);
      if (!isOpen || !hasResult || goesOn || open.size > 0 || owed.size > 0) return [];
      return [...end(), ...begin()];
    },
    began(what, messageId) {
      open.add(what);
      messages.add(messageId);
    },
    ended: (what) => void open.delete(what),
    owes(callId) {
      owed.add(callId);
      kept = undefined;
    },
    answered(callId) {
      owed.delete(callId);
      hasResult = true;
      kept = undefined;
    },
    keep(items) {
      for (const item of items) if (kept && !item.type.startsWith("round.")) join(kept, item);
    },
    get kept() {
      return isOpen ? kept : undefined;
    },
    replace(items) {
      kept = [...items];
      return [{ type: "round.withdraw" }, opener, ...items];
    },
  };
}

/** Adds an item; a plain delta to the one before it, so that a long text is kept as one. */
function join(kept: AgentItem[], item: AgentItem): void {
  const last = kept.at(-1);
  if (isPlain(item) && last && isPlain(last) && item.messageId === last.messageId) {
    kept[kept.length - 1] = { ...last, delta: last.delta + item.delta };
  } else kept.push(item);
}

function isPlain(item: AgentItem): item is EventOf<"TEXT_MESSAGE_CONTENT"> {
  return item.type === "TEXT_MESSAGE_CONTENT" && Object.keys(item).length === 3;
}
