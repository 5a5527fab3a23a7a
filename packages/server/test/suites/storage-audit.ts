import { describe, expect, test } from "vitest";
import { AUDIT_KEPT, type AuditKind, type Storage } from "../../src/storage/storage.ts";
import { addition, at, creation, dump, late, refused, unwritable } from "./commits.ts";
import { settle } from "./settle.ts";

/** The part of the storage suite about what is kept of refusals. */
export function auditSuite(current: () => Storage): void {
  async function read(session: string, after = 0, limit = Number.MAX_SAFE_INTEGER) {
    return current().audit(session, { after, limit });
  }
  const numbers = async (session: string) => (await read(session)).map(({ seq }) => seq);
  const range = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, n) => first + n);

  describe("the audit", () => {
    test("holds records in the order they were added, numbered in their session", async () => {
      await current().append(creation("a"));
      await current().append(creation("b"));
      await current().addAudit("a", [refused("1"), late("2")]);
      await current().addAudit("b", [late("1")]);
      await current().addAudit("a", [{ ...late("3"), content: null }]);
      expect(await read("a")).toEqual([
        { seq: 1, ...refused("1") },
        { seq: 2, ...late("2") },
        { seq: 3, ...late("3"), content: null },
      ]);
      expect(await read("b")).toEqual([{ seq: 1, ...late("1") }]);
    });

    test("is read in pages", async () => {
      await current().append(creation("s"));
      await current().addAudit(
        "s",
        range(1, 5).map((n) => refused(`${n}`)),
      );
      const page = async (after: number, limit: number) =>
        (await read("s", after, limit)).map(({ seq }) => seq);
      expect(await page(0, 2)).toEqual([1, 2]);
      expect(await page(2, 2)).toEqual([3, 4]);
      expect(await page(4, 2)).toEqual([5]);
      expect(await page(5, 2)).toEqual([]);
      expect(await page(0, 0)).toEqual([]);
      expect(await page(0, -1)).toEqual([]);
    });

    test("is read by kinds, in their common order", async () => {
      await current().append(creation("s"));
      await current().addAudit("s", [refused("1"), late("2"), refused("3"), late("4")]);
      const of = async (kinds: readonly AuditKind[], after = 0, limit = 9) =>
        (await current().audit("s", { after, limit, kinds })).map(({ seq }) => seq);
      expect(await of(["late"])).toEqual([2, 4]);
      expect(await of(["late", "refused"])).toEqual([1, 2, 3, 4]);
      expect(await of(["refused"], 1, 1)).toEqual([3]);
      expect(await of(["checkpoint"])).toEqual([]);
      expect(await of([])).toEqual([]);
    });

    test("keeps one list, and the newest checkpoints", async () => {
      await current().append(creation("s"));
      const own = { group: "", json: "{}", content: null };
      const both = [
        { kind: "list", ...own },
        { kind: "checkpoint", ...own },
      ] as const;
      const most = AUDIT_KEPT.checkpoint.ofSession;
      await current().addAudit("s", [late("1")]);
      await current().addAudit(
        "s",
        range(1, most + 1).flatMap(() => both),
      );
      const rows = await read("s");
      const count = (of: AuditKind) => rows.filter(({ kind }) => kind === of).length;
      expect([count("late"), count("list"), count("checkpoint")]).toEqual([1, 1, most]);
      expect(rows.at(-1)?.seq).toBe(1 + 2 * (most + 1));
    });

    test("changes nothing else of its session", async () => {
      await current().append(creation("s", { rows: [{ kind: "k", id: "i", value: "v" }] }));
      await current().append(addition("s", 0));
      const before = await dump(current(), "s");
      await current().addAudit("s", [refused("1")]);
      const { audit, ...rest } = await dump(current(), "s");
      expect(audit).toHaveLength(1);
      expect(rest).toEqual(before);
      await current().append(addition("s", 1));
    });

    test("of an unknown session keeps nothing, and makes no session", async () => {
      await current().addAudit("s", [refused("1")]);
      await current().addAudit("\ud83d", [refused("1")]);
      expect(await read("s")).toEqual([]);
      expect(await read("\ud83d")).toEqual([]);
      expect(await current().sessions({ limit: 9 })).toEqual([]);
      await current().append(creation("s"));
      expect(await read("s")).toEqual([]);
    });

    test("keeps the newest of a group, and all of the other groups", async () => {
      await current().append(creation("s"));
      const most = AUDIT_KEPT.late.ofGroup;
      await current().addAudit("s", [refused("1"), late("2", "quiet")]);
      for (const n of range(3, 3 + most)) await current().addAudit("s", [late(`${n}`, "loud")]);
      expect(await numbers("s")).toEqual([1, 2, ...range(4, 3 + most)]);
      await current().addAudit(
        "s",
        range(1, most + 3).map((n) => late(`${n}`, "loud")),
      );
      expect(await numbers("s")).toEqual([1, 2, ...range(3 + most + 4, 3 + most + most + 3)]);
    });

    test("keeps the newest of a kind, and all of the other kind", async () => {
      await current().append(creation("s"));
      const most = AUDIT_KEPT.refused.ofSession;
      await current().addAudit("s", [refused("1", "first"), late("2")]);
      const actors = Math.ceil(most / AUDIT_KEPT.refused.ofGroup) + 1;
      const flood = range(1, 2 * most).map((n) => refused(`${n}`, `user:${n % actors}`));
      await current().addAudit("s", flood);
      const kept = await numbers("s");
      expect(kept).toEqual([2, ...range(2 + most + 1, 2 + 2 * most)]);
      const lates = AUDIT_KEPT.late.ofSession + 5;
      await current().addAudit(
        "s",
        range(1, lates).map((n) => late(`${n}`, `call:${n}`)),
      );
      const rows = await read("s");
      expect(rows.filter(({ kind }) => kind === "late")).toHaveLength(AUDIT_KEPT.late.ofSession);
      expect(rows.filter(({ kind }) => kind === "refused")).toHaveLength(most);
      expect(rows.at(-1)?.seq).toBe(2 + 2 * most + lates);
    });

    test("of one session takes no room from another's", async () => {
      for (const session of ["a", "b"]) await current().append(creation(session));
      await current().addAudit("a", [late("1")]);
      await current().addAudit(
        "b",
        range(1, 20).map((n) => late(`${n}`)),
      );
      expect(await numbers("a")).toEqual([1]);
    });

    test("goes with its session, and begins anew with one that takes its id", async () => {
      for (const session of ["a", "b"]) {
        await current().append(creation(session));
        await current().addAudit(session, [refused("old")]);
      }
      await current().delete("a");
      expect(await read("a")).toEqual([]);
      expect(await read("b")).toHaveLength(1);
      const results = await settle([
        current().append(creation("a")),
        current().addAudit("a", [refused("lost")]),
        current().delete("a"),
        current().addAudit("a", [refused("lost")]),
        current().append(creation("a")),
        current().addAudit("a", [refused("new")]),
      ]);
      expect(results).toEqual(results.map(() => "done"));
      expect(await read("a")).toEqual([{ seq: 1, ...refused("new") }]);
    });

    test("is written whatever becomes of the commits around it, and harms none", async () => {
      await current().append(creation("s"));
      await current().append(addition("s", 0));
      const results = await settle([
        current().append(unwritable("s", 1)),
        current().addAudit("s", [refused("1")]),
        current().append(addition("s", 1)),
        current().addAudit("s", [refused("2"), { ...late("lost"), content: "\ud83d" }]),
        current().delete("none"),
      ]);
      expect(results).toEqual(["failed", "done", "failed", "failed", "done"]);
      await settle([
        current().addAudit("s", [{ ...refused("lost"), group: "\ud83d" }]),
        current().addAudit("s", [{ ...refused("lost"), json: "\ud83d" }]),
        current().append(addition("s", 1)),
      ]);
      expect((await current().rows("s"))?.head).toBe(at(2));
      expect(await read("s")).toEqual([{ seq: 1, ...refused("1") }]);
    });
  });
}
