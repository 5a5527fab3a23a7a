import type { Call } from "@holdfast/protocol";
import { useId, useRef, useState } from "react";
import { useAction } from "../../hooks/use-action.ts";
import { argumentsOf } from "../../rows.ts";
import { sentenceOf } from "../../sentences.ts";
import { useSeat, type Choice } from "../../session-actions.ts";
import { Icon } from "../icons.tsx";
import { Mishap } from "../mishap.tsx";
import { EditForm } from "./edit-form.tsx";

/** What a person decides: approve, deny with a reason, or change the arguments first. Nothing is preselected. */
export function ApprovalPanel({ call }: { readonly call: Call }) {
  const { actions } = useSeat();
  const [mode, setMode] = useState<"choose" | "deny" | "edit">("choose");
  const panel = useRef<HTMLElement>(null);
  const alwaysId = useId();
  const decide = useAction((choice: Choice) => {
    // The panel goes once it is decided; whoever uses the keyboard stays at the card.
    const line = panel.current?.closest(".card")?.querySelector<HTMLElement>(".card-line");
    line?.focus({ preventScroll: true });
    return actions.decide(call, choice);
  });
  const editable = !call.approval?.signed && argumentsOf(call) !== undefined;
  return (
    <section className="panel approval" aria-label="Approval" ref={panel}>
      <p className="panel-sentence">{sentenceOf(call)}</p>
      {call.approval?.reason !== undefined && <p className="label">{call.approval.reason}</p>}
      {mode === "choose" && (
        <div className="row">
          <button
            type="button"
            className="button primary"
            disabled={decide.busy}
            onClick={() => void decide.run({ approved: true })}
          >
            Approve
          </button>
          <button
            type="button"
            className="button"
            disabled={decide.busy}
            onClick={() => setMode("deny")}
          >
            Deny
          </button>
          {editable && (
            <button type="button" className="button quiet" onClick={() => setMode("edit")}>
              <Icon name="edit" />
              Edit
            </button>
          )}
          <button
            type="button"
            className="button quiet"
            disabled={decide.busy}
            aria-describedby={alwaysId}
            onClick={() => void decide.run({ approved: true, always: true })}
          >
            Approve always
          </button>
        </div>
      )}
      {mode === "choose" && (
        <p className="label" id={alwaysId}>
          Always: {call.name} runs without asking for the rest of this session, whatever its
          arguments. You can take that back under “What the server knows”.
        </p>
      )}
      {mode === "deny" && (
        <DenyForm
          busy={decide.busy}
          onDeny={(reason) =>
            void decide.run({ approved: false, ...(reason !== "" && { reason }) })
          }
          onBack={() => setMode("choose")}
        />
      )}
      {mode === "edit" && (
        <EditForm
          call={call}
          busy={decide.busy}
          onApprove={(text) => void decide.run({ approved: true, arguments: text })}
          onBack={() => setMode("choose")}
        />
      )}
      <Mishap error={decide.error} />
    </section>
  );
}

interface DenyFormProps {
  readonly busy: boolean;
  readonly onDeny: (reason: string) => void;
  readonly onBack: () => void;
}

function DenyForm({ busy, onDeny, onBack }: DenyFormProps) {
  const [reason, setReason] = useState("");
  const id = useId();
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onDeny(reason.trim());
      }}
    >
      <label className="label" htmlFor={id}>
        Reason, told to the agent (optional)
      </label>
      <input
        id={id}
        className="field"
        value={reason}
        maxLength={500}
        autoFocus
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          onBack();
        }}
      />
      <div className="row">
        <button type="submit" className="button danger" disabled={busy}>
          Deny
        </button>
        <button type="button" className="button quiet" onClick={onBack}>
          Back
        </button>
      </div>
    </form>
  );
}
