import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { APPLICATION_ID, DATABASE_FILE, SCHEMA, SCHEMA_VERSION } from "./schema.ts";

/** Makes a directory, with its parents, such that it outlasts a loss of power. */
export function createDirectory(directory: string): void {
  const first = mkdirSync(directory, { recursive: true });
  if (first === undefined) return;
  for (let made = directory; made.length >= first.length; made = dirname(made)) {
    syncDirectory(dirname(made));
  }
}

/**
 * Makes an empty database under another name and puts it in place whole: whenever the process ends, there is a
 * complete database or none. The caller holds the directory's lock.
 */
export function createDatabase(directory: string): void {
  const path = join(directory, DATABASE_FILE);
  const draft = `${path}-new`;
  for (const rest of ["", "-journal", "-wal", "-shm"]) rmSync(draft + rest, { force: true });
  const database = new DatabaseSync(draft);
  try {
    database.exec(`
      pragma synchronous = full;
      begin;
      pragma application_id = ${APPLICATION_ID};
      pragma user_version = ${SCHEMA_VERSION};
      ${SCHEMA}
      commit;
      pragma journal_mode = wal;
    `);
  } finally {
    database.close();
  }
  renameSync(draft, path);
  syncDirectory(directory);
}

function syncDirectory(directory: string): void {
  // Windows opens no directories; its file system keeps names in order by itself.
  if (process.platform === "win32") return;
  const handle = openSync(directory, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
