import type { Call } from "@holdfast/protocol";
import { useId, useMemo, useState } from "react";
import { changedFields, editedArguments, editFields, type EditField } from "../../edit-fields.ts";
import { count, keyLabel } from "../../format.ts";
import { Mishap } from "../mishap.tsx";

interface EditFormProps {
  readonly call: Call;
  readonly busy: boolean;
  readonly onApprove: (argumentsText: string) => void;
  readonly onBack: () => void;
}

/** The arguments as a form made from the tool's JSON Schema. Shows what was proposed beside each change. */
export function EditForm({ call, busy, onApprove, onBack }: EditFormProps) {
  const fields = useMemo(() => editFields(call), [call]);
  const [texts, setTexts] = useState<ReadonlyMap<string, string>>(new Map());
  const [error, setError] = useState<unknown>();
  const changed = changedFields(fields, texts);
  return (
    <form
      className="stack"
      aria-label="Edit the arguments"
      onSubmit={(event) => {
        event.preventDefault();
        try {
          onApprove(editedArguments(call, fields, texts));
          setError(undefined);
        } catch (reason) {
          setError(reason);
        }
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onBack();
      }}
    >
      {fields.map((field, at) => (
        <EditRow
          key={field.key}
          field={field}
          text={texts.get(field.key) ?? field.proposed}
          focus={at === 0}
          changed={changed.includes(field)}
          onChange={(text) => setTexts(new Map(texts).set(field.key, text))}
        />
      ))}
      <div className="row">
        <button type="submit" className="button primary" disabled={busy || changed.length === 0}>
          {changed.length === 0
            ? "Nothing changed yet"
            : `Approve with ${count(changed.length, "change")}`}
        </button>
        <button type="button" className="button quiet" onClick={onBack}>
          Back
        </button>
      </div>
      <Mishap error={error} />
    </form>
  );
}

interface EditRowProps {
  readonly field: EditField;
  readonly text: string;
  readonly focus: boolean;
  readonly changed: boolean;
  readonly onChange: (text: string) => void;
}

function EditRow({ field, text, focus, changed, onChange }: EditRowProps) {
  const id = useId();
  const props = {
    id,
    className: "field",
    value: text,
    autoFocus: focus,
    "aria-describedby": `${id}-note`,
  };
  return (
    <div className="edit-row" data-changed={changed}>
      <label className="label" htmlFor={id} title={field.description}>
        {keyLabel(field.key)}
        {!field.required && " (optional)"}
      </label>
      {field.kind === "choice" || field.kind === "boolean" ? (
        <select {...props} onChange={(event) => onChange(event.target.value)}>
          {optionsOf(field).map((option) => (
            <option key={option} value={option}>
              {option === "" ? "none" : option}
            </option>
          ))}
        </select>
      ) : field.kind === "json" ? (
        <textarea
          {...props}
          className="field mono"
          rows={3}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input
          {...props}
          inputMode={field.kind === "number" ? "decimal" : "text"}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      <p className="edit-note label" id={`${id}-note`}>
        {changed && (
          <>
            was {field.proposed === "" ? "not given" : <del className="mono">{field.proposed}</del>}
          </>
        )}
      </p>
    </div>
  );
}

function optionsOf(field: EditField): string[] {
  const options = field.kind === "boolean" ? ["true", "false"] : [...field.options];
  if (!field.required || field.proposed === "") options.unshift("");
  return [...new Set(options.concat(field.proposed))];
}
