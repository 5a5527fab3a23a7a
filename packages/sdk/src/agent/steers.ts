import type { AgentItem, MessageNode, SessionState } from "@holdfast/protocol";

/** What people send to a run while it is active. */
export interface Steers {
  /** Messages that no round has read, oldest first. */
  pending(): readonly MessageNode[];
  /**
   * Hears of every message that steers the run and waits, those that are there already at once; each one time.
   *
   * @returns takes the listener away
   */
  on(listener: (message: MessageNode) => void): () => void;
  /** Whether a message steers the run. */
  readonly has: (messageId: string) => boolean;
  /** The messages that wait are in the request to come. */
  tell(): void;
  /** Whether a message is in a request already, of this attempt. */
  readonly isTold: (messageId: string) => boolean;
  /** Has a round name what its request holds, so that what came later is not taken for read. */
  readonly amend: (item: AgentItem) => AgentItem;
  /** To be called with every new state. */
  readonly observe: (state: SessionState) => void;
}

export function createSteers(runId: string, state: () => SessionState): Steers {
  const listeners = new Set<(state: SessionState) => void>();
  /** Messages that the history held when it was read. */
  const told = new Set<string>();
  /** Messages that a framework took up by itself. */
  const taken = new Set<string>();

  function pendingIn({ runs, messages }: SessionState): readonly MessageNode[] {
    return (runs.get(runId)?.steers ?? []).flatMap(({ messageId, consumed }) => {
      const message = consumed === undefined ? messages.get(messageId) : undefined;
      return message ? [message] : [];
    });
  }

  return {
    pending: () => pendingIn(state()),
    on(listener) {
      const heard = new Set<string>();
      const look = (now: SessionState) => {
        for (const message of pendingIn(now)) {
          if (heard.has(message.id)) continue;
          heard.add(message.id);
          listener(message);
        }
      };
      listeners.add(look);
      look(state());
      return () => void listeners.delete(look);
    },
    has: (messageId) => state().messages.get(messageId)?.steers === runId,
    tell() {
      for (const { id } of pendingIn(state())) told.add(id);
    },
    isTold: (messageId) => told.has(messageId) || taken.has(messageId),
    amend(item) {
      if (item.type !== "round.open") return item;
      for (const id of item.steers ?? []) taken.add(id);
      return { ...item, steers: [...new Set([...told, ...(item.steers ?? [])])] };
    },
    observe(now) {
      for (const look of listeners) look(now);
    },
  };
}
