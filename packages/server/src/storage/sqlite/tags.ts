import type { DatabaseSync } from "node:sqlite";
import { MOST_FOUND } from "../storage.ts";
import type { FindQuery, FoundRow, FoundRows, TagChange } from "../storage.ts";

/** How many rows one search looks at, so that commits wait for no more than milliseconds. */
const LOOK = 10_000;

/** The tag that every tagged row has. */
const ANY = "";

/** How the rows of the session with a key are tagged, within its caller's transaction. */
export function createTagWriter(
  database: DatabaseSync,
): (session: number, changes: readonly TagChange[]) => void {
  const drop = database.prepare("delete from tag where session = ? and kind = ? and id = ?");
  const add = database.prepare(
    "insert into tag (session, kind, id, tag, at) values (?, ?, ?, ?, ?) on conflict do nothing",
  );

  return (session, changes) => {
    for (const { kind, id, at, tags } of changes) {
      drop.run(session, kind, id);
      if (tags === null) continue;
      add.run(session, kind, id, ANY, at);
      for (const tag of tags) add.run(session, kind, id, tag, at);
    }
  };
}

/** The search for rows by their tags. */
export function createFinder(database: DatabaseSync): (query: FindQuery) => FoundRows {
  const oldestFirst = database.prepare(search(">", "asc"));
  const newestFirst = database.prepare(search("<", "desc"));
  const has = database.prepare(
    "select 1 from tag where session = ? and kind = ? and id = ? and tag = ?",
  );

  return (query) => {
    const { kind, tags, before = Number.MAX_SAFE_INTEGER, limit } = query;
    const [first = ANY, ...others] = tags;
    const after = query.after === undefined ? start(query) : parse(query.after);
    if (!after || !(limit > 0)) return { rows: [] };
    const rows: FoundRow[] = [];
    const statement = query.newestFirst ? newestFirst : oldestFirst;
    let looked = 0;
    let bytes = 0;
    for (const found of statement.iterate(kind, first, before, ...after)) {
      const { key, value, ...row } = found as unknown as FoundRow & { readonly key: number };
      looked += 1;
      const isMatch = others.every((tag) => has.get(key, kind, row.id, tag) !== undefined);
      if (isMatch) {
        rows.push({ ...row, value });
        bytes += value.length;
      }
      if (rows.length >= limit || looked === LOOK || bytes >= MOST_FOUND)
        return { rows, next: JSON.stringify([row.at, key, row.id]) };
    }
    return { rows };
  };
}

/** A row that its tags outlived is skipped by the join, without being looked at. */
function search(beyond: ">" | "<", order: "asc" | "desc"): string {
  return `select tag.session as key, session.id as session, tag.id, tag.at, row.value
    from tag join session on session.key = tag.session
    join row on row.session = tag.session and row.kind = tag.kind and row.id = tag.id
    where tag.kind = ? and tag.tag = ? and tag.at < ? and (tag.at, tag.session, tag.id) ${beyond} (?, ?, ?)
    order by tag.at ${order}, tag.session ${order}, tag.id ${order}`;
}

type Place = [at: number, session: number, id: string];

function start({ newestFirst }: FindQuery): Place {
  return newestFirst ? [Number.MAX_SAFE_INTEGER, 0, ""] : [Number.MIN_SAFE_INTEGER, 0, ""];
}

function parse(cursor: string): Place | undefined {
  let place: unknown;
  try {
    place = JSON.parse(cursor);
  } catch {
    return undefined;
  }
  return isPlace(place) ? place : undefined;
}

function isPlace(value: unknown): value is Place {
  if (!Array.isArray(value)) return false;
  const [at, session, id] = value;
  return Number.isSafeInteger(at) && Number.isSafeInteger(session) && typeof id === "string";
}
