import { describe, expect, test } from "vitest";
import {
  MOST_FOUND,
  type FindQuery,
  type FoundRow,
  type Storage,
  type TagChange,
} from "../../src/storage/storage.ts";
import { addition, creation, rowsOnly, type Changes } from "./commits.ts";

/** Rows with a time and tags, as one commit writes them. */
export function tagged(
  ...rows: readonly (readonly [id: string, at: number, tags: readonly string[] | null])[]
): Changes & { readonly tags: readonly TagChange[] } {
  return {
    rows: rows.map(([id]) => ({ kind: "call", id, value: `value ${id}` })),
    tags: rows.map(([id, at, tags]) => ({ kind: "call", id, at, tags })),
  };
}

/** The part of the storage suite about rows that are found by their tags. */
export function findSuite(current: () => Storage): void {
  describe("find", () => {
    const find = (query: Partial<FindQuery>) =>
      current().find({ kind: "call", tags: [], limit: 100, ...query });
    const ids = async (query: Partial<FindQuery>) =>
      (await find(query)).rows.map(({ session, id }) => `${session}/${id}`);

    test("gives rows of all sessions, oldest first, with their value", async () => {
      await current().append(creation("a", tagged(["1", 5, ["x"]], ["2", 1, ["x"]])));
      await current().append(creation("b", tagged(["1", 3, ["y"]])));
      expect(await find({})).toEqual({
        rows: [
          { session: "a", id: "2", at: 1, value: "value 2" },
          { session: "b", id: "1", at: 3, value: "value 1" },
          { session: "a", id: "1", at: 5, value: "value 1" },
        ],
      });
      expect(await ids({ newestFirst: true })).toEqual(["a/1", "b/1", "a/2"]);
    });

    test("gives the rows that have every tag", async () => {
      const rows = tagged(["1", 1, ["x"]], ["2", 2, ["x", "y"]], ["3", 3, ["y", "__proto__"]]);
      await current().append(creation("a", rows));
      expect(await ids({ tags: ["x"] })).toEqual(["a/1", "a/2"]);
      expect(await ids({ tags: ["y", "x"] })).toEqual(["a/2"]);
      expect(await ids({ tags: ["__proto__"] })).toEqual(["a/3"]);
      expect(await ids({ tags: ["x", "z"] })).toEqual([]);
      expect(await ids({ kind: "run" })).toEqual([]);
    });

    test("gives what a row is tagged with now, and what it says now", async () => {
      await current().append(creation("a", tagged(["1", 1, ["x"]], ["2", 2, ["x"]])));
      await current().append(addition("a", 0, 1, tagged(["1", 9, ["y"]], ["2", 2, null])));
      expect(await ids({ tags: ["x"] })).toEqual([]);
      expect(await ids({})).toEqual(["a/1"]);
      const changed = { rows: [{ kind: "call", id: "1", value: "changed" }] };
      await current().append(rowsOnly("a", 1, changed));
      expect((await find({ tags: ["y"] })).rows).toEqual([
        { session: "a", id: "1", at: 9, value: "changed" },
      ]);
    });

    test("gives no row that is not there", async () => {
      await current().append(creation("a", tagged(["1", 1, []], ["2", 2, []])));
      await current().append(rowsOnly("a", 0, { rows: [{ kind: "call", id: "1", value: null }] }));
      expect(await ids({})).toEqual(["a/2"]);
      await current().delete("a");
      expect(await ids({})).toEqual([]);
      await current().append(creation("a"));
      expect(await ids({})).toEqual([]);
    });

    test("tags nothing where the commit does not hold", async () => {
      await current().append(creation("a"));
      const stale = current().append({ ...addition("a", 5, 6, tagged(["1", 1, []])) });
      await expect(stale).rejects.toThrow(/read it again/);
      const lone = current().append(addition("a", 0, 1, tagged(["1", 1, ["\ud800"]])));
      await expect(lone).rejects.toThrow(/lone surrogate/);
      expect(await ids({})).toEqual([]);
    });

    test.each([false, true])(
      "goes on where a page ended (newest first: %s)",
      async (newestFirst) => {
        for (const session of ["a", "b", "c"]) {
          await current().append(
            creation(session, tagged(...["1", "2", "3"].map((id) => [id, 7, ["x"]] as const))),
          );
        }
        await current().append(creation("d", tagged(["0", -1, ["x"]])));
        const all = (await find({ newestFirst })).rows;
        expect(all).toHaveLength(10);
        const pages: FoundRow[] = [];
        let after: string | undefined;
        do {
          const page = await find({ newestFirst, limit: 3, ...(after !== undefined && { after }) });
          pages.push(...page.rows);
          after = page.next;
        } while (after !== undefined);
        expect(pages).toEqual(all);
      },
    );

    test("gives those before a time alone, on every page", async () => {
      const rows = (["1", "2", "3", "4", "5"] as const).map(
        (id) => [id, Number(id), ["x"]] as const,
      );
      await current().append(creation("a", tagged(...rows)));
      expect(await ids({ before: 3 })).toEqual(["a/1", "a/2"]);
      expect(await ids({ before: 3, newestFirst: true, tags: ["x"] })).toEqual(["a/2", "a/1"]);
      expect(await ids({ before: 1 })).toEqual([]);
      for (const newestFirst of [false, true]) {
        const first = await find({ before: 4, newestFirst, limit: 2 });
        expect(first.next).toBeDefined();
        const rest = await find({ before: 4, newestFirst, after: first.next ?? "" });
        const both = [...first.rows, ...rest.rows].map(({ at }) => at);
        expect(both).toEqual(newestFirst ? [3, 2, 1] : [1, 2, 3]);
      }
    });

    test("ends a page early rather than give more than it can carry", async () => {
      const value = "x".repeat(MOST_FOUND / 2);
      const big = tagged(["1", 1, []], ["2", 2, []], ["3", 3, []]);
      const rows = big.rows?.map((row) => ({ ...row, value })) ?? [];
      await current().append(creation("a", { ...big, rows }));
      const first = await find({});
      expect(first.rows.map(({ id }) => id)).toEqual(["1", "2"]);
      const rest = await find({ after: first.next ?? "" });
      expect(rest.rows.map(({ id }) => id)).toEqual(["3"]);
      expect(rest.next).toBeUndefined();
    });

    test("finds nothing without a limit, or after a place that is none", async () => {
      await current().append(creation("a", tagged(["1", 1, []])));
      expect(await find({ limit: 0 })).toEqual({ rows: [] });
      expect(await find({ limit: -1 })).toEqual({ rows: [] });
      for (const after of ["", "nonsense", "[1]", '["a",1,"b"]']) {
        expect(await find({ after })).toEqual({ rows: [] });
      }
    });
  });
}
