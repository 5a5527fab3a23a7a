import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  fromRows,
  reduceAll,
  emptyState,
  type AgentItem,
  type Entry,
  type StateRows,
} from "@holdfast/protocol";
import { expect, test } from "vitest";
import { auditKey } from "../../src/audit/key.ts";
import { verifyAudit } from "../../src/audit/verify.ts";
import type { Engine } from "../../src/engine/index.ts";
import { memoryStorage } from "../../src/storage/memory.ts";
import { openSqlite } from "../../src/storage/sqlite/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { linesIn } from "../audit/history.ts";
import { temporaryDirectory } from "../storage/directory.ts";
import { ManualClock, until } from "../support/clock.ts";
import { gate } from "../support/gate.ts";
import {
  AUDIT_SECRET,
  ANA,
  send,
  sorted,
  startAttempt,
  startEngine,
  stateOf,
} from "../support/engine.ts";

const SECRET = "s3cret-walnut";
const keys = [auditKey(AUDIT_SECRET).publicKey];
/** Long enough for pages of its own in a database. */
const LONG = `${SECRET} `.repeat(5_000);

async function entriesOf(engine: Engine): Promise<Entry[]> {
  return JSON.parse((await engine.page("s", undefined, 10_000)).entries) as Entry[];
}

/** A call that says the secret, answered; another answer came late. */
async function tell(engine: Engine) {
  const { append, finish, actor } = await startAttempt(engine, "s");
  await append(
    { type: "round.open" },
    { type: "TEXT_MESSAGE_START", messageId: "t1" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: LONG },
  );
  await append({ type: "TEXT_MESSAGE_END", messageId: "t1" });
  for (const callId of ["c1", "c2"]) {
    await append({ type: "TOOL_CALL_START", toolCallId: callId, toolCallName: "look" });
    await append({ type: "TOOL_CALL_ARGS", toolCallId: callId, delta: `{"a":"${SECRET} ` });
    await append({ type: "TOOL_CALL_ARGS", toolCallId: callId, delta: `"}` });
    await append({ type: "TOOL_CALL_END", toolCallId: callId });
    const answer = { type: "text", text: callId === "c1" ? LONG : "kept" } as const;
    await append({ type: "call.answer", callId, outcome: "ok", answer });
  }
  const answer = { type: "text", text: SECRET } as const;
  const late = () =>
    send(engine, "s", { type: "call.answer", callId: "c1", outcome: "error", answer }, actor);
  await late();
  await append({ type: "round.close" });
  return { finish, late };
}

const eraseCall = (engine: Engine) =>
  send(engine, "s", { type: "content.erase", callId: "c1" }, { principal: "user:dpo" });
const eraseText = (engine: Engine) =>
  send(engine, "s", { type: "content.erase", messageId: "t1" }, { principal: "user:dpo" });

