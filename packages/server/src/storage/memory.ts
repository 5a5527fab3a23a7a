import type { Offset } from "@holdfast/protocol";
import { addAudit, malformedAudit } from "./audit.ts";
import { Broken, type Change, groupChanges, malformed, type Outcome } from "./group.ts";
import {
  MOST_FOUND,
  type AuditRow,
  type Batch,
  type Commit,
  type Due,
  type DueQuery,
  type Erasure,
  type FindQuery,
  type FoundRow,
  type FoundRows,
  type Row,
  type Storage,
  type TagChange,
} from "./storage.ts";

/**
 * A storage that lasts as long as the process: for tests and for trying things out. It keeps every promise of
 * {@link Storage} but durability, and settles appends in groups, later than they were called, as a database does.
 *
 * @param options.now the clock, Unix milliseconds; the system's by default.
 */
export function memoryStorage(options: { readonly now?: () => number } = {}): Storage {
  const sessions = new Map<string, Session>();
  const { check, close, ...writes } = groupChanges(
    async (changes) => applyAll(sessions, changes),
    () => sessions.clear(),
    queueMicrotask,
  );

  return {
    ...writes,
    async rows(session) {
      check();
      const found = sessions.get(session);
      return found && { head: found.head, rows: [...found.rows.values()] };
    },
    async entries(session, after, maxBytes) {
      check();
      return batchesAfter(sessions.get(session)?.batches ?? [], after, maxBytes);
    },
    async due(query) {
      check();
      return [...sessions.values()]
        .flatMap((session) => [...session.due.values()].filter((due) => isDue(due, query)))
        .toSorted((a, b) => a.at - b.at)
        .slice(0, Math.max(0, query.limit));
    },
    async find(query) {
      check();
      return findTagged(sessions, query);
    },
    async sessions({ after, limit }) {
      check();
      return [...sessions]
        .filter(([id]) => after === undefined || byCodePoint(id, after) > 0)
        .toSorted(([a], [b]) => byCodePoint(a, b))
        .slice(0, Math.max(0, limit))
        .map(([session, { head }]) => ({ session, head }));
    },
    async audit(session, { after, limit, kinds }) {
      check();
      const kept = sessions.get(session)?.audit ?? [];
      return kept
        .filter(({ seq, kind }) => seq > after && (kinds?.includes(kind) ?? true))
        .slice(0, Math.max(0, limit));
    },
    now: options.now ?? Date.now,
    [Symbol.asyncDispose]: close,
  };
}

interface Session {
  head: Offset;
  readonly batches: Batch[];
  readonly rows: Map<string, Row>;
  readonly due: Map<string, Due>;
  readonly tags: Map<string, TagChange>;
  audit: readonly AuditRow[];
}

function applyAll(sessions: Map<string, Session>, changes: readonly Change[]): Outcome[] {
  const broken = new Broken();
  return changes.map((change) => {
    const error = broken.refusal(change);
    const outcome: Outcome = error ? { type: "failed", error } : apply(sessions, change);
    if (outcome.type === "failed") broken.add(change, outcome.error);
    return outcome;
  });
}

/** Checks all before it writes anything: a commit is all or nothing. */
function apply(sessions: Map<string, Session>, change: Change): Outcome {
  if (change.type === "delete") {
    sessions.delete(change.session);
    return { type: "done" };
  }
  if (change.type === "audit") {
    const error = malformedAudit(change.session, change.records);
    if (error) return { type: "failed", error };
    const session = sessions.get(change.session);
    if (session) session.audit = addAudit(session.audit, change.records);
    return { type: "done" };
  }
  if (change.type === "erase") {
    const session = sessions.get(change.session);
    if (session) erase(session, change.erasure);
    return { type: "done" };
  }
  const { commit } = change;
  const error = malformed(commit);
  if (error) return { type: "failed", error };
  const session = sessions.get(commit.session);
  if ((session?.head ?? null) !== commit.expect) {
    return { type: "conflict", head: session?.head ?? null };
  }
  if (session) write(session, commit);
  else sessions.set(commit.session, write(newSession(commit.head), commit));
  return { type: "done" };
}

