import type { AgentItem, AuditRecord } from "@holdfast/protocol";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine/index.ts";
import { SIGN_AT_LATEST_MS } from "../../src/engine/unsigned.ts";
import { memoryStorage } from "../../src/storage/memory.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { ManualClock } from "../support/clock.ts";
import { ANA, claimAttempt, send, startAttempt, startEngine, stateOf } from "../support/engine.ts";
import { gate } from "../support/gate.ts";

const BO = { principal: "user:bo" };
const NOWHERE = { type: "run.cancel", runId: "run_none" } as const;

async function auditOf(engine: Engine, session: string): Promise<Omit<AuditRecord, "seq">[]> {
  const rows = await engine.trail.refusals(session, { after: 0, limit: 10_000 });
  return rows.map(({ json }) => JSON.parse(json) as Omit<AuditRecord, "seq">);
}

const storedIn = async (storage: Storage, session: string) =>
  (await storage.audit(session, { after: 0, limit: 10_000 })).length;

test("a refusal is recorded and commits nothing", async () => {
  const { storage, commits } = gate();
  await using engine = startEngine({ storage });
  await engine.create("s", { agent: "demo" }, ANA);
  const before = [commits.length, await storage.rows("s"), await storage.entries("s", "", 1e9)];
  const { id, offset } = await send(engine, "s", NOWHERE);
  expect(await auditOf(engine, "s")).toMatchObject([
    {
      type: "refused",
      actor: "user:ana",
      offset,
      command: { id, type: "run.cancel" },
      runId: "run_none",
      code: "unknown_run",
    },
  ]);
  const after = [commits.length, await storage.rows("s"), await storage.entries("s", "", 1e9)];
  expect(after).toEqual(before);
});

test("each refused item of an append is recorded, and nothing of those that were taken", async () => {
  await using engine = startEngine();
  const attempt = await startAttempt(engine, "s");
  const delta: AgentItem = { type: "TEXT_MESSAGE_CONTENT", messageId: "none", delta: "x" };
  const args: AgentItem = { type: "TOOL_CALL_ARGS", toolCallId: "gone", delta: "{" };
  const { id } = await attempt.append({ type: "round.open" }, delta, { type: "round.close" }, args);
  const command = { id, type: "run.append" };
  const { runId, attempt: number } = attempt.work;
  const by = { actor: "agent:demo", attempt: { runId, attempt: number }, runId };
  expect(await auditOf(engine, "s")).toMatchObject([
    { ...by, command: { ...command, item: 1 }, code: "sequence_violation" },
    { ...by, command: { ...command, item: 3 }, callId: "gone" },
  ]);
});

test("a batch behind a hole is recorded without its answers, which come again", async () => {
  await using engine = startEngine();
  const attempt = await startAttempt(engine, "s");
  await attempt.append(
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "t" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
  );
  await send(engine, "s", { type: "call.cancel", callId: "c1" });
  const { runId, attempt: number } = attempt.work;
  const answer = { type: "text", text: "late" } as const;
  const gap = await send(
    engine,
    "s",
    {
      type: "run.append",
      runId,
      attempt: number,
      producer: "main",
      seq: 9,
      items: [{ type: "call.answer", callId: "c1", outcome: "ok", answer }],
    },
    attempt.actor,
  );
  expect(gap.error?.code).toBe("sequence_gap");
  expect((await auditOf(engine, "s")).map(({ type }) => type)).toEqual(["refused"]);
});

test("an older attempt's answer to a call that still waits is no late answer", async () => {
  await using engine = startEngine();
  const attempt = await startAttempt(engine, "s");
  await attempt.append(
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "t" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
    { type: "round.close" },
  );
  await claimAttempt(engine); // the same worker begins again
  const call = (await stateOf(engine, "s")).calls[0];
  const answer = { type: "text", text: "x" } as const;
  const fenced = await attempt.append({ type: "call.answer", callId: "c1", outcome: "ok", answer });
  expect([call?.status, fenced.error?.code]).toEqual(["open", "attempt_fenced"]);
  expect((await auditOf(engine, "s")).map(({ type }) => type)).toEqual(["refused"]);
});

