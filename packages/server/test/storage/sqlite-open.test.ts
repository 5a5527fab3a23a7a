import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, describe, expect, test } from "vitest";
import { openSqlite } from "../../src/storage/sqlite/open.ts";
import type { StorageError } from "../../src/storage/storage.ts";
import { addition, at, creation } from "../suites/commits.ts";
import { hashFiles, sharedDirectory, startWriter, temporaryDirectory } from "./directory.ts";

describe("a directory in use", () => {
  test("by another process is refused, unchanged, until that process is killed", async () => {
    const directory = temporaryDirectory();
    await using writer = startWriter(directory, { commits: 4 });
    while ((await writer.line()) !== "resting");
    const before = hashFiles(directory);
    const error = await refusal(directory);
    expect(error).toMatchObject({ name: "StorageError", reason: "in_use" });
    expect(error.message).toContain(directory);
    expect(error.message).toContain("Stop that one");
    expect(hashFiles(directory)).toEqual(before);
    await writer.kill();
    await using storage = await openSqlite({ directory });
    expect(await storage.rows("s")).toBeDefined();
  });

  test("by this process is refused, and whoever holds it still does", async () => {
    const directory = temporaryDirectory();
    const storage = await openSqlite({ directory });
    await storage.append(creation("s"));
    const listing = list(directory);
    const locks = locksOf(directory);
    for (let times = 0; times < 3; times += 1) {
      expect((await refusal(directory)).reason).toBe("in_use");
    }
    expect(list(directory)).toEqual(listing);
    // No lock was dropped on the way: not the directory's, and none of the database's.
    expect(locksOf(directory)).toEqual(locks);
    await using other = startWriter(directory);
    await expect(other.line()).rejects.toThrow("is in use by another Holdfast server");
    await storage.append(addition("s", 0));
    await storage[Symbol.asyncDispose]();
    await using again = await openSqlite({ directory });
    expect((await again.rows("s"))?.head).toBe(at(1));
  });

  test("is free once its storage is closed", async () => {
    const directory = temporaryDirectory();
    for (let times = 0; times < 3; times += 1) {
      await using storage = await openSqlite({ directory });
      expect(await storage.sessions({ limit: 1 })).toEqual([]);
    }
  });
});

const originals = sharedDirectory();
const closedOriginal = join(originals, "closed");
const killedOriginal = join(originals, "killed");

beforeAll(async () => {
  mkdirSync(killedOriginal);
  await closedStorage(closedOriginal);
  await killedStorage(killedOriginal);
});

const closedDirectory = () => copyOf(closedOriginal);
const killedDirectory = () => copyOf(killedOriginal);

// What a storage leaves, by how it ended and by what else of it was lost.
const endings = [
  ["closed", closedDirectory],
  ["killed", killedDirectory],
  ["killed, its shared memory gone", () => without(killedDirectory(), "holdfast.db-shm")],
  ["closed, without the lock's file", () => without(closedDirectory(), "lock.db")],
] as const;

describe.each(endings)("a storage that was %s", (_, make) => {
  test("is opened", async () => {
    await using storage = await openSqlite({ directory: make() });
    expect(await storage.rows("s")).toBeDefined();
  });

  test.each([0, 2, 4, 4096])("of format %i is refused as another version's", async (version) => {
    const directory = make();
    overwrite(database(directory), 60, uint32(version));
    const error = await refusedUnchanged(directory);
    expect(error.reason).toBe("other_version");
    expect(error.message).toContain(`format ${version};`);
    expect(error.message).toContain(directory);
  });

  test.each([
    ["another program's", (path: string) => overwrite(path, 68, uint32(7))],
    ["not a database", (path: string) => writeFileSync(path, "not a database ".repeat(1000))],
    ["empty", (path: string) => truncateSync(path, 0)],
    ["cut within the header", (path: string) => truncateSync(path, 50)],
    ["of another schema", (path: string) => replaceSchema(path)],
  ])("and is %s is refused as damaged", async (_kind, damage) => {
    const directory = make();
    damage(database(directory));
    const error = await refusedUnchanged(directory);
    expect(error.reason).toBe("damaged");
    expect(error.message).toContain(directory);
    expect(error.message).toContain("Restore it");
  });
});

