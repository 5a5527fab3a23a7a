import type { DatabaseSync } from "node:sqlite";
import { StorageError, type Batch } from "../storage.ts";

/**
 * The batches of all sessions, one after the other as they came. Each lies somewhere else by session and offset, so an
 * index that is kept with every commit costs a page per session in each; here the newest are found by memory, and the
 * index takes them over many at a time. Everything but `after` is part of the transaction its caller is in.
 */
export interface Batches {
  add(session: number, batch: Batch): void;
  /** Those whose last entry is after `after`, oldest first. */
  after(session: number, after: string): Iterable<Batch>;
  /** Puts another text in place of a batch's; nothing where there is no such batch. */
  replace(session: number, last: string, json: string): void;
  /** Removes a session's first few. @returns how many */
  remove(session: number, most: number): number;
  /** To be called at the end of a transaction that added some. */
  settle(): void;
  /** To be called after one was undone, or a part of it: what memory has is read again before it is used. */
  forget(): void;
}

export interface BatchesOptions {
  /** How many are found by memory before the index takes them over. The more, the fewer of its pages each costs. */
  readonly newest: number;
  /** How many more it takes over with one commit than that added, so that none waits for all of them. */
  readonly piece: number;
}

const DEFAULTS: BatchesOptions = { newest: 2048, piece: 128 };

interface Place {
  readonly n: number;
  readonly last: string;
}

/** @throws StorageError `damaged` where it is not known how far the index goes */
export function createBatches(
  database: DatabaseSync,
  { newest: enough, piece }: BatchesOptions = DEFAULTS,
): Batches {
  const insert = database.prepare(
    "insert into batch (n, session, last, after, count, json) values (?, ?, ?, ?, ?, ?)",
  );
  const byNumber = database.prepare("select after, last, count, json from batch where n = ?");
  const byPlace = database.prepare(
    `select batch.after, batch.last, batch.count, batch.json from place join batch on batch.n = place.n
     where place.session = ? and place.last > ? order by place.last`,
  );
  const index = database.prepare("insert into place (session, last, n) values (?, ?, ?)");
  const noteIndexed = database.prepare("update indexed set upto = ?");
  const findIndexed = database.prepare("select upto from indexed");
  const findHighest = database.prepare("select max(n) as n from batch");
  const findNewest = database.prepare(
    `select n, session, last from batch where n > ? and not exists
     (select 1 from place where place.session = batch.session and place.last = batch.last) order by n`,
  );
  const update = database.prepare(
    "update batch set json = ? where n = (select n from place where session = ? and last = ?)",
  );
  const first = "from place where session = ? order by last limit ?";
  const dropBatches = database.prepare(`delete from batch where n in (select n ${first})`);
  const dropPlaces = database.prepare(
    `delete from place where session = ? and last in (select last ${first})`,
  );
  /** Those that the index does not have, by session, oldest first. */
  const newest = new Map<number, Place[]>();
  let count = 0;
  let highest = 0;
  /** The highest when the index last took some over. */
  let settled = 0;
  let isStale = true;
  /** The sessions whose turn it is to be indexed, the last one first; then all batches up to a number are. */
  let pass: { readonly sessions: number[]; readonly upto: number } | undefined;

  /** What was undone may still be in memory: everything below begins with it. */
  function load(): void {
    if (!isStale) return;
    newest.clear();
    count = 0;
    pass = undefined;
    const upto = findIndexed.get()?.["upto"];
    if (typeof upto !== "number") {
      throw new StorageError(
        "damaged",
        "Nothing says how far the index of batches goes: restore a backup.",
      );
    }
    settled = highest = Math.max(upto, Number(findHighest.get()?.["n"]));
    for (const { n, session, last } of findNewest.iterate(upto)) {
      remember(Number(session), { n: Number(n), last: String(last) });
    }
    isStale = false;
  }

  function remember(session: number, place: Place): void {
    const places = newest.get(session);
    if (places) places.push(place);
    else newest.set(session, [place]);
    count += 1;
  }

  /** Has the index take over a session's oldest ones. @returns how many */
  function takeOver(session: number, atMost = Number.MAX_SAFE_INTEGER): number {
    const places = newest.get(session) ?? [];
    const taken = places.splice(0, atMost);
    for (const { n, last } of taken) index.run(session, last, n);
    if (places.length === 0) newest.delete(session);
    count -= taken.length;
    return taken.length;
  }

  load();
  return {
    add(session, { last, after, count: entries, json }) {
      load();
      highest += 1;
      insert.run(highest, session, last, after, entries, json);
      remember(session, { n: highest, last });
    },
    *after(session, after) {
      load();
      // The schema says what the columns hold; `as` says it to the compiler.
      yield* byPlace.iterate(session, after) as unknown as Iterable<Batch>;
      for (const { n, last } of newest.get(session) ?? []) {
        if (last > after) yield byNumber.get(n) as unknown as Batch;
      }
    },
    replace(session, last, json) {
      load();
      takeOver(session);
      update.run(json, session, last);
    },
    remove(session, most) {
      load();
      takeOver(session);
      const { changes } = dropBatches.run(session, most);
      dropPlaces.run(session, session, most);
      return Number(changes);
    },
    settle() {
      load();
      const most = piece + highest - settled;
      settled = highest;
      if (count >= enough) pass ??= { sessions: sessionsOf(newest), upto: highest };
      for (let done = 0; pass && done < most;) {
        const session = pass.sessions.at(-1);
        if (session === undefined) {
          noteIndexed.run(pass.upto);
          pass = undefined;
        } else {
          done += takeOver(session, most - done);
          if (!newest.has(session)) pass.sessions.pop();
        }
      }
    },
    forget() {
      isStale = true;
    },
  };
}

/** Highest key first. */
function sessionsOf(newest: ReadonlyMap<number, unknown>): number[] {
  return [...newest.keys()].toSorted((a, b) => b - a);
}