test("what was refused on a commit that fails is not recorded, and once where it is decided again", async () => {
  const { storage, failNext, conflictNext } = gate();
  await using engine = startEngine({ storage });
  await engine.create("s", { agent: "demo" }, ANA);
  const message = { type: "message.send", messageId: "m1", content: "hi" } as const;
  const twice = () => Promise.allSettled([send(engine, "s", message), send(engine, "s", message)]);
  failNext();
  expect((await twice()).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await auditOf(engine, "s")).toEqual([]);
  conflictNext();
  expect((await twice()).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  expect(await auditOf(engine, "s")).toMatchObject([{ code: "message_exists" }]);
});

test("records are written a moment later, whether or not anybody reads them", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  await using engine = startEngine({ storage, schedule: clock.schedule });
  await engine.create("s", { agent: "demo" }, ANA);
  await send(engine, "s", NOWHERE);
  expect(await storedIn(storage, "s")).toBe(0);
  await clock.advance(250);
  expect(await storedIn(storage, "s")).toBe(1);
});

test("nothing waits for a record, and no more of them wait than have room", async () => {
  const clock = new ManualClock();
  const inner = memoryStorage({ now: clock.now });
  const { promise: hung, resolve: release } = Promise.withResolvers<void>();
  let most = 0;
  let held = 0;
  const storage: Storage = {
    ...inner,
    addAudit: async (session, records) => {
      held += records.length;
      most = Math.max(most, held);
      await hung;
      await inner.addAudit(session, records);
      held -= records.length;
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
  await using engine = startEngine({ storage, schedule: clock.schedule });
  for (let n = 0; n < 50; n += 1) {
    const session = `s${n}`;
    await engine.create(session, { agent: "demo" }, ANA);
    const actors = Array.from({ length: 20 }, (_, who) => ({ principal: `user:${who}` }));
    for (const actor of actors)
      expect((await send(engine, session, NOWHERE, actor)).status).toBe("rejected");
    await clock.advance(250);
  }
  const message = { type: "message.send", messageId: "m1", content: "hi" } as const;
  expect((await send(engine, "s0", message)).status).toBe("applied");
  expect(most).toBe(512);
  release();
  await clock.advance(10_000);
  expect(held).toBe(0);
  await send(engine, "s1", NOWHERE, BO);
  expect((await auditOf(engine, "s1")).at(-1)).toMatchObject({ type: "refused", actor: "user:bo" });
});

test("one actor in many sessions takes its share and leaves the others theirs", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  await using engine = startEngine({ storage, schedule: clock.schedule });
  const sessions = Array.from({ length: 100 }, (_, n) => `s${n}`);
  for (const session of sessions) {
    await engine.create(session, { agent: "demo" }, ANA);
    await send(engine, session, NOWHERE);
  }
  await send(engine, "s99", NOWHERE, BO);
  await clock.advance(250);
  const stored = await Promise.all(sessions.map((session) => storedIn(storage, session)));
  expect(stored.reduce((sum, count) => sum + count)).toBe(64 + 1);
  expect(await auditOf(engine, "s99")).toMatchObject([{ actor: "user:bo" }]);
  // What was not kept is counted where it was refused.
  await clock.advance(10_000);
  expect((await auditOf(engine, "s99")).at(-1)).toMatchObject({
    type: "dropped",
    actor: "user:ana",
    count: 1,
  });
});

test("an actor's rate comes back: one more every ten seconds", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  await using engine = startEngine({ storage, schedule: clock.schedule });
  await engine.create("s", { agent: "demo" }, ANA);
  const flood = async () => {
    for (let n = 0; n < 40; n += 1) await send(engine, "s", NOWHERE);
    await clock.advance(250);
  };
  const kept = async () =>
    (await auditOf(engine, "s")).filter(({ type }) => type === "refused").length;
  await flood();
  expect(await kept()).toBe(32);
  await clock.advance(10_000);
  await flood();
  expect(await kept()).toBe(33);
  await clock.advance(40_000);
  await flood();
  expect(await kept()).toBe(37);
  const dropped = (await auditOf(engine, "s")).filter((it) => it.type === "dropped");
  expect(dropped).toMatchObject([{ count: 8 }, { count: 39 }]);
});

