import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StorageError } from "../storage.ts";
import { isBusy } from "./errors.ts";

/** The file whose lock is the directory's. It stays empty, and is never removed: that would make two locks of one. */
const LOCK_FILE = "lock.db";

/** Whether a storage was ever opened here. */
export function hasLock(directory: string): boolean {
  return existsSync(join(directory, LOCK_FILE));
}

/**
 * Makes this process the directory's only user, until `close` or until the process ends in whatever way: the lock is
 * SQLite's on a database of its own, which the system drops with the process.
 *
 * @throws StorageError `in_use` if another storage holds it, in this process or any other; nothing is changed then.
 */
export function lockDirectory(directory: string): { close(): void } {
  const database = new DatabaseSync(join(directory, LOCK_FILE), { timeout: 0 });
  try {
    // Nothing is ever written to it; its journal would be a file beside it all the same.
    database.exec("pragma journal_mode = memory; begin exclusive");
  } catch (cause) {
    database.close();
    if (!isBusy(cause)) throw cause;
    throw new StorageError(
      "in_use",
      `${directory} is in use by another Holdfast server. Stop that one, or name another directory.`,
      { cause },
    );
  }
  return database;
}
