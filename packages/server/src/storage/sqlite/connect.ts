import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StorageError } from "../storage.ts";
import { createDatabase, createDirectory } from "./create.ts";
import { examine } from "./examine.ts";
import { hasLock, lockDirectory } from "./lock.ts";
import { DATABASE_FILE } from "./schema.ts";

export interface Connection {
  readonly database: DatabaseSync;
  /** Writes the log back into the database and empties it, so that no file holds what was replaced. */
  truncate(): void;
  /** Checkpoints, so that only the database and the lock's file remain, closes and frees the directory. */
  close(): void;
}

/**
 * Takes a directory, makes its database where there is none, and opens it for writing.
 *
 * @throws StorageError `in_use`, `other_version` or `damaged`, with nothing on disk changed.
 */
export function connect(directory: string): Connection {
  createDirectory(directory);
  // Where no storage was ever opened, no one has the database open, and no lock's file may appear if it is refused.
  if (!hasLock(directory)) examine(directory);
  const lock = lockDirectory(directory);
  try {
    if (!examine(directory)) createDatabase(directory);
    const database = openDatabase(directory);
    const truncate = () => database.exec("pragma wal_checkpoint(truncate)");
    return {
      database,
      truncate,
      close() {
        try {
          truncate();
        } finally {
          database.close();
          lock.close();
        }
      },
    };
  } catch (error) {
    lock.close();
    throw error;
  }
}

function openDatabase(directory: string): DatabaseSync {
  const database = new DatabaseSync(join(directory, DATABASE_FILE), { timeout: 5000 });
  try {
    // What is erased is overwritten, in pages that are freed too. Earlier versions of a row are gone so as well: it was
    // always on.
    // Checkpoints every 16 MiB: pages that many commits touch are then copied once. The cache (32 MB) holds more than
    // that, and a log that a large group blew up shrinks again.
    database.exec(`
      pragma synchronous = full;
      pragma secure_delete = on;
      pragma cache_size = -32000;
      pragma wal_autocheckpoint = 4000;
      pragma journal_size_limit = 67108864;
      pragma trusted_schema = off;
    `);
    const mode = database.prepare("pragma journal_mode = wal").get()?.["journal_mode"];
    if (mode !== "wal") {
      throw new StorageError(
        "failed",
        `SQLite cannot keep a write-ahead log in ${directory} (it offers "${String(mode)}"). Use a local disk.`,
      );
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
