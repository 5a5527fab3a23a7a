import type { SendOptions, Session } from "@holdfast/sdk/client";

/** A message on its way: the server has not taken it yet. */
export interface OutgoingMessage {
  readonly id: string;
  readonly text: string;
  /** Stops waiting; it is not sent if it was not under way yet. */
  readonly takeBack: () => void;
}

/** Messages without a verdict, so that one written while the server is away is seen to wait. */
export interface Outgoing {
  readonly subscribe: (listener: () => void) => () => void;
  readonly list: () => readonly OutgoingMessage[];
  /** Resolves once the server has the message or it was taken back. @throws the server's refusal */
  readonly send: (text: string, how?: Pick<SendOptions, "whileActive">) => Promise<void>;
}

export function createOutgoing(session: Session): Outgoing {
  const listeners = new Set<() => void>();
  let messages: readonly OutgoingMessage[] = [];

  function put(next: readonly OutgoingMessage[]): void {
    messages = next;
    for (const listener of listeners) listener();
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    list: () => messages,
    async send(text, how) {
      const back = new AbortController();
      const id = crypto.randomUUID();
      put([...messages, { id, text, takeBack: () => back.abort() }]);
      try {
        await session.send(text, { ...how, messageId: id, signal: back.signal });
      } catch (error) {
        if (!back.signal.aborted) throw error;
      } finally {
        put(messages.filter((message) => message.id !== id));
      }
    },
  };
}
