import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { openSqlite } from "../../src/storage/sqlite/open.ts";
import type { AuditAddition, Commit, FoundRow, Storage } from "../../src/storage/storage.ts";
import { at, batch, dump, sorted } from "../suites/commits.ts";
import { settle } from "../suites/settle.ts";
import { sharedDirectory } from "./directory.ts";

const sessions = ["a", "b", "__proto__", "😀"];
const kinds = ["x", "y"];
const ids = ["", "1", "constructor"];
const groups = ["g", "h"];

/** A change as drawn: `off` is how far from the head its author believes the session to be. */
interface Drawn {
  readonly session: string;
  readonly type: "create" | "add" | "rows" | "unwritable" | "malformed" | "delete" | "audit";
  readonly off: number;
  readonly count: number;
  readonly rows: Commit["rows"];
  readonly due: Commit["due"];
  readonly tags: NonNullable<Commit["tags"]>;
  readonly audit: readonly AuditAddition[];
}

const key = { kind: fc.constantFrom(...kinds), id: fc.constantFrom(...ids) };
const drawn: fc.Arbitrary<Drawn> = fc.record({
  session: fc.constantFrom(...sessions),
  type: fc.oneof(
    { weight: 2, arbitrary: fc.constant("create" as const) },
    { weight: 8, arbitrary: fc.constant("add" as const) },
    { weight: 4, arbitrary: fc.constant("rows" as const) },
    { weight: 1, arbitrary: fc.constantFrom("unwritable" as const, "malformed" as const) },
    { weight: 1, arbitrary: fc.constant("delete" as const) },
    { weight: 3, arbitrary: fc.constant("audit" as const) },
  ),
  off: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.constantFrom(-1, 1)),
  count: fc.integer({ min: 1, max: 3 }),
  rows: fc.array(fc.record({ ...key, value: fc.option(fc.string({ unit: "grapheme" })) }), {
    maxLength: 3,
  }),
  due: fc.array(
    fc.record({
      ...key,
      at: fc.option(fc.integer({ min: 0, max: 20 })),
      group: fc.constantFrom(...groups),
    }),
    { maxLength: 3 },
  ),
  tags: fc.array(
    fc.record({
      ...key,
      at: fc.integer({ min: 0, max: 3 }),
      tags: fc.option(fc.uniqueArray(fc.constantFrom(...groups))),
    }),
    { maxLength: 3 },
  ),
  audit: fc.array(
    fc.record({
      kind: fc.constantFrom("late" as const, "refused" as const),
      group: fc.constantFrom(...groups),
      json: fc.string({ unit: "grapheme" }),
      content: fc.option(fc.oneof(fc.string({ unit: "grapheme" }), fc.constant("\ud800"))),
    }),
    { maxLength: 12 },
  ),
});

const directory = sharedDirectory();
let sqlite: Storage;
beforeAll(async () => {
  sqlite = await openSqlite({ directory });
});
afterAll(async () => {
  await sqlite[Symbol.asyncDispose]();
});

test("SQLite answers any sequence of groups as memory does", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(drawn, { minLength: 1, maxLength: 8 }), { maxLength: 12 }),
      // To open it takes far longer than all the rest.
      fc.nat({ max: 9 }).map((number) => number === 0),
      async (turns, reopen) => {
        await using memory = memoryStorage();
        await Promise.all(sessions.map((session) => sqlite.delete(session)));
        // Where the authors believe the heads to be: they go on from what they sent, as an engine does that decides
        // ahead of its commits, until the group is over.
        for (const turn of turns) {
          const believed = await headsOf(memory);
          const changes = turn.map((change) => toChange(change, believed));
          const results = await Promise.all([memory, sqlite].map((each) => run(each, changes)));
          expect(results[1]).toEqual(results[0]);
        }
        if (reopen) {
          await sqlite[Symbol.asyncDispose]();
          sqlite = await openSqlite({ directory });
        }
        expect(await everything(sqlite)).toEqual(await everything(memory));
      },
    ),
    { numRuns: 60, interruptAfterTimeLimit: 15_000 },
  );
});

type Change =
  | Commit
  | { readonly delete: string }
  | { readonly audited: string; readonly audit: readonly AuditAddition[] };

function run(storage: Storage, changes: readonly Change[]): Promise<string[]> {
  return settle(
    changes.map((change) => {
      if ("delete" in change) return storage.delete(change.delete);
      if ("audited" in change) return storage.addAudit(change.audited, change.audit);
      return storage.append(change);
    }),
  );
}

async function headsOf(storage: Storage): Promise<Map<string, number>> {
  const found = await storage.sessions({ limit: 99 });
  return new Map(found.map(({ session, head }) => [session, Number(head.split(".")[1])]));
}

function toChange(change: Drawn, believed: Map<string, number>): Change {
  const { session, type, off, count, rows, due, tags, audit } = change;
  if (type === "audit") return { audited: session, audit };
  if (type === "delete") {
    believed.delete(session);
    return { delete: session };
  }
  const head = Math.max(0, (believed.get(session) ?? 0) + off);
  if (type === "create") {
    believed.set(session, 0);
    return { session, expect: null, head: at(0), rows, due, tags };
  }
  if (type === "rows") return { session, expect: at(head), head: at(head), rows, due, tags };
  if (type === "malformed") {
    const bad = [...rows, { kind: "x", id: "\ud800", value: "" }];
    return { session, expect: at(head), head: at(head), rows: bad, due };
  }
  const next = head + count;
  // A session's first batch cannot lie behind another: whether it can be written is then the same for both.
  const entries = type === "unwritable" ? batch(head - 1, head) : batch(head, next);
  believed.set(session, next);
  return { session, expect: at(head), head: at(next), batch: entries, rows, due, tags };
}

async function everything(storage: Storage) {
  const listed = await storage.sessions({ limit: 99 });
  const dumps = await Promise.all(listed.map(({ session }) => dump(storage, session)));
  const pages = await Promise.all(
    listed.flatMap(({ session }) =>
      [0, 1, 3].map(async (after) => (await storage.entries(session, at(after), 20)).length),
    ),
  );
  const found = await Promise.all(
    [
      { kinds, before: 20 },
      { kinds: ["x"], before: 10 },
      { kinds, group: "g", before: 15 },
    ].map(async (query) => {
      const due = await storage.due({ ...query, limit: 99 });
      expect(due.map((one) => one.at)).toEqual(due.map((one) => one.at).toSorted((a, b) => a - b));
      const some = await storage.due({ ...query, limit: 2 });
      return { due: sorted(due), times: some.map((one) => one.at) };
    }),
  );
  return { listed, dumps, pages, found, tagged: await allTagged(storage) };
}

/** What each tag finds, page by page, either way round; rows of one time in one order. */
async function allTagged(storage: Storage) {
  const queries = [[], ["g"], ["h", "g"]].flatMap((tags) =>
    [true, false].map((newestFirst) => ({ kind: "x", tags, newestFirst, limit: 2 })),
  );
  return Promise.all(
    queries.map(async (query) => {
      const rows: FoundRow[] = [];
      let page = await storage.find(query);
      rows.push(...page.rows);
      while (page.next !== undefined) {
        page = await storage.find({ ...query, after: page.next });
        rows.push(...page.rows);
      }
      const times = rows.map(({ at: time }) => time);
      expect(times).toEqual(times.toSorted((a, b) => (query.newestFirst ? b - a : a - b)));
      return rows.map((row) => JSON.stringify(row)).toSorted();
    }),
  );
}
