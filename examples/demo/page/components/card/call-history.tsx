import type { Call, CallMoment } from "@holdfast/protocol";
import { exact, nameOf } from "../../format.ts";
import { ShortId } from "../short-id.tsx";

const words: Record<CallMoment["what"], string> = {
  proposed: "Proposed by",
  reopened: "Continued by",
  ended: "Arguments complete, from",
  approval_requested: "Approval asked for by",
  approved: "Approved by",
  denied: "Denied by",
  opened: "Ready to run, by",
  claimed: "Claimed by",
  released: "Released by",
  settled: "Settled by",
};

/** What happened to a call, by whom and when. */
export function CallHistory({ call }: { readonly call: Call }) {
  const edited = call.approval?.decision?.edited;
  return (
    <details className="history">
      <summary className="label">History</summary>
      <ol>
        {call.history.map(({ what, by, at }, index) => (
          <li key={`${what}:${index}`}>
            <time className="mono" dateTime={new Date(at).toISOString()} title={exact(at)}>
              {seconds(at)}
            </time>
            <span>
              {what === "settled" && call.answer ? "Answered by" : words[what]} {nameOf(by)}
            </span>
          </li>
        ))}
      </ol>
      {edited && (
        <div className="history-edited">
          <p className="label">Arguments as proposed</p>
          <pre className="raw">{edited.from}</pre>
        </div>
      )}
      <p className="label">
        Call <ShortId id={call.id} length={20} />
      </p>
    </details>
  );
}

function seconds(at: number): string {
  return new Date(at).toLocaleTimeString([], {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
}
