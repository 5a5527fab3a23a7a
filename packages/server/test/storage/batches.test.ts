import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createBatches } from "../../src/storage/sqlite/batches.ts";
import { SCHEMA } from "../../src/storage/sqlite/schema.ts";
import { at, batch } from "../suites/commits.ts";

/** More than are found by memory, so that some lie in the index and some do not. */
const MANY = 5_000;

function stored() {
  const database = new DatabaseSync(":memory:");
  database.exec(SCHEMA);
  return { database, batches: createBatches(database) };
}

/** Adds one batch after the other to three sessions in turn, each with a number in its text. */
function fill({ batches }: ReturnType<typeof stored>): void {
  for (let n = 0; n < MANY; n += 1) {
    const turn = Math.floor(n / 3);
    batches.add(n % 3, { ...batch(turn, turn + 1), json: String(n) });
    if (n % 7 === 0) batches.settle();
  }
}

function textsOf({ batches }: ReturnType<typeof stored>, session: number, after = ""): number[] {
  return [...batches.after(session, after)].map(({ json }) => Number(json));
}

function expected(session: number, after = 0): number[] {
  const all = Array.from({ length: MANY }, (_, n) => n);
  return all.filter((n) => n % 3 === session && Math.floor(n / 3) + 1 > after);
}

test("batches are found by session and offset, old or new, now and by who opens them next", () => {
  const first = stored();
  fill(first);
  const second = { ...first, batches: createBatches(first.database) };
  const { upto } = first.database.prepare("select upto from indexed").get() ?? {};
  expect(upto).toBeGreaterThan(0);
  expect(upto).toBeLessThan(MANY);
  for (const of of [first, second]) {
    for (const session of [0, 1, 2, 3]) {
      expect(textsOf(of, session)).toEqual(expected(session));
      for (const after of [0, 1, 600, 700, 1_665, 9_000]) {
        expect(textsOf(of, session, at(after))).toEqual(expected(session, after));
      }
    }
  }
});

test("whoever opens them finds all, also while the index takes some over", () => {
  const { database, batches } = stored();
  const reach = database.prepare(
    "select (select max(n) from place) > upto as halfway from indexed",
  );
  let halfway = 0;
  for (let n = 0; n < MANY; n += 1) {
    batches.add(n % 50, { ...batch(n, n + 1), json: String(n) });
    batches.settle();
    if (n % 101 > 0) continue;
    if (reach.get()?.["halfway"] === 1) halfway += 1;
    const opened = { database, batches: createBatches(database) };
    for (const session of [0, 25, 49]) {
      const all = Array.from({ length: n + 1 }, (_, at) => at).filter((at) => at % 50 === session);
      expect(textsOf(opened, session)).toEqual(all);
      expect(textsOf({ database, batches }, session)).toEqual(all);
    }
  }
  expect(halfway).toBeGreaterThan(0);
});

test("an index that goes nobody knows how far is damage", () => {
  const { database } = stored();
  database.exec("delete from indexed");
  expect(() => createBatches(database)).toThrow(
    expect.objectContaining({ reason: "damaged" }) as Error,
  );
});

test("what is undone is nowhere, and its place goes to the next", () => {
  const of = stored();
  fill(of);
  const { database, batches } = of;
  database.exec("begin");
  for (let n = 0; n < MANY; n += 1) {
    batches.add(3, batch(n, n + 1));
    batches.settle();
  }
  expect(textsOf(of, 3)).toHaveLength(MANY);
  database.exec("rollback");
  batches.forget();
  expect(textsOf(of, 3)).toEqual([]);
  batches.add(1, { ...batch(9_000, 9_001), json: "7" });
  expect(textsOf(of, 1)).toEqual([...expected(1), 7]);
  expect(textsOf({ ...of, batches: createBatches(database) }, 1)).toEqual([...expected(1), 7]);
});

test("what the index took over and lost again is found all the same", () => {
  const of = stored();
  const { database, batches } = of;
  const total = 2_200; // the index is at work on them, and not done
  for (let n = 0; n < total; n += 1) {
    batches.add(n % 50, { ...batch(n, n + 1), json: String(n) });
    if (n % 50 === 49) batches.settle();
  }
  const places = () => database.prepare("select count(*) as n from place").get()?.["n"];
  const before = places();
  expect(before).toBeGreaterThan(0);
  database.exec("begin");
  batches.settle();
  expect(places()).toBeGreaterThan(Number(before));
  database.exec("rollback");
  batches.forget();
  for (let times = 0; times < total; times += 1) batches.settle();
  for (const opened of [batches, createBatches(database)]) {
    for (let session = 0; session < 50; session += 1) {
      const all = Array.from({ length: total / 50 }, (_, at) => at * 50 + session);
      expect(textsOf({ database, batches: opened }, session)).toEqual(all);
    }
  }
});

test("the index keeps up with commits of any size", () => {
  const { database, batches } = stored();
  for (let n = 0; n < 40; n += 1) {
    for (let session = 0; session < 500; session += 1) batches.add(session, batch(n, n + 1));
    batches.settle();
  }
  const { n } = database.prepare("select count(*) as n from place").get() ?? {};
  expect(n).toBeGreaterThan(20_000 - 5_000);
  expect(database.prepare("select upto from indexed").get()?.["upto"]).toBeGreaterThan(10_000);
});

test("while it cannot be read how far the index goes, nothing is written as if it were known", () => {
  const { database, batches } = stored();
  for (let n = 0; n < MANY; n += 1) batches.add(n % 50, batch(n, n + 1));
  batches.settle();
  batches.forget();
  database.exec("alter table indexed rename to gone_for_now");
  for (let times = 0; times < 2; times += 1) {
    expect(() => batches.settle()).toThrow("indexed");
    expect(() => [...batches.after(1, "")]).toThrow("indexed");
  }
  database.exec("alter table gone_for_now rename to indexed");
  for (let times = 0; times < MANY; times += 1) batches.settle();
  const opened = { database, batches: createBatches(database) };
  for (const session of [0, 25, 49]) expect(textsOf(opened, session)).toHaveLength(MANY / 50);
});

test("a text takes another's place, old or new; one that is not there is left alone", () => {
  const of = stored();
  fill(of);
  const [old, fresh] = [0, 1_666];
  for (const turn of [old, fresh]) of.batches.replace(1, batch(turn, turn + 1).last, "-1");
  of.batches.replace(1, at(9_000), "-2");
  const texts = textsOf(of, 1);
  expect(texts.filter((text) => text < 0)).toEqual([-1, -1]);
  expect([texts[old], texts[fresh - 1]]).toEqual([-1, expected(1)[fresh - 1]]);
  expect(texts[fresh]).toBe(-1);
});

test("a session's batches go piece by piece, and no number comes twice", () => {
  const of = stored();
  fill(of);
  const { database, batches } = of;
  for (let left = expected(2).length; left > 0; left -= 400) {
    expect(batches.remove(2, 400)).toBe(Math.min(400, left));
  }
  expect(batches.remove(2, 400)).toBe(0);
  for (const session of [0, 1]) while (batches.remove(session, 400) > 0);
  const count = (table: string) => database.prepare(`select count(*) as n from ${table}`).get();
  expect([count("batch"), count("place")]).toEqual([{ n: 0 }, { n: 0 }]);
  // The highest number went with its batch, and the index has been beyond it.
  const next = createBatches(database);
  next.add(0, { ...batch(0, 1), json: "8" });
  expect(textsOf({ database, batches: createBatches(database) }, 0)).toEqual([8]);
});
