import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { asStorageError } from "../../src/storage/sqlite/errors.ts";
import { createBatches } from "../../src/storage/sqlite/batches.ts";
import { createReader } from "../../src/storage/sqlite/read.ts";
import { SCHEMA } from "../../src/storage/sqlite/schema.ts";
import { createWriter } from "../../src/storage/sqlite/write.ts";
import type { Commit } from "../../src/storage/storage.ts";
import { addition, at, batch, creation } from "../suites/commits.ts";

/** What writes, on a database in memory, with all that a reader finds of a session. */
function written() {
  const database = new DatabaseSync(":memory:");
  database.exec(SCHEMA);
  const batches = createBatches(database);
  const reader = createReader(database, batches);
  const writer = createWriter(database, batches, (error) => asStorageError(error, "memory"));
  const append = (...commits: readonly Commit[]) =>
    writer.write(commits.map((commit) => ({ type: "append", commit }))).map(({ type }) => type);
  const lasts = (session: string) =>
    reader.entries(session, "", Number.MAX_SAFE_INTEGER).map(({ last }) => last);
  return { database, append, lasts };
}

test("a group that does not fit leaves nothing, and the next one that fits is found whole", () => {
  const { database, append, lasts } = written();
  append(creation("a"), creation("b"));
  const pages = (most: string) => database.exec(`pragma max_page_count = ${most}`);
  const large = { kind: "k", id: "i", value: "x".repeat(1_000_000) };
  pages("64");
  expect(() => append(addition("a", 0), addition("b", 0, 1, { rows: [large] }))).toThrow("full");
  expect([lasts("a"), lasts("b")]).toEqual([[], []]);
  pages("100000");
  expect(append(addition("a", 0), addition("b", 0, 1, { rows: [large] }))).toEqual([
    "done",
    "done",
  ]);
  expect([lasts("a"), lasts("b")]).toEqual([[at(1)], [at(1)]]);
});

test("a change that fails half way leaves no batch, and those around it theirs", () => {
  const { append, lasts } = written();
  append(creation("a"), creation("b"), creation("c"));
  const due = [{ kind: "k", id: "i", at: Number.NaN, group: "" }];
  const outcomes = append(addition("a", 0), addition("b", 0, 1, { due }), addition("c", 0));
  expect(outcomes).toEqual(["done", "failed", "done"]);
  expect([lasts("a"), lasts("b"), lasts("c")]).toEqual([[at(1)], [], [at(1)]]);
  expect(append(addition("b", 0), addition("a", 1))).toEqual(["done", "done"]);
  expect([lasts("a"), lasts("b"), lasts("c")]).toEqual([[at(1), at(2)], [at(1)], [at(1)]]);
});

test("the index takes over what was written long ago, and nothing of it is missed", () => {
  const { database, append, lasts } = written();
  append(creation("a"));
  for (let head = 0; head < 3_000; head += 1) append(addition("a", head));
  const { n } = database.prepare("select count(*) as n from place").get() ?? {};
  expect(n).toBeGreaterThan(2_000);
  expect(lasts("a")).toEqual(Array.from({ length: 3_000 }, (_, head) => at(head + 1)));
});

test("a batch that its commit does not end with is refused, and nobody else's with it", () => {
  const { append, lasts } = written();
  append(creation("a"), creation("b"));
  const ahead = { ...addition("a", 0, 1), batch: batch(0, 2) };
  expect(append(ahead, addition("b", 0))).toEqual(["failed", "done"]);
  expect(append({ ...addition("a", 0, 0), batch: batch(0, 0) })).toEqual(["failed"]);
  expect(append(addition("a", 0), addition("b", 1))).toEqual(["done", "done"]);
  expect([lasts("a"), lasts("b")]).toEqual([[at(1)], [at(1), at(2)]]);
});
