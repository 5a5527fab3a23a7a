import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Change } from "../../src/storage/group.ts";
import { createBatches } from "../../src/storage/sqlite/batches.ts";
import { asStorageError } from "../../src/storage/sqlite/errors.ts";
import { createReader } from "../../src/storage/sqlite/read.ts";
import { SCHEMA } from "../../src/storage/sqlite/schema.ts";
import { createWriter } from "../../src/storage/sqlite/write.ts";
import { addition, at, batch, creation } from "../suites/commits.ts";

const RUNS = Number(process.env["HOLDFAST_FUZZ_RUNS"] ?? 150);
/** Few enough that every history fills the memory, and opens the directory while the index takes over. */
const SMALL = { newest: 9, piece: 3 };
const SESSIONS = ["a", "b", "c", "d"];

type Step =
  | { readonly type: "add"; readonly sessions: readonly string[]; readonly fails: number }
  | { readonly type: "full"; readonly sessions: readonly string[] }
  | { readonly type: "delete" | "erase"; readonly session: string; readonly pick: number }
  | { readonly type: "purge" | "open" };

const session = fc.constantFrom(...SESSIONS);
const some = fc.uniqueArray(session, { minLength: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ type: fc.constant("add" as const), sessions: some, fails: fc.nat(9) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("full" as const), sessions: some }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom("delete" as const, "erase" as const),
      session,
      pick: fc.nat(99),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constantFrom("purge" as const, "open" as const) }) },
);

/** What is stored, as it should be: texts by session, the n-th of them up to offset n + 1. */
type Believed = Map<string, string[]>;

function play(steps: readonly Step[]) {
  const database = new DatabaseSync(":memory:");
  database.exec(SCHEMA);
  const open = () => {
    const batches = createBatches(database, SMALL);
    const writer = createWriter(database, batches, (error) => asStorageError(error, "memory"));
    return { reader: createReader(database, batches), writer };
  };
  let { reader, writer } = open();
  const believed: Believed = new Map();
  const seen = { halfway: 0, failed: 0, full: 0 };
  let count = 0;

  const changeOf = (id: string, more: object): Change => {
    const texts = believed.get(id);
    if (!texts) return { type: "append", commit: creation(id) };
    const made = batch(texts.length, texts.length + 1, `["${(count += 1)}"]`);
    return {
      type: "append",
      commit: { ...addition(id, texts.length, undefined, more), batch: made },
    };
  };
  const take = (change: Change) => {
    if (change.type !== "append") return;
    const { session: id, batch: made } = change.commit;
    if (made) believed.get(id)?.push(made.json);
    else believed.set(id, []);
  };

  for (const it of steps) {
    if (it.type === "add") {
      const bad = { due: [{ kind: "k", id: "i", at: Number.NaN, group: "" }] };
      const changes = it.sessions.map((id, index) => changeOf(id, index === it.fails ? bad : {}));
      writer.write(changes).forEach(({ type }, index) => {
        const change = changes[index];
        if (type === "done" && change) take(change);
        else seen.failed += 1;
      });
    } else if (it.type === "full") {
      database.exec("pragma max_page_count = 1"); // as many as there are
      const large = { rows: [{ kind: "k", id: "i", value: "x".repeat(300_000) }] };
      const changes = it.sessions.map((id) => changeOf(id, large));
      try {
        writer.write(changes).forEach(({ type }, index) => {
          const change = changes[index];
          if (type === "done" && change) take(change);
        });
      } catch {
        seen.full += 1;
      }
      database.exec("pragma max_page_count = 1000000");
    } else if (it.type === "delete") {
      writer.write([{ type: "delete", session: it.session }]);
      believed.delete(it.session);
    } else if (it.type === "erase") {
      const texts = believed.get(it.session) ?? [];
      const n = it.pick % Math.max(1, texts.length);
      const batches = [batch(n, n + 1, '["erased"]')];
      writer.write([{ type: "erase", session: it.session, erasure: { batches } }]);
      if (texts.length > 0) texts[n] = '["erased"]';
    } else if (it.type === "purge") {
      writer.purge();
    } else {
      const halfway = database.prepare(
        "select coalesce((select max(n) from place), 0) > upto as is_so from indexed",
      );
      if (halfway.get()?.["is_so"] === 1) seen.halfway += 1;
      ({ reader, writer } = open());
    }
    for (const id of SESSIONS) {
      const texts = believed.get(id) ?? [];
      for (const after of [0, texts.length >> 1, texts.length]) {
        const found = reader.entries(id, after === 0 ? "" : at(after), Number.MAX_SAFE_INTEGER);
        expect(found.map(({ json }) => json)).toEqual(texts.slice(after));
      }
    }
  }
  return seen;
}

test("whatever happens, in memory or in the index, every batch is found, once and in order", () => {
  const total = { halfway: 0, failed: 0, full: 0 };
  fc.assert(
    fc.property(fc.array(step, { minLength: 30, maxLength: 120 }), (steps) => {
      const seen = play(steps);
      for (const what of ["halfway", "failed", "full"] as const) total[what] += seen[what];
    }),
    { numRuns: RUNS },
  );
  expect(Math.min(total.halfway, total.failed, total.full)).toBeGreaterThan(0);
});
