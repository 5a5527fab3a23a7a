import type { ReactNode } from "react";

export interface TableRow {
  readonly key: string;
  readonly label: string;
  readonly value: ReactNode;
}

/** Keys and values in two columns. */
export function Table({ rows }: { readonly rows: readonly TableRow[] }) {
  return (
    <dl className="table">
      {rows.map(({ key, label, value }) => (
        <div className="table-row" key={key}>
          <dt title={key}>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
