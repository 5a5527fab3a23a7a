import { toOffset } from "@holdfast/protocol";
import type {
  AuditAddition,
  Batch,
  Commit,
  Due,
  DueChange,
  Row,
  RowChange,
  Storage,
  TagChange,
} from "../../src/storage/storage.ts";

/** The offset of a log's `seq`-th entry. */
export function at(seq: number): string {
  return toOffset("e1", seq);
}

/** A batch of the entries after `after` up to `last`, whose text tells which they are. */
export function batch(after: number, last: number, json = `["${after}-${last}"]`): Batch {
  return { after: at(after), last: at(last), count: last - after, json };
}

/** What a commit changes beside the log. */
export interface Changes {
  readonly rows?: readonly RowChange[];
  readonly due?: readonly DueChange[];
  readonly tags?: readonly TagChange[];
}

/** The commit that creates a session with an empty log. */
export function creation(session: string, { rows = [], due = [], ...more }: Changes = {}): Commit {
  return { session, expect: null, head: at(0), rows, due, ...more };
}

/** The commit that adds the entries after `after` up to `last`. */
export function addition(
  session: string,
  after: number,
  last = after + 1,
  { rows = [], due = [], ...more }: Changes = {},
): Commit {
  return {
    session,
    expect: at(after),
    head: at(last),
    batch: batch(after, last),
    rows,
    due,
    ...more,
  };
}

/** The commit that leaves the log alone. */
export function rowsOnly(
  session: string,
  head: number,
  { rows = [], due = [], ...more }: Changes,
): Commit {
  return { session, expect: at(head), head: at(head), rows, due, ...more };
}

/**
 * A commit that expects the right head and yet cannot be written, for its batch lies where the session has one
 * already: a caller's mistake that no check of heads finds.
 */
export function unwritable(session: string, head: number, changes: Changes = {}): Commit {
  return { ...addition(session, head, head + 1, changes), batch: batch(head - 1, head) };
}

/** A refusal for the audit, whose text tells which it is. */
export function refused(name: string, group = "user:ana"): AuditAddition {
  return { kind: "refused", group, json: `{"name":"${name}"}`, content: null };
}

/** A late answer for the audit, whose text tells which it is. */
export function late(name: string, group = "c1"): AuditAddition {
  return { kind: "late", group, json: `{"name":"${name}"}`, content: `"${name}"` };
}

/** What a session holds, in one order. */
export async function dump(storage: Storage, session: string) {
  const found = await storage.rows(session);
  const batches = await storage.entries(session, "", Number.MAX_SAFE_INTEGER);
  const audit = await storage.audit(session, { after: 0, limit: Number.MAX_SAFE_INTEGER });
  return {
    head: found?.head,
    rows: sorted(found?.rows ?? []),
    batches,
    ...(audit.length > 0 && { audit }),
  };
}

/** Rows or index rows in one order. */
export function sorted<T extends Row | Due>(rows: readonly T[]): T[] {
  const key = (row: T) => JSON.stringify([row.kind, row.id, "session" in row ? row.session : ""]);
  return rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}
