import { expect, test } from "vitest";
import type { Engine } from "../../src/engine/index.ts";
import { Timers } from "../../src/engine/timers.ts";
import { memoryStorage } from "../../src/storage/memory.ts";
import type { Due } from "../../src/storage/storage.ts";
import { ManualClock } from "../support/clock.ts";
import { gate } from "../support/gate.ts";
import {
  ANA,
  attemptOf,
  DEMO,
  send,
  startAttempt,
  startEngine,
  stateOf,
} from "../support/engine.ts";

const LEASE = 30_000;

function start() {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  const open = () => startEngine({ storage, schedule: clock.schedule });
  return { clock, storage, open };
}

const runOf = async (engine: Engine, session = "s") => (await stateOf(engine, session)).runs[0];
const callOf = async (engine: Engine, id: string) =>
  (await stateOf(engine, "s")).calls.find((call) => call.id === id);

test("an attempt that falls silent is lost when its lease ends, not before", async () => {
  const { clock, open } = start();
  await using engine = open();
  await startAttempt(engine, "s");
  await clock.advance(LEASE - 1);
  expect(await runOf(engine)).toMatchObject({ status: "active", losses: 0 });
  await clock.advance(1);
  expect(await runOf(engine)).toMatchObject({ status: "queued", losses: 1 });
});

test("anything an attempt says renews its lease, and costs no write", async () => {
  const { clock, storage, open } = start();
  await using engine = open();
  const { append, work, actor } = await startAttempt(engine, "s");
  const { runId, attempt } = work;
  for (let beat = 0; beat < 10; beat += 1) {
    await clock.advance(LEASE - 1);
    const { offset } = await engine.state("s");
    const rows = (await storage.rows("s"))?.rows.length;
    expect(await send(engine, "s", { type: "run.heartbeat", runId, attempt }, actor)).toMatchObject(
      {
        status: "applied",
        offset,
      },
    );
    expect((await storage.rows("s"))?.rows.length).toBe(rows);
  }
  await append({ type: "CUSTOM", name: "n", value: 1 });
  await clock.advance(LEASE - 1);
  expect((await runOf(engine))?.status).toBe("active");
  await clock.advance(1);
  expect((await runOf(engine))?.status).toBe("queued");
});

test("after a restart every attempt has one full term of grace", async () => {
  const { clock, open } = start();
  {
    await using engine = open();
    await startAttempt(engine, "s");
  }
  await clock.advance(10 * LEASE);
  await using engine = open();
  await clock.advance(LEASE - 1);
  expect((await runOf(engine))?.status).toBe("active");
  await clock.advance(1);
  expect(await runOf(engine)).toMatchObject({ status: "queued", losses: 1 });
});

test("a lost run goes to the next worker, and after four losses in a row is given up", async () => {
  const { clock, open } = start();
  await using engine = open();
  await startAttempt(engine, "s");
  for (let attempt = 2; attempt <= 4; attempt += 1) {
    await clock.advance(LEASE);
    const work = await engine.claimWork({ agent: "demo", worker: `w${attempt}` }, DEMO);
    expect(work?.attempt).toBe(attempt);
  }
  await clock.advance(LEASE);
  expect(await runOf(engine)).toMatchObject({
    status: "ended",
    outcome: "error",
    error: { code: "agent_lost" },
  });
});

test("a worker that asks again for its attempt has a new lease on it", async () => {
  const { clock, open } = start();
  await using engine = open();
  const { work } = await startAttempt(engine, "s");
  const { wakeId } = work;
  await clock.advance(LEASE - 1);
  expect(await engine.claimWork({ agent: "demo", worker: "w1", wakeId }, DEMO)).toEqual(work);
  await clock.advance(LEASE - 1);
  expect(await runOf(engine)).toMatchObject({ status: "active", losses: 0 });
  await clock.advance(1);
  expect(await runOf(engine)).toMatchObject({ status: "queued", losses: 1 });
});

test("what becomes due while storage says what is due next is not forgotten", async () => {
  const clock = new ManualClock();
  const { promise: read, resolve: hasRead } = Promise.withResolvers<void>();
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const rows: Due[] = [];
  const fired: string[] = [];
  const timers = new Timers({
    storage: {
      now: clock.now,
      async due({ before }) {
        const found = rows.filter(({ at }) => at <= before);
        // Its last look: what is noted from here on, it has not seen.
        if (before === Number.MAX_SAFE_INTEGER && rows.length === 0) {
          hasRead();
          await held;
        }
        return found;
      },
    },
    schedule: clock.schedule,
    async fire({ id }) {
      fired.push(id);
      rows.pop();
    },
    log(message, error) {
      throw new Error(message, { cause: error });
    },
  });
  timers.start();
  await clock.advance(0);
  await read;
  const at = clock.now() + 1_000;
  rows.push({ session: "s", kind: "deadline", id: "c", group: "", at });
  timers.note(at);
  letGo();
  await clock.advance(999);
  expect(fired).toEqual([]);
  await clock.advance(1);
  expect(fired).toEqual(["c"]);
  await timers.stop();
});

