/** The database, inside the directory. SQLite puts `-wal` and `-shm` files beside it while it is open. */
export const DATABASE_FILE = "holdfast.db";

/** `application_id` of the database: "hold" in ASCII. */
export const APPLICATION_ID = 0x686f6c64;

/** `user_version` of the database; another one is not opened. */
export const SCHEMA_VERSION = 3;

/**
 * Sessions are known by integer keys inside, which are never used twice.
 *
 * Batches and rows are kept in the order they come, with an index to find them: a group that touches many sessions
 * writes a few full pages and small index pages, where a table clustered by session would write a page per session.
 * `place` is the index of the batches with an `n` up to the one in `indexed`; see `batches.ts` for those above it.
 * A row that is tagged has a `tag` for each, and one that is empty, for a search of its kind alone.
 * `gone` holds keys of deleted sessions whose content is still being removed; without its `session` row none of it
 * can be reached.
 */
export const SCHEMA = `
create table session (key integer primary key, id text not null unique, head text not null);
create table batch (
  n integer primary key, session integer not null,
  last text not null, after text not null, count integer not null, json text not null
);
create table place (
  session integer not null, last text not null, n integer not null, primary key (session, last)
) without rowid;
create table indexed (upto integer not null);
insert into indexed (upto) values (0);
create table row (
  n integer primary key, session integer not null,
  kind text not null, id text not null, value text not null
);
create unique index row_id on row (session, kind, id);
create table due (
  n integer primary key, session integer not null,
  kind text not null, id text not null, at integer not null, grp text not null
);
create unique index due_id on due (session, kind, id);
create index due_at on due (kind, at);
create index due_group on due (kind, grp, at);
create table tag (
  n integer primary key, session integer not null,
  kind text not null, id text not null, tag text not null, at integer not null
);
create unique index tag_row on tag (session, kind, id, tag);
create index tag_find on tag (kind, tag, at, session, id);
create table audit (
  n integer primary key, session integer not null, seq integer not null,
  kind text not null, grp text not null, json text not null, content text
);
create unique index audit_seq on audit (session, seq);
create index audit_kind on audit (session, kind, seq);
create index audit_group on audit (session, kind, grp, seq);
create table gone (key integer primary key);
`;

/** The tables and indexes by name, as `sqlite_schema` lists them, without those SQLite makes itself. */
export const SCHEMA_NAMES: readonly string[] = [...SCHEMA.matchAll(/(?:table|index) (\w+)/g)]
  .map((match) => match[1] ?? "")
  .toSorted();
