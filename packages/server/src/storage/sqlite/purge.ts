import type { DatabaseSync } from "node:sqlite";
import type { Batches } from "./batches.ts";

/** How many rows of a table are removed at once: few enough that commits wait for no more than milliseconds. */
const PIECE = 256;

/** What deleted sessions leave, removed in pieces so that a large one does not hold up the commits of others. */
export interface Purge {
  /** Whether deleted sessions may have left something. */
  readonly pending: boolean;
  /** Removes a first piece of a session that was just deleted, and takes note of it if more is left. */
  add(key: number): void;
  /** Removes a piece. @returns whether more is left. */
  next(): boolean;
  /** A key above all in use, also by what is still to be removed. */
  firstFreeKey(): number;
}

/** Every call of `add` and `next` is part of the transaction its caller is in. */
export function createPurge(database: DatabaseSync, batches: Batches): Purge {
  const pieces = ["row", "due", "tag", "audit"].map((table) =>
    database.prepare(
      `delete from ${table} where n in (select n from ${table} where session = ? limit ${PIECE})`,
    ),
  );
  const note = database.prepare("insert into gone (key) values (?)");
  const find = database.prepare("select key from gone limit 1");
  const forget = database.prepare("delete from gone where key = ?");
  const highest = database.prepare(
    "select max((select coalesce(max(key), 0) from session), (select coalesce(max(key), 0) from gone)) as key",
  );
  let pending = find.get() !== undefined;

  /** @returns whether nothing of the session is left. */
  function removePiece(key: number): boolean {
    const removed = pieces.map((piece) => Number(piece.run(key).changes));
    removed.push(batches.remove(key, PIECE));
    return removed.every((count) => count < PIECE);
  }

  return {
    get pending() {
      return pending;
    },
    add(key) {
      if (removePiece(key)) return;
      note.run(key);
      pending = true;
    },
    next() {
      const key = Number(find.get()?.["key"] ?? 0);
      if (key !== 0 && removePiece(key)) forget.run(key);
      pending = key !== 0;
      return pending;
    },
    firstFreeKey: () => Number(highest.get()?.["key"]) + 1,
  };
}
