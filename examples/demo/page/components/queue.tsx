import type { MessageNode, Run } from "@holdfast/protocol";
import { nameOf } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { textOf } from "../message-text.ts";
import { useSeat } from "../session-actions.ts";
import { Icon } from "./icons.tsx";
import { Mishap } from "./mishap.tsx";

/** A message whose run has not begun, because another is before it. */
export interface QueuedMessage {
  readonly message: MessageNode;
  readonly run: Run;
}

/** Messages that wait their turn; each can be taken back. */
export function Queue({ queued }: { readonly queued: readonly QueuedMessage[] }) {
  if (queued.length === 0) return null;
  return (
    <section className="queue" aria-label="Queued messages">
      <ol>
        {queued.map((one) => (
          <QueueRow key={one.message.id} {...one} />
        ))}
      </ol>
    </section>
  );
}

function QueueRow({ message, run }: QueuedMessage) {
  const { me, actions } = useSeat();
  const takeBack = useAction(() => actions.cancelRun(run.id));
  return (
    <li className="queue-row">
      <Icon name="clock" />
      <span className="queue-text">
        {message.by !== me && <span className="label">{nameOf(message.by)}: </span>}
        {textOf(message.content)}
      </span>
      <button
        type="button"
        className="link-button"
        disabled={takeBack.busy}
        onClick={() => void takeBack.run()}
      >
        Take back
      </button>
      <Mishap error={takeBack.error} />
    </li>
  );
}
