import type { DatabaseSync } from "node:sqlite";
import { Broken, type Change, malformed, type Outcome } from "../group.ts";
import type { Commit, StorageError } from "../storage.ts";
import { malformedAudit } from "../audit.ts";
import { createAuditWriter } from "./audit.ts";
import type { Batches } from "./batches.ts";
import { createPurge } from "./purge.ts";
import { createTagWriter } from "./tags.ts";

export interface Writer {
  /**
   * Writes a group in one transaction and tells what became of each change. A change that conflicts or fails leaves
   * nothing behind and the others alone.
   *
   * @throws whatever SQLite throws when the group as a whole fails; nothing of it is visible then.
   */
  write(changes: readonly Change[]): Outcome[];
  /** Removes a piece of what deleted sessions left, if anything. @returns whether more is left. */
  purge(): boolean;
}

/** How many sessions' keys are kept at hand. */
const KNOWN_KEYS = 10_000;

const done: Outcome = { type: "done" };

/** @param asError how an error of SQLite reads to the storage's callers. */
export function createWriter(
  database: DatabaseSync,
  batches: Batches,
  asError: (error: unknown) => StorageError,
): Writer {
  const begin = database.prepare("begin immediate");
  const commit = database.prepare("commit");
  const rollback = database.prepare("rollback");
  const savepoint = database.prepare("savepoint change");
  const release = database.prepare("release change");
  const undo = database.prepare("rollback to change");
  const apply = createApply(database, batches);

  /** Runs `work` in a transaction; when it fails, or its commit does, nothing of it stays. */
  function transact<T>(work: () => T): T {
    begin.run();
    try {
      const result = work();
      batches.settle();
      commit.run();
      return result;
    } catch (error) {
      // Some failures have rolled it back already.
      batches.forget();
      if (database.isTransaction) rollback.run();
      throw error;
    }
  }

  /** Applies one change in a savepoint of its own, so that its failure undoes nothing else. */
  function isolated(change: Change): Outcome {
    savepoint.run();
    let outcome: Outcome;
    try {
      outcome = apply.change(change);
    } catch (error) {
      if (!database.isTransaction) throw error;
      batches.forget();
      undo.run();
      outcome = { type: "failed", error: asError(error) };
    }
    release.run();
    return outcome;
  }

  return {
    write(changes) {
      // Savepoints cost a tenth of the throughput, and changes hardly ever fail: first without.
      try {
        return transact(() =>
          inOrder(changes, (change) => {
            try {
              return apply.change(change);
            } catch (error) {
              throw new ChangeFailed(error);
            }
          }),
        );
      } catch (error) {
        if (!(error instanceof ChangeFailed)) throw error;
        return transact(() => inOrder(changes, isolated));
      }
    },
    purge: () => apply.purge.pending && transact(() => apply.purge.next()),
  };
}

/** A change could not be applied, which says nothing of the others. */
class ChangeFailed extends Error {
  constructor(cause: unknown) {
    super("A change failed.", { cause });
  }
}

function inOrder(changes: readonly Change[], apply: (change: Change) => Outcome): Outcome[] {
  const broken = new Broken();
  return changes.map((change) => {
    const error = broken.refusal(change);
    const outcome: Outcome = error ? { type: "failed", error } : apply(change);
    if (outcome.type === "failed") broken.add(change, outcome.error);
    return outcome;
  });
}

function createApply(database: DatabaseSync, batches: Batches) {
  const prepare = (sql: string) => {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  };
  const findSession = prepare("select key, head from session where id = ?");
  const addSession = prepare(
    "insert into session (key, id, head) values (?, ?, ?) on conflict do nothing",
  );
  const moveHead = prepare("update session set head = ? where id = ? and head = ? returning key");
  const dropSession = prepare("delete from session where id = ? returning key");
  const putRow = prepare(
    "insert into row (session, kind, id, value) values (?, ?, ?, ?) on conflict (session, kind, id) do update set value = excluded.value",
  );
  const dropRow = prepare("delete from row where session = ? and kind = ? and id = ?");
  const putDue = prepare(
    "insert into due (session, kind, id, at, grp) values (?, ?, ?, ?, ?) on conflict (session, kind, id) do update set at = excluded.at, grp = excluded.grp",
  );
  const dropDue = prepare("delete from due where session = ? and kind = ? and id = ?");
  const moveKnown = prepare("update session set head = ? where key = ? and head = ?");
  const dropContent = prepare(
    "update audit set content = null where session = ? and kind = 'late' and grp = ?",
  );
  const addAudit = createAuditWriter(database);
  const putTags = createTagWriter(database);
  const purge = createPurge(database, batches);
  // Saves the search by id. A key that went with its session, or was never committed, matches no row, and never will.
  const keys = new Map<string, number>();
  let nextKey = purge.firstFreeKey();

  /** The session's key once its head is the commit's, or undefined if it was not at `expect`. */
  function advance({ session, expect, head }: Commit): number | undefined {
    if (expect === null) {
      const key = nextKey;
      if (addSession.run(key, session, head).changes === 0) return undefined;
      nextKey += 1;
      return key;
    }
    if (expect !== head) {
      const known = keys.get(session);
      if (known !== undefined && moveKnown.run(head, known, expect).changes !== 0) return known;
      return remember(session, first(moveHead.get(head, session, expect)));
    }
    const found = findSession.get(session);
    return second(found) === head ? first(found) : undefined;
  }

  function remember(session: string, key: number | undefined): number | undefined {
    if (keys.size >= KNOWN_KEYS) keys.clear();
    if (key !== undefined) keys.set(session, key);
    return key;
  }

  function append(commit: Commit): Outcome {
    const error = malformed(commit);
    if (error) return { type: "failed", error };
    const key = advance(commit);
    if (key === undefined) {
      return { type: "conflict", head: second(findSession.get(commit.session)) ?? null };
    }
    const { batch } = commit;
    if (batch) batches.add(key, batch);
    for (const { kind, id, value } of commit.rows) {
      if (value === null) dropRow.run(key, kind, id);
      else putRow.run(key, kind, id, value);
    }
    for (const { kind, id, at, group } of commit.due) {
      if (at === null) dropDue.run(key, kind, id);
      else putDue.run(key, kind, id, at, group);
    }
    if (commit.tags) putTags(key, commit.tags);
    return done;
  }

  return {
    purge,
    change(change: Change): Outcome {
      if (change.type === "append") return append(change.commit);
      // SQLite would take a lone surrogate for U+FFFD, and so one session for another.
      if (!change.session.isWellFormed()) return done;
      if (change.type === "audit") {
        const error = malformedAudit(change.session, change.records);
        if (error) return { type: "failed", error };
        const key = first(findSession.get(change.session));
        if (key !== undefined) addAudit(key, change.records);
        return done;
      }
      if (change.type === "erase") {
        const key = first(findSession.get(change.session));
        if (key === undefined) return done;
        const { batches: replaced, late } = change.erasure;
        for (const { last, json } of replaced) batches.replace(key, last, json);
        if (late !== undefined) dropContent.run(key, late);
        return done;
      }
      const key = first(dropSession.get(change.session));
      if (key !== undefined) purge.add(key);
      return done;
    },
  };
}

// Statements return arrays here, which their types do not know.
function first(row: unknown): number | undefined {
  return Array.isArray(row) ? row[0] : undefined;
}

function second(row: unknown): string | undefined {
  return Array.isArray(row) ? row[1] : undefined;
}
