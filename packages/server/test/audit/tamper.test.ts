import { erase, type Entry } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { auditKey } from "../../src/audit/key.ts";
import { sha256 } from "../../src/audit/chain.ts";
import { verifyAudit } from "../../src/audit/verify.ts";
import { memoryStorage } from "../../src/storage/memory.ts";
import { AUDIT_KEPT, type AuditRow, type Batch, type Storage } from "../../src/storage/storage.ts";
import { AUDIT_SECRET, send, startEngine } from "../support/engine.ts";
import { linesIn, play, type Happening } from "./history.ts";

const STORY: readonly Happening[] = [
  { type: "say", text: "yes" },
  { type: "call", text: "x" },
  { type: "answer", call: 0, text: "42" },
  { type: "answer", call: 0, text: "late" },
  { type: "refused" },
  { type: "refused" },
  { type: "export" },
  { type: "say", text: "more" },
];

/** A storage whose database somebody has changed by hand. */
function tampered(
  inner: Storage,
  change: {
    readonly entries?: (entry: Entry) => Entry | undefined;
    readonly audit?: (row: AuditRow) => AuditRow | undefined;
  },
): Storage {
  const { entries = (entry) => entry, audit = (row) => row } = change;
  return {
    ...inner,
    now: () => inner.now(),
    async entries(...query) {
      const batches: readonly Batch[] = await inner.entries(...query);
      return batches.map((batch) => ({
        ...batch,
        json: JSON.stringify(
          (JSON.parse(batch.json) as Entry[]).flatMap((entry) => entries(entry) ?? []),
        ),
      }));
    },
    audit: async (...query) => (await inner.audit(...query)).flatMap((row) => audit(row) ?? []),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
}

async function stored(story = STORY): Promise<Storage> {
  const storage = memoryStorage();
  await using engine = startEngine({ storage });
  await play(engine, story);
  return storage;
}

async function findingOf(storage: Storage) {
  await using engine = startEngine({ storage });
  const first = await engine.trail.verify("s");
  await send(engine, "s", { type: "run.cancel", runId: "run_none" });
  await send(engine, "s", { type: "policy.set", policy: {} });
  // What was once found is not forgotten when the chain goes on.
  expect((await engine.trail.verify("s")).ok).toBe(first.ok);
  return first;
}

const isMessage = ({ event }: Entry) => event.type === "message.added" && event.content === "yes";

test("what nobody changed is found whole, on every server", async () => {
  expect(await findingOf(await stored())).toMatchObject({ ok: true, checkpoints: 2 });
});

test.each<[string, (entry: Entry) => Entry | undefined]>([
  ["changed", (entry) => (isMessage(entry) ? { ...entry, at: entry.at + 1 } : entry)],
  ["given to another", (entry) => (isMessage(entry) ? { ...entry, actor: "user:bo" } : entry)],
  [
    "rewritten",
    (entry) =>
      entry.event.type === "message.added"
        ? { ...entry, event: { ...entry.event, content: "no" } }
        : entry,
  ],
  ["taken out", (entry) => (isMessage(entry) ? undefined : entry)],
])("an act in the log that was %s is found", async (_, entries) => {
  const { ok, broken } = await findingOf(tampered(await stored(), { entries }));
  expect(ok).toBe(false);
  expect(broken?.why).toMatch("was signed for something else: a record after 0");
});

test("a log that was cut before its last checkpoint is found", async () => {
  const storage = await stored();
  const [first] = await storage.entries("s", "", 1);
  const entries = (entry: Entry) => (entry.offset > (first?.last ?? "") ? undefined : entry);
  expect((await findingOf(tampered(storage, { entries }))).ok).toBe(false);
});

test("a log whose head was put back is found, and not signed", async () => {
  const storage = await stored();
  const [first] = await storage.entries("s", "", 1);
  const head = first?.last ?? "";
  const entries = (entry: Entry) => (entry.offset > head ? undefined : entry);
  const cut: Storage = {
    ...tampered(storage, { entries }),
    rows: async (session) => {
      const found = await storage.rows(session);
      return found && { ...found, head };
    },
  };
  const signed = async () =>
    await storage.audit("s", { after: 0, limit: 99, kinds: ["checkpoint"] });
  const before = await signed();
  await using engine = startEngine({ storage: cut });
  await send(engine, "s", { type: "run.cancel", runId: "run_none" });
  expect((await engine.trail.verify("s")).ok).toBe(false);
  expect(await signed()).toEqual(before);
});

test.each<[string, (row: AuditRow) => AuditRow | undefined]>([
  ["refusal that was taken out", (row) => (row.seq === 2 ? undefined : row)],
  ["late answer that was taken out", (row) => (row.kind === "late" ? undefined : row)],
  ["refusal of another", (row) => (row.seq === 2 ? { ...row, group: "user:bo" } : row)],
  [
    "refusal that was changed",
    (row) => (row.seq === 2 ? { ...row, json: row.json.replace("none", "some") } : row),
  ],
  ["record that cannot be read", (row) => (row.seq === 2 ? { ...row, json: "{" } : row)],
  [
    "late answer with other content",
    (row) => (row.content === null ? row : { ...row, content: `${row.content} ` }),
  ],
  ["list that was changed", (row) => (row.kind === "list" ? { ...row, json: "[]" } : row)],
  [
    "checkpoint that was changed",
    (row) =>
      row.kind === "checkpoint" ? { ...row, json: row.json.replace('"n":', '"n":1') } : row,
  ],
  [
    "checkpoint that cannot be read",
    (row) => (row.kind === "checkpoint" ? { ...row, json: "{" } : row),
  ],
])("a %s is found", async (_, audit) => {
  const storage = await stored();
  const last = (await storage.audit("s", { after: 0, limit: 99 })).at(-1)?.seq ?? 0;
  const before = (row: AuditRow) => (row.seq <= last ? audit(row) : row);
  expect((await findingOf(tampered(storage, { audit: before }))).ok).toBe(false);
});

test("refusals that retention forgot are not missed, and those it did not forget are", async () => {
  const late = { type: "answer", call: 0, text: "late" } as const;
  const many = Array.from({ length: AUDIT_KEPT.late.ofGroup + 2 }, () => late);
  const story = [...STORY, ...many.slice(0, 3), { type: "export" } as const, ...many];
  const storage = await stored(story);
  const lates = async () => await storage.audit("s", { after: 0, limit: 999, kinds: ["late"] });
  expect(await lates()).toHaveLength(AUDIT_KEPT.late.ofGroup);
  expect(await findingOf(storage)).toMatchObject({ ok: true });
  const newest = (await lates()).at(-1)?.seq;
  const audit = (row: AuditRow) => (row.seq === newest ? undefined : row);
  const { broken } = await findingOf(tampered(storage, { audit }));
  expect(broken?.why).toMatch(`where they are kept: ${newest}`);
});

test("6.17 what is gone without a reason is named by every checkpoint after, not by the first alone", async () => {
  const storage = await stored([...STORY, { type: "refused" }, { type: "export" }]);
  const refused = await storage.audit("s", { after: 0, limit: 99, kinds: ["refused"] });
  const gone = refused.at(-1)?.seq;
  const audit = (row: AuditRow) => (row.seq === gone ? undefined : row);
  await using engine = startEngine({ storage: tampered(storage, { audit }) });
  for (let round = 0; round < 3; round += 1) {
    await send(engine, "s", { type: "policy.set", policy: {} });
    const end = JSON.parse((await linesIn(engine)).at(-1) ?? "");
    expect([round, end.kind, end.refusals.lost]).toEqual([round, "end", [gone]]);
  }
});

test("what is erased leaves the chain as it was, and its digest does not betray it", async () => {
  const storage = await stored();
  const erased: Entry[] = [];
  const entries = (entry: Entry): Entry => {
    if (entry.event.type !== "message.added") return entry;
    erased.push(erase(entry, { ...entry.event, content: "" }, sha256));
    return erased.at(-1) ?? entry;
  };
  const audit = (row: AuditRow) => ({ ...row, content: null });
  const blank = tampered(storage, { entries, audit });
  expect(await findingOf(blank)).toMatchObject({ ok: true, withoutContent: 4 });
  const text = JSON.stringify(erased);
  expect(text).not.toMatch("salt");
  await using engine = startEngine({ storage: blank });
  expect((await linesIn(engine)).join("")).not.toMatch(/text.{1,5}late|"yes"|"more"/);
});

test("a session that takes the place of a deleted one has a chain of its own", async () => {
  const storage = memoryStorage();
  await using engine = startEngine({ storage });
  await play(engine, STORY);
  const before = await linesIn(engine);
  await engine.delete("s");
  await play(engine, [{ type: "say", text: "anew" }]);
  expect(await engine.trail.verify("s")).toMatchObject({ ok: true, refusals: 0, checkpoints: 1 });
  const keys = [auditKey(AUDIT_SECRET).publicKey];
  expect((await verifyAudit(before, { keys })).ok).toBe(true);
});

test("checkpoints of a key that is not known any more are told, and of a former one taken", async () => {
  const storage = await stored();
  const next = auditKey(new Uint8Array(32).fill(8));
  {
    await using engine = startEngine({ storage, auditKey: next });
    expect((await engine.trail.verify("s")).broken?.why).toMatch("not signed with a key");
  }
  const formerAuditKeys = [auditKey(AUDIT_SECRET).publicKey];
  await using engine = startEngine({ storage, auditKey: next, formerAuditKeys });
  expect(await engine.trail.verify("s")).toMatchObject({ ok: true, checkpoints: 3 });
});
