import { closeSync, existsSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { StorageError } from "../storage.ts";
import { damaged, isDamage } from "./errors.ts";
import { APPLICATION_ID, DATABASE_FILE, SCHEMA_NAMES, SCHEMA_VERSION } from "./schema.ts";

/** Up to this size a database is read in full before it is opened; above, its header and schema are. */
const CHECKED_IN_FULL = 256 * 1024 * 1024;

/**
 * Looks at a directory's database without changing a byte of it.
 *
 * Nothing of this process may have the database open: closing any file handle of it, as this does, would drop the
 * locks SQLite holds.
 *
 * @returns whether there is a database to open.
 * @throws StorageError `other_version` or `damaged`.
 */
export function examine(directory: string): boolean {
  const path = join(directory, DATABASE_FILE);
  if (!existsSync(path)) {
    if (!existsSync(`${path}-wal`)) return false;
    throw damaged(directory, `${DATABASE_FILE} is gone, but not its ${DATABASE_FILE}-wal`);
  }
  examineHeader(directory, path);
  examineContent(directory, path);
  return true;
}

/** Checks the 100 bytes every SQLite database begins with, https://sqlite.org/fileformat.html#the_database_header */
function examineHeader(directory: string, path: string): void {
  const { header, size } = readHeader(path);
  if (header.length < 100 || header.toString("latin1", 0, 16) !== "SQLite format 3\0") {
    throw damaged(directory, `${DATABASE_FILE} is not an SQLite database, or cut short`);
  }
  if (header.readUInt32BE(68) !== APPLICATION_ID) {
    throw damaged(directory, `${DATABASE_FILE} belongs to another program`);
  }
  refuseOtherVersion(directory, header.readUInt32BE(60));
  const stored = header.readUInt16BE(16);
  const bytes = header.readUInt32BE(28) * (stored === 1 ? 65536 : stored);
  // With a log beside it, the file may rightly be behind its header: a checkpoint was cut off and will be repeated.
  if (size < bytes && !hasLog(path)) {
    throw damaged(directory, `${DATABASE_FILE} has ${size} bytes where it should have ${bytes}`);
  }
}

/** Checks what SQLite makes of the file and of the log beside it. */
function examineContent(directory: string, path: string): void {
  const shared = `${path}-shm`;
  const hadShared = existsSync(shared);
  let database: DatabaseSync | undefined;
  try {
    database = openUnchanged(path, hadShared);
    // The log may say otherwise than the header: a later version may have been killed before its checkpoint.
    refuseOtherVersion(directory, Number(firstValue(database, "pragma user_version")));
    const names = database
      .prepare("select name from sqlite_schema where name not like 'sqlite\\_%' escape '\\'")
      .all()
      .map((row) => String(row["name"]))
      .toSorted();
    if (names.join() !== SCHEMA_NAMES.join()) {
      throw damaged(directory, `${DATABASE_FILE} holds other tables than it should`);
    }
    if (statSync(path).size > CHECKED_IN_FULL) return;
    const verdict = firstValue(database, "pragma quick_check(1)");
    if (verdict !== "ok") throw damaged(directory, String(verdict));
  } catch (error) {
    if (isDamage(error)) throw damaged(directory, `${DATABASE_FILE} cannot be read`, error);
    throw error;
  } finally {
    database?.close();
    if (!hadShared) rmSync(shared, { force: true });
  }
}

/**
 * Opens a database so that not even its companions change. Without a log it is opened as if it could not change.
 * With one, what an earlier process left of the shared memory may be read but not rebuilt; where none is left, SQLite
 * makes a new one, which the caller removes.
 */
function openUnchanged(path: string, hasShared: boolean): DatabaseSync {
  const url = pathToFileURL(path);
  if (!hasLog(path)) url.search = "?immutable=1";
  else if (hasShared) url.search = "?mode=ro&readonly_shm=1";
  else url.search = "?mode=ro";
  return new DatabaseSync(url, { readOnly: true });
}

function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function refuseOtherVersion(directory: string, version: number): void {
  if (version === SCHEMA_VERSION) return;
  throw new StorageError(
    "other_version",
    `The data in ${directory} has format ${version}; this version of Holdfast reads format ${SCHEMA_VERSION}. ` +
      `Run the version that wrote it, or name another directory.`,
  );
}

function readHeader(path: string): { header: Buffer; size: number } {
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(100);
    return { header: header.subarray(0, readSync(file, header)), size: statSync(path).size };
  } finally {
    closeSync(file);
  }
}

function firstValue(database: DatabaseSync, sql: string): unknown {
  return Object.values(database.prepare(sql).get() ?? {})[0];
}
