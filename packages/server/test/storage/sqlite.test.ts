import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { startClient } from "../../src/storage/sqlite/client.ts";
import { openSqlite, sqliteStorage } from "../../src/storage/sqlite/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { until } from "../support/clock.ts";
import { addition, at, batch, creation, dump, late, refused } from "../suites/commits.ts";
import { settle } from "../suites/settle.ts";
import { storageSuite } from "../suites/storage.ts";
import { sharedDirectory, startWriter, temporaryDirectory } from "./directory.ts";

// One storage serves the suite, emptied before each test: to open one takes longer than most tests.
const shared = sharedDirectory();
let storage: Storage | undefined;

afterAll(async () => {
  await storage?.[Symbol.asyncDispose]();
});

storageSuite("sqlite", async () => {
  storage ??= await openSqlite({ directory: shared });
  for (const { session } of await storage.sessions({ limit: 1000 })) await storage.delete(session);
  return {
    storage,
    async reopen() {
      await storage?.[Symbol.asyncDispose]();
      storage = await openSqlite({ directory: shared });
      return storage;
    },
    release: () => Promise.resolve(),
  };
});

test("the connection that writes syncs every commit and keeps a write-ahead log", async () => {
  const client = await startClient(temporaryDirectory());
  const FULL = 2;
  expect(await client.call({ type: "pragmas" })).toEqual({ synchronous: FULL, journalMode: "wal" });
  await client.close();
});

test("a directory is made with its parents, and holds two files once closed", async () => {
  const directory = join(temporaryDirectory(), "a", "b");
  const storage = await openSqlite({ directory });
  await storage.append(creation("s"));
  await storage[Symbol.asyncDispose]();
  expect(readdirSync(directory).toSorted()).toEqual(["holdfast.db", "lock.db"]);
});

test("the clock is the one given", async () => {
  await using storage = await openSqlite({ directory: temporaryDirectory(), now: () => 42 });
  expect(storage.now()).toBe(42);
});

test("nothing of a deleted session stays in any file, soon, though nothing else is written", async () => {
  const directory = temporaryDirectory();
  await using storage = await openSqlite({ directory });
  const value = "s3cret-walnut".repeat(1_000);
  const rows = Array.from({ length: 2_000 }, (_, id) => ({ kind: "k", id: `${id}`, value }));
  await storage.append(creation("large", { rows }));
  await storage.append(creation("other"));
  const found = () =>
    readdirSync(directory).filter((name) =>
      readFileSync(join(directory, name), "latin1").includes("s3cret-walnut"),
    );
  expect(found()).not.toEqual([]);
  await storage.delete("large");
  await until("no file has it", () => found().length === 0);
  expect((await storage.sessions({ limit: 9 })).map(({ session }) => session)).toEqual(["other"]);
});

test("nothing of a deleted session stays in any table", async () => {
  const directory = temporaryDirectory();
  const storage = await openSqlite({ directory });
  const rows = Array.from({ length: 5000 }, (_, id) => ({ kind: "k", id: `${id}`, value: "v" }));
  const due = rows.map(({ kind, id }) => ({ kind, id, at: 1, group: "" }));
  await storage.append(creation("large", { rows, due }));
  await storage.append(creation("small", { rows: rows.slice(0, 3), due: due.slice(0, 3) }));
  await Promise.all(
    Array.from({ length: 999 }, (_, seq) => storage.append(addition("large", seq))),
  );
  const records = Array.from({ length: 1500 }, (_, n) => refused(`${n}`, `user:${n % 10}`));
  await storage.addAudit("large", records);
  await storage.addAudit("small", [refused("one"), late("two")]);
  await storage.delete("large");
  await storage.delete("small");
  await storage[Symbol.asyncDispose]();
  // What a large session leaves is removed in pieces, between calls and when it is opened again.
  const fresh = { head: at(1), rows: rows.slice(0, 1), batches: [batch(0, 1)] };
  for (let times = 0; times === 0 || countAll(directory)["gone"] !== 0; times += 1) {
    await using again = await openSqlite({ directory });
    if (times === 0) await again.append(creation("fresh", { rows: rows.slice(0, 1) }));
    if (times === 0) await again.append(addition("fresh", 0));
    expect(await dump(again, "fresh")).toEqual(fresh);
  }
  expect(countAll(directory)).toEqual({ session: 1, batch: 1, row: 1, due: 0, audit: 0, gone: 0 });
});

