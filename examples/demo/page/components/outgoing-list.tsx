import type { OutgoingMessage } from "../outgoing.ts";
import { Icon } from "./icons.tsx";

/** Messages the server has not taken yet. Appears only when that takes a while. */
export function OutgoingList({ messages }: { readonly messages: readonly OutgoingMessage[] }) {
  if (messages.length === 0) return null;
  return (
    <section className="queue outgoing" aria-label="Messages on their way">
      <ol>
        {messages.map(({ id, text, takeBack }) => (
          <li key={id} className="queue-row">
            <Icon name="send" />
            <span className="queue-text">{text}</span>
            <span className="label">waits for the server</span>
            <button type="button" className="link-button" onClick={takeBack}>
              Take back
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
