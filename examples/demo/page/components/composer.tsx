import { useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import { useAction } from "../hooks/use-action.ts";
import { Icon } from "./icons.tsx";
import { Mishap } from "./mishap.tsx";

interface ComposerProps {
  /** A run is queued or active: what is sent now waits its turn, and Stop ends it. */
  readonly active: boolean;
  /** What a message sent now would leave undone; undefined where nothing waits. */
  readonly pending: string | undefined;
  readonly onSend: (text: string) => Promise<void>;
  readonly onStop: () => Promise<void>;
  /** Has the active run read the message next; undefined where nothing is at work that could. */
  readonly onSteer: ((text: string) => Promise<void>) | undefined;
}

/**
 * Where a person writes. Enter sends, Ctrl or Cmd with Enter steers the active run, Shift+Enter breaks the line, Esc
 * stops the run. Keeps its text when sending fails.
 */
export function Composer({ active, pending, onSend, onStop, onSteer }: ComposerProps) {
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const send = useAction((message: string, steers: boolean) =>
    (steers && onSteer ? onSteer : onSend)(message),
  );
  const stop = useAction(onStop);
  const written = text.trim() !== "";
  useLayoutEffect(() => fit(field.current), [text]);

  const submit = async (steers = false) => {
    if (!written) return;
    setText("");
    if (!(await send.run(text.trim(), steers))) setText((since) => (since === "" ? text : since));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void submit(event.ctrlKey || event.metaKey);
    } else if (event.key === "Escape" && active) {
      event.preventDefault();
      void stop.run();
    }
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {pending !== undefined && written && (
        <p className="composer-hint label">
          <Icon name="warning" />
          {pending}
        </p>
      )}
      <Mishap error={send.error ?? stop.error} />
      <div className="composer-box">
        <textarea
          ref={field}
          rows={1}
          value={text}
          maxLength={20_000}
          aria-label="Message"
          placeholder={active ? "Write the next message" : "Write a message"}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {active && written && (
          <button type="submit" className="button" title="Sent when the run has ended (Enter)">
            Queue
          </button>
        )}
        {onSteer && written && (
          <button
            type="button"
            className="button"
            title="The run reads it next (Ctrl or Cmd + Enter)"
            onClick={() => void submit(true)}
          >
            Steer now
          </button>
        )}
        {active ? (
          <button
            type="button"
            className="button primary"
            disabled={stop.busy}
            title="Stop the run (Esc)"
            onClick={() => void stop.run()}
          >
            <Icon name="stop" />
            Stop
          </button>
        ) : (
          <button type="submit" className="button primary" disabled={!written} title="Send (Enter)">
            <Icon name="send" />
            Send
          </button>
        )}
      </div>
    </form>
  );
}

const LINES = 6;

/** Grows the field with its text, up to six lines. */
function fit(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = "auto";
  const style = getComputedStyle(field);
  const line = Number.parseFloat(style.lineHeight);
  const padding = Number.parseFloat(style.paddingTop) + Number.parseFloat(style.paddingBottom);
  field.style.height = `${Math.min(field.scrollHeight, line * LINES + padding)}px`;
}