describe("a worker that dies", () => {
  async function dying() {
    const client = await startClient(temporaryDirectory());
    const storage = sqliteStorage(client, Date.now);
    await storage.append(creation("s"));
    return { storage, worker: client.worker };
  }

  test("rejects what is pending and what is called later", async () => {
    const { storage, worker } = await dying();
    const pending = [
      ...Array.from({ length: 500 }, (_, seq) => storage.append(addition("s", seq))),
      storage.delete("s"),
    ];
    const read = storage.rows("s");
    const results = settle([...pending, read]);
    const ended = worker.terminate();
    // The first may have been written before it died; none may hang.
    expect(new Set(await results)).toContain("failed");
    await ended;
    const late = [storage.append(addition("s", 0)), storage.rows("s"), storage.delete("s")];
    expect(await settle(late)).toEqual(["failed", "failed", "failed"]);
    await storage[Symbol.asyncDispose]();
    expect(await settle([storage.rows("s")])).toEqual(["closed"]);
  });

  test("frees the directory, which holds what was acknowledged", async () => {
    const directory = temporaryDirectory();
    const client = await startClient(directory);
    const storage = sqliteStorage(client, Date.now);
    await storage.append(creation("s"));
    await storage.append(addition("s", 0));
    await client.worker.terminate();
    await using again = await openSqlite({ directory });
    expect((await again.rows("s"))?.head).toBe(at(1));
  });
});

describe("a process that is killed", () => {
  test("loses no commit that resolved, keeps none by half, and frees the directory", async () => {
    const directory = temporaryDirectory();
    let least = 0;
    await using writer = startWriter(directory);
    expect(await writer.line()).toBe("open");
    while (least < 400) least = Number(await writer.line());
    for (const line of await writer.kill()) least = Math.max(least, Number(line));
    await using storage = await openSqlite({ directory });
    await expectWhole(storage, least);
  });

  const command = ["bash", "-c", 'ulimit -f 2048; exec "$0" "$@"'];
  test.skipIf(process.platform === "win32")(
    "a commit the disk refuses rejects its whole group, and the storage takes no more",
    async () => {
      const directory = temporaryDirectory();
      await using writer = startWriter(directory, { command });
      expect(await writer.line()).toBe("open");
      let least = 0;
      let line = await writer.line();
      for (; line !== undefined && Number(line) > 0; line = await writer.line()) {
        least = Number(line);
      }
      expect(least).toBeGreaterThan(0);
      expect(line).toBe("failed");
      expect(await writer.line()).toBe("then failed");
      expect(await writer.line()).toBeUndefined();
      await using storage = await openSqlite({ directory });
      await expectWhole(storage, least);
    },
  );
});

/** The session "s" has every commit up to `least` at least, and each of them whole. */
async function expectWhole(storage: Storage, least: number): Promise<void> {
  const { head, rows, batches } = await dump(storage, "s");
  expect(batches.length).toBeGreaterThanOrEqual(least);
  batches.forEach((batch, index) => expect(batch.last).toBe(at(index + 1)));
  expect(head).toBe(at(batches.length));
  expect(Number.parseInt(rows[0]?.value ?? "")).toBe(batches.length);
}

/** Rows per table, of a directory no storage has open. */
function countAll(directory: string): Record<string, unknown> {
  const database = new DatabaseSync(join(directory, "holdfast.db"));
  try {
    return Object.fromEntries(
      ["session", "batch", "row", "due", "audit", "gone"].map((table) => [
        table,
        database.prepare(`select count(*) as count from ${table}`).get()?.["count"],
      ]),
    );
  } finally {
    database.close();
  }
}