function erase(session: Session, { batches, late }: Erasure): void {
  for (const batch of batches) {
    const at = session.batches.findIndex(({ last }) => last === batch.last);
    if (at >= 0) session.batches[at] = { ...batch };
  }
  if (late === undefined) return;
  session.audit = session.audit.map((row) =>
    row.kind === "late" && row.group === late ? { ...row, content: null } : row,
  );
}

function newSession(head: Offset): Session {
  return { head, batches: [], rows: new Map(), due: new Map(), tags: new Map(), audit: [] };
}

function write(session: Session, commit: Commit): Session {
  session.head = commit.head;
  if (commit.batch) session.batches.push({ ...commit.batch });
  for (const { kind, id, value } of commit.rows) {
    if (value === null) session.rows.delete(keyOf(kind, id));
    else session.rows.set(keyOf(kind, id), { kind, id, value });
  }
  for (const { kind, id, at, group } of commit.due) {
    if (at === null) session.due.delete(keyOf(kind, id));
    else session.due.set(keyOf(kind, id), { session: commit.session, kind, id, at, group });
  }
  for (const change of commit.tags ?? []) {
    if (change.tags === null) session.tags.delete(keyOf(change.kind, change.id));
    else session.tags.set(keyOf(change.kind, change.id), change);
  }
  return session;
}

function findTagged(sessions: Map<string, Session>, query: FindQuery): FoundRows {
  const { kind, tags, before = Infinity, after, newestFirst, limit } = query;
  const all = [...sessions].flatMap(([session, { rows, tags: tagged }]) =>
    [...tagged.values()].flatMap((change) => {
      const row = rows.get(keyOf(kind, change.id));
      if (change.kind !== kind || !row || !(change.at < before)) return [];
      if (!tags.every((tag) => change.tags?.includes(tag))) return [];
      return [{ session, id: change.id, at: change.at, value: row.value }];
    }),
  );
  const ordered = all.toSorted((a, b) => {
    const order = a.at - b.at || byCodePoint(placeOf(a), placeOf(b));
    return newestFirst ? -order : order;
  });
  const place =
    after === undefined ? 0 : ordered.findIndex((row) => isBeyond(row, after, newestFirst));
  const rows: FoundRow[] = [];
  let bytes = 0;
  for (const row of place < 0 || !(limit > 0) ? [] : ordered.slice(place)) {
    rows.push(row);
    bytes += row.value.length;
    if (rows.length >= limit || bytes >= MOST_FOUND)
      return { rows, next: `${row.at} ${placeOf(row)}` };
  }
  return { rows };
}

function placeOf({ session, id }: FoundRow): string {
  return JSON.stringify([session, id]);
}

function isBeyond(row: FoundRow, cursor: string, newestFirst = false): boolean {
  const [, time = "", place = ""] = /^(-?\d+) (.*)$/s.exec(cursor) ?? [];
  const order = row.at - Number(time) || byCodePoint(placeOf(row), place);
  return time !== "" && (newestFirst ? order < 0 : order > 0);
}

function batchesAfter(batches: readonly Batch[], after: Offset, maxBytes: number): Batch[] {
  const found: Batch[] = [];
  let bytes = 0;
  for (let index = firstAfter(batches, after); index < batches.length; index += 1) {
    const batch = batches[index];
    if (batch === undefined) break;
    found.push(batch);
    bytes += Buffer.byteLength(batch.json);
    if (bytes >= maxBytes) break;
  }
  return found;
}

/** The index of the first batch whose last entry is after `after`. */
function firstAfter(batches: readonly Batch[], after: Offset): number {
  let low = 0;
  let high = batches.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((batches[middle]?.last ?? "") > after) high = middle;
    else low = middle + 1;
  }
  return low;
}

function isDue(due: Due, query: DueQuery): boolean {
  return (
    due.at <= query.before &&
    query.kinds.includes(due.kind) &&
    (query.group === undefined || query.group === due.group)
  );
}

function keyOf(kind: string, id: string): string {
  return JSON.stringify([kind, id]);
}

function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