test("closing writes what waits, and counts what was not kept", async () => {
  const storage = memoryStorage();
  const engine = startEngine({ storage, schedule: () => () => {} });
  await engine.create("s", { agent: "demo" }, ANA);
  for (let n = 0; n < 35; n += 1) await send(engine, "s", NOWHERE);
  expect(await storedIn(storage, "s")).toBe(0);
  await engine.close();
  const rows = await storage.audit("s", { after: 0, limit: 99, kinds: ["late", "refused"] });
  expect(rows).toHaveLength(33);
  expect(JSON.parse(rows.at(-1)?.json ?? "")).toMatchObject({ type: "dropped", count: 3 });
});

test("what waits for a session that is deleted is not the next one's", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  await using engine = startEngine({ storage, schedule: clock.schedule });
  await engine.create("s", { agent: "demo" }, ANA);
  for (let n = 0; n < 35; n += 1) await send(engine, "s", NOWHERE);
  await engine.delete("s");
  await engine.create("s", { agent: "demo" }, ANA);
  await send(engine, "s", NOWHERE, BO);
  await clock.advance(20_000);
  expect(await auditOf(engine, "s")).toMatchObject([{ type: "refused", actor: "user:bo" }]);
});

test("records that cannot be written are lost, and said to be, and the next ones are written", async () => {
  const inner = memoryStorage();
  let broken = true;
  const storage: Storage = {
    ...inner,
    addAudit: (session, records) =>
      broken ? Promise.reject(new Error("bad sector")) : inner.addAudit(session, records),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
  const logged: string[] = [];
  await using engine = startEngine({ storage, log: (message) => void logged.push(message) });
  await engine.create("s", { agent: "demo" }, ANA);
  await send(engine, "s", NOWHERE);
  expect(await auditOf(engine, "s")).toEqual([]);
  expect(logged).toEqual(["1 audit records of session s are lost"]);
  broken = false;
  await send(engine, "s", NOWHERE, BO);
  expect(await auditOf(engine, "s")).toMatchObject([{ actor: "user:bo" }]);
});

test("an actor whose name no storage can keep spoils nobody else's records", async () => {
  await using engine = startEngine();
  await engine.create("s", { agent: "demo" }, ANA);
  await send(engine, "s", NOWHERE, { principal: "user:\ud83d" });
  await send(engine, "s", NOWHERE);
  expect(await auditOf(engine, "s")).toHaveLength(2);
});

test("once a session is quiet, no timer of its refusals goes on", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  const timers = new Set<symbol>();
  const schedule: typeof clock.schedule = (ms, run) => {
    const timer = Symbol(`${ms} ms`);
    timers.add(timer);
    const cancel = clock.schedule(ms, () => {
      timers.delete(timer);
      run();
    });
    return () => {
      timers.delete(timer);
      cancel();
    };
  };
  await using engine = startEngine({ storage, schedule });
  await engine.create("s", { agent: "demo" }, ANA);
  for (let n = 0; n < 40; n += 1) await send(engine, "s", NOWHERE);
  await clock.advance(300_000);
  expect(timers.size).toBe(2); // of what was dropped, and of what might have stayed unsigned
  await clock.advance(SIGN_AT_LATEST_MS);
  expect(timers.size).toBe(0);
});
