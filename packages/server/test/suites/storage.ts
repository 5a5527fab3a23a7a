import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Storage, StorageConflict } from "../../src/storage/storage.ts";
import {
  addition,
  at,
  batch,
  creation,
  dump,
  late,
  refused,
  rowsOnly,
  sorted,
  unwritable,
} from "./commits.ts";
import { settle } from "./settle.ts";
import { auditSuite } from "./storage-audit.ts";
import { eraseSuite } from "./storage-erase.ts";
import { findSuite } from "./storage-find.ts";
import { indexSuite } from "./storage-index.ts";

/**
 * Makes an empty storage; `reopen`, where a storage lasts, closes it and opens the same one again. When a test is over
 * its storage is closed, or else released.
 */
export type OpenStorage = () => Promise<{
  readonly storage: Storage;
  readonly reopen?: () => Promise<Storage>;
  readonly release?: () => Promise<void>;
}>;

const everything = Number.MAX_SAFE_INTEGER;

/** Every promise of the storage contract, as tests of an implementation. */
export function storageSuite(name: string, open: OpenStorage): void {
  describe(name, () => {
    let storage: Storage;
    let reopen: (() => Promise<Storage>) | undefined;
    let release: (() => Promise<void>) | undefined;

    beforeEach(async () => {
      ({ storage, reopen, release } = await open());
    });
    afterEach(async () => {
      await (release?.() ?? storage[Symbol.asyncDispose]());
    });

    describe("append", () => {
      test("creates a session", async () => {
        await storage.append(creation("s"));
        expect(await dump(storage, "s")).toEqual({ head: at(0), rows: [], batches: [] });
      });

      test("creates a session with its first entries", async () => {
        await storage.append({ ...addition("s", 0, 2), expect: null });
        expect(await dump(storage, "s")).toEqual({ head: at(2), rows: [], batches: [batch(0, 2)] });
      });

      test("creating a session that exists conflicts and names its head", async () => {
        await storage.append({ ...addition("s", 0), expect: null });
        const again = storage.append(
          creation("s", { rows: [{ kind: "k", id: "i", value: "lost" }] }),
        );
        await expect(again).rejects.toThrow(StorageConflict);
        await expect(again).rejects.toMatchObject({ session: "s", head: at(1) });
        expect(await dump(storage, "s")).toEqual({ head: at(1), rows: [], batches: [batch(0, 1)] });
      });

      test.each([
        ["behind the head", 0],
        ["ahead of the head", 2],
      ])("a commit %s conflicts and writes nothing", async (_, expected) => {
        await storage.append(creation("s"));
        await storage.append(addition("s", 0));
        const before = await dump(storage, "s");
        const late = storage.append(
          addition("s", expected, 9, {
            rows: [{ kind: "k", id: "i", value: "lost" }],
            due: [{ kind: "k", id: "i", at: 1, group: "" }],
          }),
        );
        await expect(late).rejects.toThrow(StorageConflict);
        await expect(late).rejects.toMatchObject({ session: "s", head: at(1) });
        expect(await dump(storage, "s")).toEqual(before);
        expect(await storage.due({ kinds: ["k"], before: 9, limit: 9 })).toEqual([]);
      });

      test("a commit of rows alone conflicts when the head has moved", async () => {
        await storage.append(creation("s"));
        await storage.append(addition("s", 0));
        const rows = [{ kind: "k", id: "i", value: "lost" }];
        await expect(storage.append(rowsOnly("s", 0, { rows }))).rejects.toThrow(StorageConflict);
        expect((await storage.rows("s"))?.rows).toEqual([]);
      });

      test("appending to an unknown session conflicts with nothing as its head", async () => {
        const append = storage.append(addition("s", 0));
        await expect(append).rejects.toThrow(StorageConflict);
        await expect(append).rejects.toMatchObject({ session: "s", head: null });
        expect(await storage.rows("s")).toBeUndefined();
      });

      test("appends of a session called at once are applied in the order of the calls", async () => {
        const order: number[] = [];
        const appends = [storage.append(creation("s")).then(() => order.push(0))];
        for (let seq = 0; seq < 200; seq += 1) {
          appends.push(storage.append(addition("s", seq)).then(() => order.push(seq + 1)));
        }
        await Promise.all(appends);
        expect(order).toEqual(Array.from({ length: 201 }, (_, index) => index));
        const batches = await storage.entries("s", "", everything);
        expect(batches).toEqual(Array.from({ length: 200 }, (_, seq) => batch(seq, seq + 1)));
      });

      test("of two commits on one head, the first called is applied and the other conflicts", async () => {
        await storage.append(creation("s"));
        const mine = { ...addition("s", 0), batch: batch(0, 1, `["mine"]`) };
        const results = await settle([storage.append(mine), storage.append(addition("s", 0))]);
        expect(results).toEqual(["done", "conflict"]);
        expect((await storage.entries("s", "", everything)).map(({ json }) => json)).toEqual([
          `["mine"]`,
        ]);
      });
    });

    describe("a group", () => {
      test("a conflict of one session leaves the others alone", async () => {
        await Promise.all(["a", "b", "c"].map((session) => storage.append(creation(session))));
        const results = await settle([
          storage.append(addition("a", 0)),
          storage.append(addition("b", 5)),
          storage.append(addition("c", 0)),
        ]);
        expect(results).toEqual(["done", "conflict", "done"]);
        expect(await heads(storage)).toEqual({ a: at(1), b: at(0), c: at(1) });
      });

      test("after a conflict, the commits that follow it conflict too", async () => {
        await storage.append(creation("a"));
        const results = await settle([
          storage.append(addition("a", 1)),
          storage.append(addition("a", 2)),
          storage.append(rowsOnly("a", 3, { rows: [{ kind: "k", id: "i", value: "lost" }] })),
        ]);
        expect(results).toEqual(["conflict", "conflict", "conflict"]);
        expect(await dump(storage, "a")).toEqual({ head: at(0), rows: [], batches: [] });
      });

      test("a commit that cannot be written leaves nothing behind and the others alone", async () => {
        const row = (value: string) => ({ kind: "k", id: "i", value });
        for (const session of ["a", "b", "c"]) {
          await storage.append(creation(session, { rows: [row("old")] }));
          await storage.append(addition(session, 0));
        }
        const due = [{ kind: "k", id: "i", at: 1, group: "" }];
        const results = await settle([
          storage.append(addition("a", 1, 2, { rows: [row("new")] })),
          storage.append(unwritable("b", 1, { rows: [row("lost")], due })),
          storage.append(addition("c", 1, 2, { rows: [row("new")] })),
          storage.append(creation("d")),
        ]);
        expect(results).toEqual(["done", "failed", "done", "done"]);
        expect(await heads(storage)).toEqual({ a: at(2), b: at(1), c: at(2), d: at(0) });
        expect((await storage.rows("a"))?.rows).toEqual([row("new")]);
        expect((await storage.rows("b"))?.rows).toEqual([row("old")]);
        expect(await storage.due({ kinds: ["k"], before: 9, limit: 9 })).toEqual([]);
        await storage.append(addition("b", 1));
        expect(await heads(storage)).toMatchObject({ b: at(2) });
      });

      test("what was called after a commit that fails, and before it failed, rejects", async () => {
        const rows = [{ kind: "k", id: "i", value: "lost" }];
        await Promise.all(["a", "b"].map((session) => storage.append(creation(session))));
        const surrogate = [{ kind: "k", id: "i", value: "\ud800" }];
        const results = await settle([
          storage.append(rowsOnly("a", 0, { rows: surrogate })),
          storage.append(rowsOnly("a", 0, { rows })),
          storage.append(addition("a", 0)),
          storage.append(rowsOnly("b", 0, { rows })),
        ]);
        expect(results).toEqual(["failed", "failed", "failed", "done"]);
        expect(await dump(storage, "a")).toEqual({ head: at(0), rows: [], batches: [] });
        await storage.append(addition("a", 0));
        expect(await heads(storage)).toEqual({ a: at(1), b: at(0) });
      });

      test("deleting a session lets it begin again within the group", async () => {
        await storage.append({ ...addition("a", 0), expect: null });
        const results = await settle([
          storage.append(unwritable("a", 1)),
          storage.delete("a"),
          storage.append(creation("a")),
          storage.append(addition("a", 0, 3)),
        ]);
        expect(results).toEqual(["failed", "done", "done", "done"]);
        expect(await dump(storage, "a")).toEqual({ head: at(3), rows: [], batches: [batch(0, 3)] });
      });

      test("nothing is applied before the call that appends it has returned", async () => {
        const append = storage.append(creation("a"));
        let resolved = false;
        const mark = append.then(() => (resolved = true));
        expect(resolved).toBe(false);
        await mark;
        expect(await heads(storage)).toEqual({ a: at(0) });
      });
    });

    describe("rows", () => {
      test("are put, replaced and removed", async () => {
        const one = { kind: "message", id: "1", value: "one" };
        const two = { kind: "message", id: "2", value: "two" };
        const call = { kind: "call", id: "1", value: "call" };
        await storage.append(creation("s", { rows: [one, two] }));
        await storage.append(rowsOnly("s", 0, { rows: [{ ...one, value: "1" }, call] }));
        expect((await dump(storage, "s")).rows).toEqual([call, { ...one, value: "1" }, two]);
        const gone = { kind: "message", id: "none", value: null };
        await storage.append(addition("s", 0, 1, { rows: [{ ...one, value: null }, gone] }));
        expect((await dump(storage, "s")).rows).toEqual([call, two]);
      });

      test("of one commit are changed in their order", async () => {
        const row = (value: string | null) => ({ kind: "k", id: "i", value });
        await storage.append(creation("s", { rows: [row("a"), row(null), row("b")] }));
        expect((await storage.rows("s"))?.rows).toEqual([row("b")]);
      });

      test("belong to their session", async () => {
        const row = (value: string | null) => ({ kind: "k", id: "i", value });
        await storage.append(creation("a", { rows: [row("a")] }));
        await storage.append(creation("b", { rows: [row("b")] }));
        await storage.append(rowsOnly("a", 0, { rows: [row(null)] }));
        expect((await storage.rows("a"))?.rows).toEqual([]);
        expect((await storage.rows("b"))?.rows).toEqual([row("b")]);
      });

      test("are those of the head they come with", async () => {
        await storage.append(creation("s"));
        let writing = true;
        const writer = (async () => {
          for (let seq = 0; seq < 300; seq += 1) {
            const rows = ["x", "y"].map((id) => ({ kind: "k", id, value: at(seq + 1) }));
            await storage.append(addition("s", seq, seq + 1, { rows }));
          }
          writing = false;
        })();
        while (writing) {
          const found = await storage.rows("s");
          for (const row of found?.rows ?? []) expect(row.value).toBe(found?.head);
        }
        await writer;
      });

      test("of an unknown session are undefined", async () => {
        expect(await storage.rows("s")).toBeUndefined();
      });

      test("are read with all that was appended before", async () => {
        await storage.append(creation("s"));
        for (let seq = 0; seq < 50; seq += 1) {
          await storage.append(addition("s", seq));
          expect((await storage.rows("s"))?.head).toBe(at(seq + 1));
        }
      });
    });

    describe("entries", () => {
      beforeEach(async () => {
        await storage.append(creation("s"));
        await storage.append(addition("s", 0, 3));
        await storage.append(addition("s", 3, 4));
        await storage.append(addition("s", 4, 9));
      });

      test.each([
        [0, [batch(0, 3), batch(3, 4), batch(4, 9)]],
        [1, [batch(0, 3), batch(3, 4), batch(4, 9)]],
        [3, [batch(3, 4), batch(4, 9)]],
        [5, [batch(4, 9)]],
        [8, [batch(4, 9)]],
        [9, []],
      ])("after entry %i begin with the batch that holds the next", async (after, expected) => {
        expect(await storage.entries("s", at(after), everything)).toEqual(expected);
      });

      test("come in pages of at least one batch, ending with the one that fills it", async () => {
        const size = Buffer.byteLength(batch(0, 3).json);
        const counts = [0, 1, size, size + 1, 2 * size, everything].map(
          async (maxBytes) => (await storage.entries("s", "", maxBytes)).length,
        );
        expect(await Promise.all(counts)).toEqual([1, 1, 1, 2, 2, 3]);
      });

      test("are measured in bytes of UTF-8", async () => {
        await storage.append(creation("wide"));
        for (const seq of [0, 1, 2]) {
          const wide = batch(seq, seq + 1, `["ééééé"]`);
          await storage.append({ ...addition("wide", seq), batch: wide });
        }
        expect(await storage.entries("wide", "", 14)).toHaveLength(1);
        expect(await storage.entries("wide", "", 15)).toHaveLength(2);
      });

      test("read page by page are all of them once", async () => {
        const seen: string[] = [];
        for (let after = at(0); ;) {
          const page = await storage.entries("s", after, 1);
          seen.push(...page.map(({ json }) => json));
          const last = page.at(-1);
          if (!last) break;
          after = last.last;
        }
        expect(seen).toEqual([batch(0, 3), batch(3, 4), batch(4, 9)].map(({ json }) => json));
      });

      test("of an unknown session are none", async () => {
        expect(await storage.entries("other", "", everything)).toEqual([]);
      });
    });

    indexSuite(() => storage);
    findSuite(() => storage);

    auditSuite(() => storage);
    eraseSuite(
      () => storage,
      () => reopen,
    );

    describe("closing", () => {
      test("waits for the appends that were called, and refuses later calls", async () => {
        const appends = [
          storage.append(creation("s")),
          ...Array.from({ length: 20 }, (_, seq) => storage.append(addition("s", seq))),
        ];
        const read = storage.sessions({ limit: 1 });
        const closed = storage[Symbol.asyncDispose]();
        const late = [
          storage.append(addition("s", 20)),
          storage.delete("s"),
          storage.rows("s"),
          storage.entries("s", "", 1),
          storage.due({ kinds: [], before: 0, limit: 1 }),
          storage.sessions({ limit: 1 }),
          storage.addAudit("s", []),
          storage.audit("s", { after: 0, limit: 1 }),
        ];
        expect(await settle(late)).toEqual(late.map(() => "closed"));
        expect(await settle([...appends, read])).toEqual([...appends, read].map(() => "done"));
        await closed;
        await storage[Symbol.asyncDispose]();
        expect(await settle([storage.append(addition("s", 20))])).toEqual(["closed"]);
        if (!reopen) return;
        storage = await reopen();
        expect(await heads(storage)).toEqual({ s: at(20) });
      });
    });

    test("a storage that lasts holds everything when it is opened again", async ({ skip }) => {
      if (!reopen) return skip("it does not last");
      const rows = [{ kind: "k", id: "i", value: "value" }];
      const due = [{ kind: "k", id: "i", at: 5, group: "g" }];
      await storage.append(creation("s", { rows, due }));
      await storage.append(addition("s", 0, 4));
      await storage.addAudit("s", [refused("one"), late("two")]);
      await storage.append(creation("gone"));
      await storage.delete("gone");
      for (let times = 0; times < 2; times += 1) {
        storage = await reopen();
        expect(await heads(storage)).toEqual({ s: at(4 + times) });
        expect((await dump(storage, "s")).rows).toEqual(rows);
        const audit = await storage.audit("s", { after: times, limit: 9 });
        expect(audit.map(({ seq }) => seq)).toEqual(times === 0 ? [1, 2] : [2, 3]);
        if (times === 0) expect(audit).toMatchObject([refused("one"), late("two")]);
        await storage.addAudit("s", [refused("next")]);
        expect(sorted(await storage.due({ kinds: ["k"], before: 5, limit: 9 }))).toEqual([
          { session: "s", kind: "k", id: "i", at: 5, group: "g" },
        ]);
        await storage.append(addition("s", 4 + times));
        await settle([storage.append(creation("s"))]);
      }
    });
  });
}

async function heads(storage: Storage): Promise<Record<string, string>> {
  const sessions = await storage.sessions({ limit: 1000 });
  return Object.fromEntries(sessions.map(({ session, head }) => [session, head]));
}
