import type { Answer } from "@holdfast/protocol";
import { useState } from "react";
import { keyLabel } from "../../format.ts";
import { isObject } from "../../rows.ts";
import { JsonValue } from "./json-value.tsx";
import { LongText } from "./long-text.tsx";
import { Table } from "./table.tsx";

/** A call's answer: text as text, an object as a table, other JSON as it is. Never read for markup. */
export function AnswerView({ answer }: { readonly answer: Answer }) {
  const [raw, setRaw] = useState(false);
  if (answer.type === "text")
    return (
      <p className="answer-text">
        <LongText text={answer.text} limit={600} />
      </p>
    );
  const value = answer.type === "json" ? answer.value : answer.parts;
  if (!isObject(value) || Object.keys(value).length === 0)
    return (
      <p className="answer-text">
        <JsonValue value={value} />
      </p>
    );
  return (
    <>
      {raw ? (
        <pre className="raw">
          <LongText text={JSON.stringify(value, null, 2)} limit={2_000} />
        </pre>
      ) : (
        <Table
          rows={Object.entries(value).map(([key, member]) => ({
            key,
            label: keyLabel(key),
            value: <JsonValue value={member} />,
          }))}
        />
      )}
      <button type="button" className="link-button" onClick={() => setRaw(!raw)}>
        {raw ? "Show as table" : "Raw JSON"}
      </button>
    </>
  );
}
