import type { DatabaseSync } from "node:sqlite";
import { AUDIT_KEPT, type AuditAddition, type AuditKind } from "../storage.ts";

/** How records are added to the audit of the session with a key, within its caller's transaction. */
export function createAuditWriter(
  database: DatabaseSync,
): (session: number, records: readonly AuditAddition[]) => void {
  // The newest is always kept, so its number is the highest there ever was.
  const insert = database.prepare(
    `insert into audit (session, seq, kind, grp, json, content)
     values (?, (select coalesce(max(seq), 0) + 1 from audit where session = ?), ?, ?, ?, ?)`,
  );
  const trimGroup = database.prepare(trim("kind = ? and grp = ?"));
  const trimKind = database.prepare(trim("kind = ?"));

  return (session, records) => {
    const groups = new Map<AuditKind, Set<string>>();
    for (const { kind, group, json, content } of records) {
      insert.run(session, session, kind, group, json, content);
      groups.set(kind, (groups.get(kind) ?? new Set()).add(group));
    }
    for (const [kind, touched] of groups) {
      const { ofGroup, ofSession } = AUDIT_KEPT[kind];
      for (const group of touched) {
        trimGroup.run(session, kind, group, session, kind, group, ofGroup);
      }
      trimKind.run(session, kind, session, kind, ofSession);
    }
  };
}

/** Removes what is older than the newest few of a session's records that `are` so. */
function trim(are: string): string {
  return `delete from audit where session = ? and ${are} and seq <= (
    select seq from audit where session = ? and ${are} order by seq desc limit 1 offset ?
  )`;
}
