import { describe, expect, test } from "vitest";
import type { Storage } from "../../src/storage/storage.ts";
import { addition, at, batch, creation, dump, late, refused } from "./commits.ts";

/** The part of the storage suite about taking content out of what is stored. */
export function eraseSuite(
  current: () => Storage,
  reopen: () => (() => Promise<Storage>) | undefined,
): void {
  describe("erase", () => {
    test("puts batches in the place of those with their last offset, and leaves all else", async () => {
      const rows = [{ kind: "k", id: "i", value: "v" }];
      await current().append(creation("s", { rows }));
      for (const [after, last] of [
        [0, 2],
        [2, 3],
        [3, 5],
      ] as const)
        await current().append(addition("s", after, last));
      await current().append(creation("t"));
      await current().append(addition("t", 0, 2));
      const [before, other] = [await dump(current(), "s"), await dump(current(), "t")];
      const batches = [batch(0, 2, '["x"]'), batch(3, 5, "[]")];
      await current().erase("s", { batches });
      const expected = { ...before, batches: [batches[0], batch(2, 3), batches[1]] };
      expect(await dump(current(), "s")).toEqual(expected);
      expect(await dump(current(), "t")).toEqual(other);
      await current().append(addition("s", 5));
      const again = await reopen()?.();
      if (again) expect((await dump(again, "s")).batches?.slice(0, 3)).toEqual(expected.batches);
    });

    test("takes the content of one call's late answers, and their records stay", async () => {
      await current().append(creation("s"));
      await current().addAudit("s", [late("1", "c1"), late("2", "c2"), refused("3")]);
      await current().erase("s", { batches: [], late: "c1" });
      expect(await current().audit("s", { after: 0, limit: 9 })).toEqual([
        { seq: 1, ...late("1", "c1"), content: null },
        { seq: 2, ...late("2", "c2") },
        { seq: 3, ...refused("3") },
      ]);
    });

    test("leaves out what is not there, and makes nothing", async () => {
      await current().append(creation("s"));
      await current().append(addition("s", 0, 2));
      const before = await dump(current(), "s");
      await current().erase("s", { batches: [batch(0, 1, "[1]"), batch(2, 4, "[1]")], late: "c" });
      await current().erase("none", { batches: [batch(0, 1, "[1]")], late: "c" });
      expect(await dump(current(), "s")).toEqual(before);
      expect(await current().rows("none")).toBeUndefined();
    });

    test("takes its turn after the appends that were called before it", async () => {
      await current().append(creation("s"));
      const appended = current().append(addition("s", 0, 2));
      const erased = current().erase("s", { batches: [batch(0, 2, '["x"]')] });
      await Promise.all([appended, erased]);
      expect(await current().entries("s", at(0), 1e9)).toEqual([batch(0, 2, '["x"]')]);
    });
  });
}
