import type { Run } from "@holdfast/protocol";
import { useNow } from "../hooks/use-now.ts";
import { Caret } from "./card/arguments-view.tsx";
import { Icon } from "./icons.tsx";

/** The line under a run that says why nothing moves, or how it ended; nothing where the run speaks for itself. */
export function RunNote({ run, writing }: { readonly run: Run; readonly writing: boolean }) {
  switch (run.status) {
    case "queued":
      return <Queued run={run} />;
    case "active":
      return writing ? (
        <Lost run={run} />
      ) : (
        <>
          <Lost run={run} />
          <p className="run-note" role="presentation">
            <Caret />
            <span className="visually-hidden">The agent is at work.</span>
          </p>
        </>
      );
    case "suspended":
      return <p className="run-note label">Paused until the calls above are seen to.</p>;
    case "ended":
      return <Ended run={run} />;
  }
}

/** Silence is normal for a moment; after that, say what is missing. */
function Queued({ run }: { readonly run: Run }) {
  const now = useNow(1_000);
  if (run.behind.length > 0)
    return <p className="run-note label">Waits for the answer before it.</p>;
  if (now - run.queuedAt < 2_500)
    return (
      <p className="run-note">
        <Caret />
      </p>
    );
  return (
    <p className="run-note label">
      {run.losses > 0
        ? "The agent went away. The server gives the run to the next agent that asks."
        : "No agent has taken this up yet. The server keeps it until one does."}
    </p>
  );
}

function Lost({ run }: { readonly run: Run }) {
  if (run.losses === 0) return null;
  return (
    <p className="run-note label">
      The agent went away and another took over (attempt {run.attempt}).
    </p>
  );
}

function Ended({ run }: { readonly run: Run }) {
  if (run.outcome === "error")
    return (
      <p className="run-note ended-error">
        <Icon name="cross" />
        <span>
          {run.error?.message ?? "The agent could not go on."} Send a message to try again.{" "}
          {run.error && <code>{run.error.code}</code>}
        </span>
      </p>
    );
  if (run.outcome === "cancelled")
    return (
      <p className="run-note label">
        <Icon name="stop" />
        {run.attempt === 0 ? "Taken back before the agent saw it." : "Stopped."}
      </p>
    );
  return null;
}
