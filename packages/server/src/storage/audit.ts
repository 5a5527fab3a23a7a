import { AUDIT_KEPT, type AuditAddition, type AuditRow, StorageError } from "./storage.ts";

/** The audit of a session with records added, and without those that are then too many. */
export function addAudit(
  rows: readonly AuditRow[],
  records: readonly AuditAddition[],
): readonly AuditRow[] {
  // The newest is always kept, so its number is the highest there ever was.
  const last = rows.at(-1)?.seq ?? 0;
  const all = [...rows, ...records.map((record, index) => ({ seq: last + 1 + index, ...record }))];
  const counts = new Map<string, number>();
  const count = (...key: string[]) => {
    const text = JSON.stringify(key);
    const next = (counts.get(text) ?? 0) + 1;
    counts.set(text, next);
    return next;
  };
  const newestFirst = all.toReversed().filter(({ kind, group }) => {
    const { ofGroup, ofSession } = AUDIT_KEPT[kind];
    return count(kind, group) <= ofGroup && count(kind) <= ofSession;
  });
  return newestFirst.toReversed();
}

/** What in audit records no storage can keep exactly, or undefined: text must be well-formed Unicode. */
export function malformedAudit(
  session: string,
  records: readonly AuditAddition[],
): StorageError | undefined {
  const good = records.every(
    ({ group, json, content }) =>
      group.isWellFormed() && json.isWellFormed() && (content?.isWellFormed() ?? true),
  );
  if (good) return undefined;
  return new StorageError(
    "failed",
    `An audit record of session ${session} holds a lone surrogate; storage keeps well-formed Unicode only.`,
  );
}
