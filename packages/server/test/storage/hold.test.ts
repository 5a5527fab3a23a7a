import { describe, expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { addition, at, creation, dump } from "../suites/commits.ts";
import { settle } from "../suites/settle.ts";
import { withHold } from "./hold.ts";

describe("a held storage", () => {
  test("passes everything on until it is told to hold", async () => {
    const { storage } = withHold(memoryStorage({ now: () => 7 }));
    await storage.append(creation("s"));
    expect(await dump(storage, "s")).toEqual({ head: at(0), rows: [], batches: [] });
    expect(storage.now()).toBe(7);
    await storage.delete("s");
    await storage[Symbol.asyncDispose]();
    expect(await settle([storage.rows("s")])).toEqual(["closed"]);
  });

  test("keeps appends from the storage until they are released, in order", async () => {
    const inner = memoryStorage();
    const held = withHold(inner);
    await held.storage.append(creation("s"));
    held.hold("before");
    const appends = [0, 1].map((seq) => held.storage.append(addition("s", seq)));
    await held.held(2);
    expect(held.waiting().map(({ head }) => head)).toEqual([at(1), at(2)]);
    expect((await inner.rows("s"))?.head).toBe(at(0));
    held.release();
    appends.push(held.storage.append(addition("s", 2)));
    expect(await settle(appends)).toEqual(["done", "done", "done"]);
    expect((await inner.rows("s"))?.head).toBe(at(3));
  });

  test("keeps the answer of appends that are written already", async () => {
    const inner = memoryStorage();
    const held = withHold(inner);
    held.hold("after");
    const append = held.storage.append(creation("s"));
    await held.held(1);
    expect((await inner.rows("s"))?.head).toBe(at(0));
    expect(await Promise.race([append, Promise.resolve("waits")])).toBe("waits");
    held.release();
    await append;
  });

  test.each([
    ["before", undefined],
    ["after", at(0)],
  ] as const)("fails appends %s they are written", async (where, head) => {
    const inner = memoryStorage();
    const held = withHold(inner);
    held.hold(where);
    const append = held.storage.append(creation("s"));
    await held.held(1);
    held.fail(new Error("lost"));
    await expect(append).rejects.toThrow("lost");
    expect((await inner.rows("s"))?.head).toBe(head);
    expect(held.waiting()).toEqual([]);
  });
});