test("an explicit claim has a lease of its own, that only its holder renews", async () => {
  const { clock, open } = start();
  await using engine = open();
  const attempt = await startAttempt(engine, "s");
  await attempt.append(
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "work" },
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" },
    { type: "TOOL_CALL_END", toolCallId: "c" },
    { type: "round.close" },
  );
  const { claimId = "" } = await send(
    engine,
    "s",
    { type: "call.claim", callId: "c" },
    attempt.actor,
  );
  await attempt.finish();
  expect((await runOf(engine))?.status).toBe("suspended");
  for (let beat = 0; beat < 3; beat += 1) {
    await clock.advance(LEASE - 1);
    await send(engine, "s", { type: "call.renew", callId: "c", claimId }, attempt.actor);
  }
  expect(await callOf(engine, "c")).toMatchObject({ status: "claimed" });
  await clock.advance(LEASE);
  expect(await callOf(engine, "c")).toMatchObject({ status: "settled", reason: "executor_lost" });
  expect((await runOf(engine))?.status).toBe("queued");
});

test("deadlines and approvals end on time, also when they passed while the server was away", async () => {
  const { clock, open } = start();
  const tools = [
    { name: "locate", executor: "client", deadlineMs: 1_000 },
    { name: "pay", executor: "client", approval: "always", approvalMs: 5_000 },
  ] as const;
  {
    await using engine = open();
    await engine.create("s", { agent: "demo" }, ANA);
    await send(engine, "s", { type: "tools.advertise", tools: [...tools] });
    const { append, finish } = await startAttempt(engine, "s");
    await append({ type: "round.open" });
    for (const { name } of tools) {
      await append(
        { type: "TOOL_CALL_START", toolCallId: name, toolCallName: name },
        { type: "TOOL_CALL_ARGS", toolCallId: name, delta: "{}" },
        { type: "TOOL_CALL_END", toolCallId: name },
      );
    }
    await append({ type: "round.close" });
    await finish();
    await clock.advance(999);
    expect(await callOf(engine, "locate")).toMatchObject({ status: "open" });
    await clock.advance(1);
    expect(await callOf(engine, "locate")).toMatchObject({
      status: "settled",
      outcome: "expired",
      reason: "deadline",
    });
    expect(await callOf(engine, "pay")).toMatchObject({ status: "gated" });
  }
  await clock.advance(60_000);
  await using engine = open();
  await clock.advance(0);
  expect(await callOf(engine, "pay")).toMatchObject({
    status: "settled",
    outcome: "expired",
    reason: "approval_expired",
  });
  expect((await runOf(engine))?.status).toBe("queued");
});

test("what ended in time leaves no index row behind", async () => {
  const { storage, open } = start();
  await using engine = open();
  const { finish } = await startAttempt(engine, "s");
  await finish();
  const kinds = ["work", "lease", "claim", "approval", "deadline"];
  expect(await storage.due({ kinds, before: Number.MAX_SAFE_INTEGER, limit: 10 })).toEqual([]);
});

test("timers of many sessions fire, each once", async () => {
  const { clock, open } = start();
  await using engine = open();
  const sessions = Array.from({ length: 250 }, (_, index) => `s${index}`);
  for (const session of sessions) await startAttempt(engine, session, { worker: session });
  await clock.advance(LEASE + 1);
  for (const session of sessions) {
    expect(await runOf(engine, session)).toMatchObject({ status: "queued", losses: 1 });
  }
});

test("the token of a lost attempt is fenced", async () => {
  const { clock, open } = start();
  await using engine = open();
  const { append, work } = await startAttempt(engine, "s");
  await clock.advance(LEASE);
  const verdict = await append({ type: "CUSTOM", name: "late", value: 1 });
  expect(verdict.error?.code).toBe("attempt_fenced");
  const next = await engine.claimWork({ agent: "demo", worker: "w2" }, DEMO);
  if (!next) throw new Error("No work came.");
  expect(next).toMatchObject({ runId: work.runId, attempt: 2 });
  expect((await attemptOf(engine, next).finish()).status).toBe("applied");
});

test("a timer whose commit fails fires again, and keeps no other session waiting", async () => {
  const clock = new ManualClock();
  const { storage, failNext } = gate(clock.now);
  const logged: string[] = [];
  await using engine = startEngine({
    storage,
    schedule: clock.schedule,
    log: (message) => logged.push(message),
  });
  await startAttempt(engine, "s", { worker: "a" });
  await startAttempt(engine, "t", { worker: "b" });
  failNext();
  await clock.advance(LEASE);
  const statuses = [await runOf(engine, "s"), await runOf(engine, "t")].map((run) => run?.status);
  expect(new Set(statuses)).toEqual(new Set(["active", "queued"]));
  expect(logged).toHaveLength(1);
  await clock.advance(1_000);
  expect((await runOf(engine, "s"))?.status).toBe("queued");
  expect((await runOf(engine, "t"))?.status).toBe("queued");
  expect(logged).toHaveLength(1);
});

test("commits that wait for company come together, and closing does not wait for more", async () => {
  const clock = new ManualClock();
  const { storage, commits } = gate(clock.now);
  const engine = startEngine({ storage, schedule: clock.schedule, coalesceMs: 50 });
  const creating = engine.create("s", { agent: "demo" }, ANA);
  await clock.advance(100);
  await creating;
  const before = commits.length;
  const sent = ["m1", "m2"].map((messageId) =>
    send(engine, "s", { type: "message.send", messageId, content: "x" }),
  );
  await clock.advance(49);
  expect(commits.length).toBe(before);
  await clock.advance(1);
  await Promise.all(sent);
  expect(commits.length).toBe(before + 1);
  const last = send(engine, "s", { type: "message.send", messageId: "m3", content: "x" });
  await engine.close();
  expect((await last).status).toBe("applied");
});
