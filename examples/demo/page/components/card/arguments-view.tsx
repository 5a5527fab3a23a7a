import type { Call } from "@holdfast/protocol";
import { useState } from "react";
import { keyLabel } from "../../format.ts";
import { createArgumentScanner, type PartialMember } from "../../partial-arguments.ts";
import { argumentsOf } from "../../rows.ts";
import { LongText } from "./long-text.tsx";
import { Table, type TableRow } from "./table.tsx";
import { JsonValue } from "./json-value.tsx";

/** A call's arguments: a table of keys and values that fills in while they stream, their raw text one press away. */
export function ArgumentsView({ call }: { readonly call: Call }) {
  const [raw, setRaw] = useState(false);
  const [scanner] = useState(createArgumentScanner);
  const streaming = call.status === "streaming";
  const members = scanner.read(call.arguments);
  const value = streaming ? undefined : argumentsOf(call);
  const tabular = call.argumentsEncoding === "json" && (value !== undefined || members.length > 0);
  if (!streaming && tabular && value !== undefined && Object.keys(value).length === 0)
    return <p className="label">No arguments.</p>;
  return (
    <section className="arguments" aria-label="Arguments" data-streaming={streaming}>
      {raw || !tabular ? (
        <pre className="raw">
          <LongText text={call.arguments} />
          {streaming && <Caret />}
        </pre>
      ) : (
        <Table rows={value ? wholeRows(value) : partialRows(members, streaming)} />
      )}
      {tabular && (
        <button type="button" className="link-button" onClick={() => setRaw(!raw)}>
          {raw ? "Show as table" : "Raw JSON"}
        </button>
      )}
    </section>
  );
}

/** More is coming here. */
export function Caret() {
  return <span className="caret" aria-hidden="true" />;
}

function wholeRows(value: Record<string, unknown>): TableRow[] {
  return Object.entries(value).map(([key, member]) => ({
    key,
    label: keyLabel(key),
    value: <JsonValue value={member} />,
  }));
}

function partialRows(members: readonly PartialMember[], streaming: boolean): TableRow[] {
  return members.map(({ key, text, isString, complete }) => ({
    key,
    label: keyLabel(key),
    value: (
      <span className={isString ? undefined : "mono"}>
        {text}
        {!complete && streaming && <Caret />}
      </span>
    ),
  }));
}
