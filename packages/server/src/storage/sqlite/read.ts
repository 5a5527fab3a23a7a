import type { DatabaseSync } from "node:sqlite";
import type { AuditQuery, AuditRow, Batch, Due, DueQuery, Row, SessionHead } from "../storage.ts";
import { AUDIT_KEPT } from "../storage.ts";
import type { Batches } from "./batches.ts";

/** The reads of `Storage`, each of one moment: nothing is written while one runs. */
export interface Reader {
  rows(session: string): { readonly head: string; readonly rows: readonly Row[] } | undefined;
  entries(session: string, after: string, maxBytes: number): readonly Batch[];
  due(query: DueQuery): readonly Due[];
  sessions(after: string | undefined, limit: number): readonly SessionHead[];
  audit(session: string, query: AuditQuery): readonly AuditRow[];
}

const DUE = `select session.id as session, due.kind, due.id, due.at, due.grp as "group"
  from due join session on session.key = due.session`;

export function createReader(database: DatabaseSync, stored: Batches): Reader {
  const findSession = database.prepare("select key, head from session where id = ?");
  const rowsOf = database.prepare("select kind, id, value from row where session = ?");
  const dueOfKind = database.prepare(
    `${DUE} where due.kind = ? and due.at <= ? order by due.at limit ?`,
  );
  const dueOfGroup = database.prepare(
    `${DUE} where due.kind = ? and due.grp = ? and due.at <= ? order by due.at limit ?`,
  );
  const allSessions = database.prepare(
    "select id as session, head from session where id >= ? and id is not ? order by id limit ?",
  );
  const auditOf = database.prepare(
    `select seq, kind, grp as "group", json, content from audit where session = ? and seq > ? and kind in (select value from json_each(?)) order by seq limit ?`,
  );

  // The schema says what the columns hold; `as` below says it to the compiler.
  return {
    rows(session) {
      const found = findSession.get(session);
      if (found === undefined) return undefined;
      const rows = rowsOf.all(found["key"] ?? null) as unknown as Row[];
      return { head: String(found["head"]), rows };
    },
    entries(session, after, maxBytes) {
      const found = findSession.get(session);
      if (found === undefined) return [];
      const batches: Batch[] = [];
      let bytes = 0;
      for (const batch of stored.after(Number(found["key"]), after)) {
        batches.push(batch);
        bytes += Buffer.byteLength(batch.json);
        if (bytes >= maxBytes) break;
      }
      return batches;
    },
    due({ kinds, group, before, limit }) {
      const most = atMost(limit);
      const found = [...new Set(kinds)].flatMap(
        (kind) =>
          (group === undefined
            ? dueOfKind.all(kind, before, most)
            : dueOfGroup.all(kind, group, before, most)) as unknown as Due[],
      );
      return found.toSorted((a, b) => a.at - b.at).slice(0, most);
    },
    sessions(after, limit) {
      return allSessions.all(after ?? "", after ?? null, atMost(limit)) as unknown as SessionHead[];
    },
    audit(session, { after, limit, kinds = AUDIT_KINDS }) {
      const key = findSession.get(session)?.["key"] ?? null;
      return auditOf.all(key, after, JSON.stringify(kinds), atMost(limit)) as unknown as AuditRow[];
    },
  };
}

const AUDIT_KINDS = Object.keys(AUDIT_KEPT);

/** SQLite takes a limit below 0 for none at all. */
function atMost(limit: number): number {
  return Math.min(Math.max(0, limit), Number.MAX_SAFE_INTEGER);
}
