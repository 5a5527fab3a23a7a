import type { Change } from "../group.ts";
import type { AuditAddition, AuditKind, Batch, Commit, Erasure, TagChange } from "../storage.ts";

/**
 * Changes on their way between threads, one after the other in one flat array: to copy them as objects, keys and all,
 * costs either thread four times as much.
 */
export type Packed = readonly (string | number | null)[];

export function pack(changes: readonly Change[]): Packed {
  const packed: (string | number | null)[] = [];
  for (const change of changes) {
    if (change.type === "append") packCommit(packed, change.commit);
    else packed.push(change.type, change.session);
    if (change.type === "audit") packAudit(packed, change.records);
    if (change.type === "erase") packErasure(packed, change.erasure);
  }
  return packed;
}

function packCommit(packed: (string | number | null)[], commit: Commit): void {
  const { session, expect, head, batch, rows, due, tags = [] } = commit;
  packed.push("append", session, expect, head, batch?.after ?? null);
  if (batch) packed.push(batch.last, batch.count, batch.json);
  packed.push(rows.length);
  for (const { kind, id, value } of rows) packed.push(kind, id, value);
  packed.push(due.length);
  for (const { kind, id, at, group } of due) packed.push(kind, id, at, group);
  packed.push(tags.length);
  for (const { kind, id, at, tags: all } of tags) {
    packed.push(kind, id, at, all === null ? null : all.length, ...(all ?? []));
  }
}

function packAudit(packed: (string | number | null)[], records: readonly AuditAddition[]): void {
  packed.push(records.length);
  for (const { kind, group, json, content } of records) packed.push(kind, group, json, content);
}

function packErasure(packed: (string | number | null)[], { batches, late }: Erasure): void {
  packed.push(batches.length);
  for (const { after, last, count, json } of batches) packed.push(after, last, count, json);
  packed.push(late ?? null);
}

/** The changes that were packed. @throws TypeError for what {@link pack} never makes */
export function unpack(packed: Packed): Change[] {
  let at = 0;
  const changes: Change[] = [];
  while (at < packed.length) {
    const type = text();
    if (type === "append") changes.push({ type, commit: commit() });
    else if (type === "audit") changes.push({ type, session: text(), records: list(record) });
    else if (type === "erase") changes.push({ type, session: text(), erasure: erasure() });
    else changes.push({ type: "delete", session: text() });
  }
  return changes;

  function commit(): Commit {
    const session = text();
    const expect = orNull(text);
    const head = text();
    const after = orNull(text);
    const batch: Batch | undefined =
      after === null ? undefined : { after, last: text(), count: number(), json: text() };
    const rows = list(() => ({ kind: text(), id: text(), value: orNull(text) }));
    const due = list(() => ({ kind: text(), id: text(), at: orNull(number), group: text() }));
    const tags = list(tagging);
    return {
      session,
      expect,
      head,
      ...(batch && { batch }),
      rows,
      due,
      ...(tags.length > 0 && { tags }),
    };
  }

  function tagging(): TagChange {
    return { kind: text(), id: text(), at: number(), tags: orNull(() => list(text)) };
  }

  function erasure(): Erasure {
    const batches = list(() => ({ after: text(), last: text(), count: number(), json: text() }));
    const late = orNull(text);
    return { batches, ...(late !== null && { late }) };
  }

  function record(): AuditAddition {
    // What was packed was one.
    const kind = text() as AuditKind;
    return { kind, group: text(), json: text(), content: orNull(text) };
  }

  function list<T>(read: () => T): T[] {
    return Array.from({ length: number() }, read);
  }

  function orNull<T>(read: () => T): T | null {
    if (packed[at] !== null) return read();
    at += 1;
    return null;
  }

  function text(): string {
    const value = packed[at++];
    if (typeof value !== "string") throw new TypeError(`Item ${at - 1} of a group is no text.`);
    return value;
  }

  function number(): number {
    const value = packed[at++];
    if (typeof value !== "number") throw new TypeError(`Item ${at - 1} of a group is no number.`);
    return value;
  }
}