describe("a closed storage", () => {
  test.each([
    ["without a schema", (path: string) => overwrite(path, 100, Buffer.alloc(3996))],
    ["cut after its first page", (path: string) => truncateSync(path, 4096)],
    ["cut by one byte", (path: string) => truncateSync(path, statSync(path).size - 1)],
    ["zeroed in the middle", (path: string) => overwrite(path, 8192, Buffer.alloc(8192))],
    ["of wild pages", (path: string) => overwrite(path, 4096, Buffer.alloc(4096, 0xa5))],
    ["gone, though its log is there", (path: string) => renameSync(path, `${path}-wal`)],
  ])("that is %s is refused as damaged", async (_, damage) => {
    const directory = closedDirectory();
    damage(database(directory));
    expect((await refusedUnchanged(directory)).reason).toBe("damaged");
  });

  test.each([
    ["", []],
    [", without shared memory,", ["holdfast.db-shm"]],
  ])("a version raised in the log alone%s is another version", async (_, lost) => {
    const directory = closedDirectory();
    const later = new DatabaseSync(database(directory));
    later.exec("pragma user_version = 4");
    // What a later version leaves when it is killed before its checkpoint.
    const copy = copyOf(directory);
    later.close();
    for (const name of lost) rmSync(join(copy, name));
    expect((await refusedUnchanged(copy)).reason).toBe("other_version");
  });

  test("a torn end of the log is no damage: it was never acknowledged", async () => {
    const directory = killedDirectory();
    appendFileSync(`${database(directory)}-wal`, Buffer.alloc(5000, 1));
    await using storage = await openSqlite({ directory });
    expect(await storage.rows("s")).toBeDefined();
  });
});

describe("a storage that was being made", () => {
  test.each(["holdfast.db-new", "holdfast.db-new-journal", "holdfast.db-new-wal"])(
    "and left %s is made again",
    async (name) => {
      const directory = temporaryDirectory();
      writeFileSync(join(directory, name), "half");
      writeFileSync(join(directory, "lock.db"), "");
      await using storage = await openSqlite({ directory });
      await storage.append(creation("s"));
      expect(list(directory).filter((file) => file.includes("-new"))).toEqual([]);
    },
  );

  test("on a path that is a file fails and says so", async () => {
    const directory = join(temporaryDirectory(), "file");
    writeFileSync(directory, "");
    const error = await refusal(directory);
    expect(error.reason).toBe("failed");
    expect(error.message).toContain(directory);
  });

  test("where the database is a directory fails", async () => {
    const directory = temporaryDirectory();
    mkdirSync(database(directory));
    expect((await refusedUnchanged(directory, {})).reason).toBe("failed");
  });
});

/** A copy of a directory that only `beforeAll` has used, and nothing has open. */
function copyOf(original: string): string {
  const directory = temporaryDirectory();
  cpSync(original, directory, { recursive: true });
  return directory;
}

async function closedStorage(directory: string): Promise<void> {
  const storage = await openSqlite({ directory });
  const rows = Array.from({ length: 40 }, (_, id) => ({
    kind: "k",
    id: `${id}`,
    value: "x".repeat(900),
  }));
  await storage.append(creation("s", { rows }));
  await storage.append(addition("s", 0));
  await storage[Symbol.asyncDispose]();
}

async function killedStorage(directory: string): Promise<void> {
  await using writer = startWriter(directory);
  expect(await writer.line()).toBe("open");
  expect(await writer.line()).toBe("1");
  await writer.kill();
  expect(list(directory)).toEqual(["holdfast.db", "holdfast.db-shm", "holdfast.db-wal", "lock.db"]);
}

/** The error a directory is refused with, all of its files being as they were. */
async function refusedUnchanged(directory: string, files = hashFiles(directory)) {
  const error = await refusal(directory);
  if (Object.keys(files).length > 0) expect(hashFiles(directory)).toEqual(files);
  return error;
}

async function refusal(directory: string): Promise<StorageError> {
  return openSqlite({ directory }).then(
    () => expect.fail("the storage was opened"),
    (error: StorageError) => error,
  );
}

function database(directory: string): string {
  return join(directory, "holdfast.db");
}

function list(directory: string): string[] {
  return readdirSync(directory).toSorted();
}

function without(directory: string, name: string): string {
  rmSync(join(directory, name));
  return directory;
}

/** The files the system holds locks on, with the locks' kinds; nothing where it does not tell. */
function locksOf(directory: string): string[] {
  if (!existsSync("/proc/locks")) return [];
  const names = new Map(
    list(directory).map((name) => [`${statSync(join(directory, name)).ino}`, name]),
  );
  // Such as: 1: POSIX ADVISORY WRITE 4711 fe:00:1234 1073741824 1073742335
  return readFileSync("/proc/locks", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([, , , kind, , file]) => {
      const name = names.get(file?.split(":")[2] ?? "");
      return name === undefined ? [] : [`${name} ${kind}`];
    })
    .toSorted();
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

/** Puts a sound database of our number and version, with other tables, in the place of ours. */
function replaceSchema(path: string): void {
  const header = readFileSync(path).subarray(0, 100);
  for (const rest of ["", "-wal", "-shm"]) rmSync(path + rest, { force: true });
  const other = new DatabaseSync(path);
  other.exec("create table something (id integer primary key)");
  other.exec(`pragma application_id = ${header.readUInt32BE(68)}`);
  other.exec(`pragma user_version = ${header.readUInt32BE(60)}`);
  other.close();
}
