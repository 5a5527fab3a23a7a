import type { Call, Item, Run } from "@holdfast/protocol";
import { memo } from "react";
import { isCall } from "../rows.ts";
import { CallCard } from "./card/call-card.tsx";
import { PersonMessage } from "./person-message.tsx";
import { Prose } from "./prose.tsx";
import { RunNote } from "./run-note.tsx";

interface RunBlockProps {
  readonly run: Run;
  readonly parts: readonly (Item | Call)[];
}

/** All that a run said and did, in the order of the log. */
export const RunBlock = memo(function RunBlock({ run, parts }: RunBlockProps) {
  const writing = parts.some(isGrowing);
  return (
    <article className="run" data-run={run.id} data-status={run.status} aria-label="Agent">
      {parts.map((part) => (
        <RunPart key={part.id} part={part} live={run.status === "active"} />
      ))}
      <RunNote run={run} writing={writing} />
    </article>
  );
});

function RunPart({ part, live }: { readonly part: Item | Call; readonly live: boolean }) {
  if (isCall(part)) return part.withdrawn ? null : <CallCard call={part} />;
  switch (part.kind) {
    case "text":
      return <Prose text={part.text} open={live && part.status === "open"} />;
    case "reasoning":
      return part.text === "" ? null : (
        <details className="reasoning">
          <summary className="label">
            {live && part.status === "open" ? "Thinking…" : "Thought about it"}
          </summary>
          <Prose text={part.text} />
        </details>
      );
    case "steer":
      return <PersonMessage message={part.message} />;
    case "round":
    case "event":
      return null;
  }
}

function isGrowing(part: Item | Call): boolean {
  if (isCall(part)) return part.status !== "settled";
  return part.kind === "text" && part.status === "open";
}
