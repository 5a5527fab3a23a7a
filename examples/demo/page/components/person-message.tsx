import type { MessageNode } from "@holdfast/protocol";
import { memo } from "react";
import { nameOf } from "../format.ts";
import { textOf } from "../message-text.ts";
import { useSeat } from "../session-actions.ts";
import { PlainText } from "./prose.tsx";
import { Ago } from "./time.tsx";

interface PersonMessageProps {
  readonly message: MessageNode;
  /** What is to become of it, where that is not plain. */
  readonly note?: string | undefined;
}

/** What a person wrote. */
export const PersonMessage = memo(function PersonMessage({ message, note }: PersonMessageProps) {
  const { me } = useSeat();
  const mine = message.by === me;
  return (
    <article
      className="person-message"
      data-mine={mine}
      aria-label={`${mine ? "You" : nameOf(message.by)} wrote`}
    >
      <p className="label">
        {mine ? "You" : nameOf(message.by)} · <Ago at={message.at} />
        {note !== undefined && ` · ${note}`}
      </p>
      <p className="person-text">
        <PlainText text={textOf(message.content)} />
      </p>
    </article>
  );
});
