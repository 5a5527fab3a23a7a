import type { Call } from "@holdfast/protocol";
import { memo, useId, useState } from "react";
import { faceOf, needsPerson } from "../../call-face.ts";
import { ApprovalPanel } from "./approval-panel.tsx";
import { ArgumentsView } from "./arguments-view.tsx";
import { CallHistory } from "./call-history.tsx";
import { CardLine } from "./card-line.tsx";
import { ClientCallPanel } from "./client-call-panel.tsx";
import { DecisionLine, Ending, Result } from "./outcome.tsx";

/**
 * One tool call. Closed it is one line; it opens by itself while a person has to see to it and where it went wrong,
 * and stays as its reader left it from the first press on.
 */
export const CallCard = memo(function CallCard({ call }: { readonly call: Call }) {
  const [chosen, setChosen] = useState<boolean>();
  const bodyId = useId();
  const face = faceOf(call);
  const open = chosen ?? (needsPerson(call) || face.tone === "failed" || face.tone === "denied");
  return (
    <article
      className="card"
      data-tone={face.tone}
      data-call={call.id}
      data-status={call.status}
      aria-label={`${call.name}, ${face.word}`}
    >
      <CardLine
        call={call}
        face={face}
        open={open}
        controls={bodyId}
        onToggle={() => setChosen(!open)}
      />
      {!open && <DecisionLine call={call} />}
      {open && (
        <div className="card-body" id={bodyId}>
          {call.status === "settled" && call.outcome !== "ok" && <Ending call={call} />}
          <DecisionLine call={call} />
          <ArgumentsView call={call} />
          {call.outcome === "ok" && call.answer && <Result answer={call.answer.answer} />}
          {call.status === "gated" && <ApprovalPanel call={call} />}
          {call.executor === "client" && (call.status === "open" || call.status === "claimed") && (
            <ClientCallPanel call={call} />
          )}
          <CallHistory call={call} />
        </div>
      )}
    </article>
  );
});
