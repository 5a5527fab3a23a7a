import { isObject } from "../../rows.ts";
import { LongText } from "./long-text.tsx";

/** A JSON value: text as text, structures folded from depth 2 on. */
export function JsonValue({ value, depth = 0 }: { readonly value: unknown; depth?: number }) {
  if (typeof value === "string")
    return (
      <span className="json-string">{value === "" ? <Empty /> : <LongText text={value} />}</span>
    );
  if (!isObject(value) && !Array.isArray(value))
    return <span className="mono">{JSON.stringify(value) ?? "undefined"}</span>;
  const members: [string, unknown][] = Array.isArray(value)
    ? value.map((member, at) => [String(at), member])
    : Object.entries(value);
  const summary = Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`;
  if (members.length === 0)
    return <span className="mono">{Array.isArray(value) ? "[]" : "{}"}</span>;
  return (
    <details className="json-fold" open={depth < 1}>
      <summary className="mono">{summary}</summary>
      <ul className="json-members">
        {members.map(([key, member]) => (
          <li key={key}>
            <span className="json-key mono">{key}</span>
            <JsonValue value={member} depth={depth + 1} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Empty() {
  return <span className="label">empty text</span>;
}