test.each(["memory", "sqlite"])("6.21 what is erased is nowhere in %s", async (kind) => {
  const directory = temporaryDirectory();
  const storage = kind === "memory" ? memoryStorage() : await openSqlite({ directory });
  await using engine = startEngine({ storage });
  const { late } = await tell(engine);
  const before = await entriesOf(engine);
  expect((await eraseCall(engine)).status).toBe("applied");
  expect((await eraseText(engine)).status).toBe("applied");
  await late();

  const entries = await entriesOf(engine);
  expect(
    entries.slice(0, before.length).map(({ offset, event: { type } }) => [offset, type]),
  ).toEqual(before.map(({ offset, event: { type } }) => [offset, type]));
  const answered = entries.find(({ event }) => event.type === "call.answered");
  expect(answered?.erased).toEqual({
    by: "user:dpo",
    at: expect.any(Number),
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const audit = await engine.trail.refusals("s", { after: 0, limit: 99 });
  expect(audit.map(({ kind: of, content }) => [of, content])).toEqual([
    ["late", null],
    ["late", null],
  ]);
  const state = await stateOf(engine, "s");
  // The other call says it too, once in its arguments: that stays.
  for (const kept of [entries, state]) {
    const text = JSON.stringify(kept);
    expect(text.split(SECRET)).toHaveLength(2);
  }
  if (kind === "memory") return;
  const found = readdirSync(directory).map((name) => {
    const text = readFileSync(join(directory, name), "latin1");
    return [name, text.split(SECRET).length - 1] as const;
  });
  // In its batch of the log, and in its row.
  expect(found.filter(([, count]) => count > 0)).toEqual([["holdfast.db", 2]]);
});

/** What of the stored log says the secret. */
async function left(engine: Engine): Promise<readonly string[]> {
  const entries = await entriesOf(engine);
  return entries.filter((entry) => JSON.stringify(entry).includes(SECRET)).map(typeOf);
}
const typeOf = ({ event }: Entry) => event.type;

test.each(["memory", "sqlite"])(
  "6.21 what a run said is nowhere in %s, with what was taken back and what came late",
  async (kind) => {
    const directory = temporaryDirectory();
    const storage = kind === "memory" ? memoryStorage() : await openSqlite({ directory });
    await using engine = startEngine({ storage });
    const { append, finish, actor } = await startAttempt(engine, "s");
    await append(
      { type: "round.open" },
      { type: "TEXT_MESSAGE_START", messageId: "t1" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: LONG },
      { type: "TEXT_MESSAGE_END", messageId: "t1" },
      { type: "round.withdraw" },
      { type: "STATE_SNAPSHOT", snapshot: { plan: SECRET } },
      { type: "run.annotate", metadata: { codec: { said: SECRET } } },
    );
    for (const callId of ["c1", "c2"]) {
      await append(
        { type: "TOOL_CALL_START", toolCallId: callId, toolCallName: "look" },
        { type: "TOOL_CALL_END", toolCallId: callId },
      );
      const answer = { type: "text", text: SECRET } as const;
      await append({ type: "call.answer", callId, outcome: "ok", answer });
      await send(engine, "s", { type: "call.answer", callId, outcome: "error", answer }, actor);
    }
    await finish();
    const [run] = (await stateOf(engine, "s")).runs;
    const erase = { type: "content.erase", runId: run?.id ?? "" } as const;
    expect((await send(engine, "s", erase)).status).toBe("applied");
    expect(await left(engine)).toEqual([]);
    expect(JSON.stringify(await stateOf(engine, "s"))).not.toContain(SECRET);
    const audit = await engine.trail.refusals("s", { after: 0, limit: 99 });
    expect(audit.map(({ kind: of, content }) => [of, content])).toEqual([
      ["late", null],
      ["late", null],
    ]);
    expect(await verifyAudit(await linesIn(engine), { keys })).toMatchObject({ ok: true });
    if (kind === "memory") return;
    const found = readdirSync(directory).filter((name) =>
      readFileSync(join(directory, name), "latin1").includes(SECRET),
    );
    expect(found).toEqual([]);
  },
);

test("6.21 a message's id is erased wherever it was said, also what was taken back before", async () => {
  await using engine = startEngine();
  const { append } = await startAttempt(engine, "s");
  const say: AgentItem[] = [
    { type: "TEXT_MESSAGE_START", messageId: "t1" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: SECRET },
    { type: "TEXT_MESSAGE_END", messageId: "t1" },
  ];
  await append({ type: "round.open" }, ...say, { type: "round.withdraw" });
  await append({ type: "round.open" }, ...say);
  await eraseText(engine);
  expect(await left(engine)).toEqual([]);
});

test("6.21 no receipt of what said it is left, by which it could be guessed", async () => {
  const { storage, commits } = gate();
  await using engine = startEngine({ storage });
  await startAttempt(engine, "s");
  const said = { id: "one", type: "message.send", messageId: "m9", content: "yes" } as const;
  await send(engine, "s", said);
  const other = { id: "two", type: "message.send", messageId: "m10", content: "no" } as const;
  await send(engine, "s", other);
  await send(engine, "s", { type: "content.erase", messageId: "m9" });
  const receipts = (await storage.rows("s"))?.rows.filter(({ kind }) => kind === "receipt") ?? [];
  const ids = receipts.map(({ id }) => id);
  expect(ids).toContain("two");
  expect(ids).not.toContain("one");
  const written = commits.length;
  expect((await send(engine, "s", said)).error?.code).toBe("message_exists");
  expect((await send(engine, "s", other)).repeated).toBe(true);
  expect(commits.length).toBe(written);
});

test("6.21 a call is erased with what repeated it", async () => {
  await using engine = startEngine();
  const { append } = await startAttempt(engine, "s");
  const propose: AgentItem[] = [
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "look" },
    { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: JSON.stringify({ q: SECRET }) },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
  ];
  const answer = { type: "text", text: "found" } as const;
  await append(...propose, { type: "call.answer", callId: "c1", outcome: "ok", answer });
  await append(...propose);
  expect((await entriesOf(engine)).map(typeOf)).toContain("call.replayed");
  expect((await eraseCall(engine)).status).toBe("applied");
  expect(await left(engine)).toEqual([]);
});

test("6.21 a reload gives the state that was watched, and history a placeholder", async () => {
  const storage = memoryStorage();
  await using engine = startEngine({ storage });
  await tell(engine);
  await eraseCall(engine);
  const rows = await stateOf(engine, "s");
  const entries = await entriesOf(engine);
  const replayed = emptyState(entries[0]?.offset ?? "", rows.session);
  reduceAll(replayed, entries);
  const watched = fromRows(replayed.head, rows);
  for (const kind of ["messages", "runs", "items", "calls"] as const)
    expect(Object.fromEntries(replayed[kind])).toEqual(Object.fromEntries<unknown>(watched[kind]));
  await using again = startEngine({ storage });
  expect(sorted(await stateOf(again, "s"))).toEqual(sorted(rows));
});

test("6.21 an erasure that a crash cut off is finished by the next server", async () => {
  const clock = new ManualClock();
  const inner = memoryStorage({ now: clock.now });
  const broken: Storage = {
    ...inner,
    erase: () => Promise.reject(new Error("The power is gone.")),
  };
  const first = startEngine({ storage: broken, schedule: clock.schedule });
  await tell(first);
  await expect(eraseCall(first)).rejects.toThrow("The power is gone.");
  await first.close();
  const said = async () =>
    JSON.stringify(await inner.entries("s", "", 1e9)).split(SECRET).length - 1;
  const times = LONG.split(SECRET).length - 1;
  expect(await said()).toBe(2 * times + 2);

  await using second = startEngine({ storage: inner, schedule: clock.schedule });
  await clock.advance(61_000);
  await until("the log is erased", async () => (await said()) === times + 1);
  const due = { kinds: ["erasure"], before: Infinity, limit: 9 };
  await until("nothing is left to do", async () => (await inner.due(due)).length === 0);
  expect((await stateOf(second, "s")).calls[0]?.erased).toMatchObject({ by: "user:dpo" });
});

test("6.21 the same command again finishes what failed", async () => {
  const inner = memoryStorage();
  let fails = true;
  const storage: Storage = {
    ...inner,
    erase: (session, erasure) =>
      fails ? Promise.reject(new Error("Not now.")) : inner.erase(session, erasure),
  };
  await using engine = startEngine({ storage });
  await tell(engine);
  const command = { id: "e1", type: "content.erase", callId: "c1" } as const;
  await expect(engine.submit("s", [command], ANA)).rejects.toThrow("Not now.");
  fails = false;
  expect(await engine.submit("s", [command], ANA)).toMatchObject([{ repeated: true }]);
  const { calls } = (await stateOf(engine, "s")) satisfies StateRows;
  expect(calls[0]?.erased).toMatchObject({ by: "user:ana" });
  const answered = (await entriesOf(engine)).find(({ event }) => event.type === "call.answered");
  expect(answered?.event).toMatchObject({ answer: { text: "" } });
});

test("6.21 the chain that was signed before holds, without what was erased", async () => {
  await using engine = startEngine();
  await tell(engine);
  const before = await linesIn(engine);
  expect(await verifyAudit(before, { keys })).toMatchObject({ ok: true, withoutContent: 0 });
  await eraseCall(engine);
  const after = await linesIn(engine);
  // The call's answer, and the late one.
  expect(await verifyAudit(after, { keys })).toMatchObject({ ok: true, withoutContent: 2 });
  const ofAnswer = (lines: readonly string[]) =>
    lines
      .map((line) => JSON.parse(line) as { what?: string; ids?: object; digest?: string })
      .find(({ what }) => what === "call.answered");
  const { what, ids, digest } = ofAnswer(before) ?? {};
  expect(ofAnswer(after)).toMatchObject({ what, ids, digest });
});

test("6.21 whoever watches hears of it, and a refusal writes nothing", async () => {
  const storage = memoryStorage();
  await using engine = startEngine({ storage });
  await tell(engine);
  const before = await storage.entries("s", "", 1e9);
  const { error } = await send(engine, "s", { type: "content.erase", callId: "none" });
  expect(error?.code).toBe("unknown_call");
  const [run] = (await stateOf(engine, "s")).runs;
  const early = await send(engine, "s", { type: "content.erase", runId: run?.id ?? "" });
  expect(early.error?.code).toBe("not_ready");
  expect(await storage.entries("s", "", 1e9)).toEqual(before);
  const { offset } = await engine.session("s");
  const over = new AbortController();
  const frames = await engine.subscribe("s", offset, { signal: over.signal });
  const next = frames.next();
  await eraseCall(engine);
  const { done, value } = await next;
  expect(!done && value[0]?.text).toContain('"type":"content.erased","callId":"c1"');
  over.abort();
});
