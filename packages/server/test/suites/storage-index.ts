import { describe, expect, test } from "vitest";
import type { DueChange, Storage } from "../../src/storage/storage.ts";
import { addition, at, batch, creation, dump, rowsOnly, sorted } from "./commits.ts";

/** The part of the storage suite about what is found across sessions, deleting, and ids of every kind. */
export function indexSuite(current: () => Storage): void {
  describe("due", () => {
    const due = (id: string, time: number | null, kind = "run", group = ""): DueChange => ({
      kind,
      id,
      at: time,
      group,
    });

    async function ids(query: {
      kinds?: readonly string[];
      group?: string;
      before?: number;
      limit?: number;
    }) {
      const found = await current().due({ kinds: ["run"], before: 100, limit: 100, ...query });
      return found.map(({ id }) => id);
    }

    test("is found across sessions, soonest first, with what it is", async () => {
      await current().append(creation("a", { due: [due("3", 3), due("1", 1)] }));
      await current().append(creation("b", { due: [due("2", 2, "run", "g")] }));
      const found = await current().due({ kinds: ["run"], before: 100, limit: 100 });
      expect(found).toEqual([
        { session: "a", kind: "run", id: "1", at: 1, group: "" },
        { session: "b", kind: "run", id: "2", at: 2, group: "g" },
        { session: "a", kind: "run", id: "3", at: 3, group: "" },
      ]);
    });

    test("is found up to a time, inclusively, and up to a number", async () => {
      const all = [5, 1, 4, 2, 3].map((time) => due(`${time}`, time));
      await current().append(creation("a", { due: all }));
      expect(await ids({ before: 3 })).toEqual(["1", "2", "3"]);
      expect(await ids({ before: 0 })).toEqual([]);
      expect(await ids({ limit: 2 })).toEqual(["1", "2"]);
      expect(await ids({ limit: 0 })).toEqual([]);
      expect(await ids({ limit: -1 })).toEqual([]);
      expect(await ids({ before: Infinity, limit: Infinity })).toHaveLength(5);
    });

    test("is found by its kinds together, and by its group", async () => {
      const all = [
        due("1", 1, "timer"),
        due("2", 2, "run", "x"),
        due("3", 3, "run", "y"),
        due("4", 4, "timer", "x"),
        due("5", 5, "other", "x"),
      ];
      await current().append(creation("a", { due: all }));
      expect(await ids({ kinds: ["run", "timer"] })).toEqual(["1", "2", "3", "4"]);
      expect(await ids({ kinds: ["run", "timer", "run"], limit: 3 })).toEqual(["1", "2", "3"]);
      expect(await ids({ kinds: ["run", "timer"], group: "x" })).toEqual(["2", "4"]);
      expect(await ids({ kinds: ["run"], group: "" })).toEqual([]);
      expect(await ids({ kinds: ["none"] })).toEqual([]);
      expect(await ids({ kinds: [] })).toEqual([]);
    });

    test("moves and goes by its key", async () => {
      await current().append(creation("a", { due: [due("1", 1), due("2", 2, "run", "x")] }));
      await current().append(creation("b", { due: [due("1", 9)] }));
      await current().append(addition("a", 0, 1, { due: [due("1", 5), due("2", 2, "run", "y")] }));
      expect(await ids({})).toEqual(["2", "1", "1"]);
      expect(await ids({ group: "x" })).toEqual([]);
      expect(await ids({ group: "y" })).toEqual(["2"]);
      await current().append(rowsOnly("a", 1, { due: [due("1", null), due("none", null)] }));
      const left = await current().due({ kinds: ["run"], before: 100, limit: 100 });
      expect(left.map(({ session, id }) => [session, id])).toEqual([
        ["a", "2"],
        ["b", "1"],
      ]);
    });
  });

  describe("sessions", () => {
    async function list(query: { after?: string; limit: number }) {
      return (await current().sessions(query)).map(({ session }) => session);
    }

    test("are listed by id in pages", async () => {
      for (const session of ["b", "a", "d", "c"]) await current().append(creation(session));
      await current().append(addition("b", 0));
      expect(await current().sessions({ limit: 2 })).toEqual([
        { session: "a", head: at(0) },
        { session: "b", head: at(1) },
      ]);
      expect(await list({ after: "b", limit: 9 })).toEqual(["c", "d"]);
      expect(await list({ after: "bb", limit: 1 })).toEqual(["c"]);
      expect(await list({ after: "d", limit: 9 })).toEqual([]);
      expect(await list({ limit: 0 })).toEqual([]);
      expect(await list({ limit: -1 })).toEqual([]);
    });

    test("are in the order of their code points, the empty id first", async () => {
      const ids = ["", "A", "a", "é", "\uffee", "😀"];
      for (const session of ids.toReversed()) await current().append(creation(session));
      expect(await list({ limit: 9 })).toEqual(ids);
      expect(await list({ after: "", limit: 9 })).toEqual(ids.slice(1));
      expect(await list({ after: "\uffee", limit: 9 })).toEqual(["😀"]);
    });
  });

  describe("delete", () => {
    test("removes a session with all that belongs to it, and nothing else", async () => {
      const changes = {
        rows: [{ kind: "k", id: "i", value: "v" }],
        due: [{ kind: "k", id: "i", at: 1, group: "g" }],
      };
      for (const session of ["a", "b"]) {
        await current().append(creation(session, changes));
        await current().append(addition(session, 0));
      }
      const before = await dump(current(), "b");
      await current().delete("a");
      expect(await current().rows("a")).toBeUndefined();
      expect(await current().entries("a", "", 1000)).toEqual([]);
      expect(await current().sessions({ limit: 9 })).toEqual([{ session: "b", head: at(1) }]);
      for (const group of [{}, { group: "g" }]) {
        const due = await current().due({ kinds: ["k"], before: 9, limit: 9, ...group });
        expect(due.map(({ session }) => session)).toEqual(["b"]);
      }
      expect(await dump(current(), "b")).toEqual(before);
      await current().append(creation("a"));
      expect(await dump(current(), "a")).toEqual({ head: at(0), rows: [], batches: [] });
      expect(await current().due({ kinds: ["k"], before: 9, limit: 9 })).toHaveLength(1);
    });

    test("of an unknown session is fine", async () => {
      await current().delete("none");
      await current().delete("none");
    });

    test("of a large session leaves the one that takes its id empty", async () => {
      const rows = Array.from({ length: 1000 }, (_, id) => ({ kind: "k", id: `${id}`, value: "" }));
      const due = rows.map(({ kind, id }) => ({ kind, id, at: 1, group: "" }));
      await current().append(creation("a", { rows, due }));
      for (let seq = 0; seq < 1000; seq += 1) void current().append(addition("a", seq));
      await current().delete("a");
      await current().append(creation("a", { due: due.slice(0, 1) }));
      expect(await dump(current(), "a")).toEqual({ head: at(0), rows: [], batches: [] });
      expect(await current().due({ kinds: ["k"], before: 9, limit: 9 })).toHaveLength(1);
    });
  });

  const odd = [
    "__proto__",
    "constructor",
    `'"; drop table session; --`,
    "%_\\*?",
    "a\u0000b",
    " \n\t",
    "Straße",
    "e\u0301",
    "\u00e9",
    "👩‍👩‍👧",
    "\u{10ffff}",
    "x".repeat(10_000),
    "",
  ];

  test("ids and texts of every kind come back as they went in", async () => {
    const rows = odd.flatMap((kind) => odd.map((id) => ({ kind, id, value: kind + id })));
    const due = odd.map((id, index) => ({ kind: id, id, at: index, group: id }));
    for (const session of odd) {
      await current().append(creation(session, { rows, due }));
      await current().append({ ...addition(session, 0), batch: batch(0, 1, session) });
    }
    for (const [index, session] of odd.entries()) {
      const found = await dump(current(), session);
      expect(found).toEqual({ head: at(1), rows: sorted(rows), batches: [batch(0, 1, session)] });
      const query = { kinds: [session], group: session, before: 99, limit: 99 };
      expect(sorted(await current().due(query))).toEqual(
        sorted(
          odd.map((each) => ({
            session: each,
            kind: session,
            id: session,
            at: index,
            group: session,
          })),
        ),
      );
    }
    await current().delete("__proto__");
    expect((await current().sessions({ limit: 99 })).map(({ session }) => session)).not.toContain(
      "__proto__",
    );
    expect(await current().sessions({ limit: 99 })).toHaveLength(odd.length - 1);
  });

  test("a lone surrogate is refused, wherever it is, and names no session", async () => {
    const half = "\ud83d";
    const row = { kind: "k", id: "i", value: "v" };
    const due = { kind: "k", id: "i", at: 1, group: "" };
    const commits = [
      creation(half),
      creation("s", { rows: [{ ...row, kind: half }] }),
      creation("s", { rows: [{ ...row, id: half }] }),
      creation("s", { rows: [{ ...row, value: half }] }),
      creation("s", { due: [{ ...due, kind: half }] }),
      creation("s", { due: [{ ...due, id: half }] }),
      creation("s", { due: [{ ...due, group: half }] }),
      { ...creation("s"), head: half },
      { ...creation("s"), batch: batch(0, 1, half) },
    ];
    for (const commit of commits) {
      await expect(current().append(commit)).rejects.toMatchObject({ reason: "failed" });
    }
    await current().append(creation("\ufffd"));
    expect(await current().rows(half)).toBeUndefined();
    expect(await current().entries(half, "", 1)).toEqual([]);
    await current().delete(half);
    expect(await current().sessions({ limit: 9 })).toEqual([{ session: "\ufffd", head: at(0) }]);
  });
}
