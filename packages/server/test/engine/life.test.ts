import { afterEach, expect, test } from "vitest";
import type { Storage } from "../../src/index.ts";
import { memoryStorage } from "../../src/storage/memory.ts";
import { ManualClock } from "../support/clock.ts";
import { ANA, claimAttempt, send, startEngine } from "../support/engine.ts";
import type { Engine } from "../../src/engine/index.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const it of open.splice(0).toReversed()) await it[Symbol.asyncDispose]();
});

/** A storage that counts what is written to the index. */
function start(storage?: Storage, clock = new ManualClock()) {
  const inner = storage ?? memoryStorage({ now: clock.now });
  let dueWrites = 0;
  const counted: Storage = {
    ...inner,
    append: (commit) => {
      dueWrites += commit.due.filter(({ kind }) => kind === "expiry").length;
      return inner.append(commit);
    },
  };
  const engine = startEngine({ storage: counted, schedule: clock.schedule });
  open.push(engine);
  return { engine, clock, storage: inner, writes: () => dueWrites };
}

const lives = (engine: Engine, id = "s") =>
  engine.session(id).then(
    () => true,
    () => false,
  );
const say = (engine: Engine, messageId: string) =>
  send(engine, "s", { type: "message.send", messageId, content: "hello" });

test("5.11.4 a session is deleted once its time to live has passed since its last act", async () => {
  const { engine, clock, writes } = start();
  await engine.create("s", { agent: "demo", ttlMs: 10_000 }, ANA);
  await clock.advance(9_000);
  await say(engine, "m1");
  await clock.advance(1_500);
  expect(await lives(engine)).toBe(true);
  await clock.advance(8_400);
  expect(await lives(engine)).toBe(true);
  await clock.advance(200);
  expect(await lives(engine)).toBe(false);
  // One when it was made, one when it fired early: none for what was done in it.
  expect(writes()).toBe(2);
});

test("5.11.4 a session without one lives on, and so does one whose time was taken away", async () => {
  const { engine, clock } = start();
  await engine.create("s", { agent: "demo", ttlMs: 10_000 }, ANA);
  await engine.create("t", { agent: "demo" }, ANA);
  await send(engine, "s", { type: "session.update", ttlMs: null });
  await clock.advance(100_000);
  expect([await lives(engine), await lives(engine, "t")]).toEqual([true, true]);
});

test("5.11.4 the time begins anew when it is changed", async () => {
  const { engine, clock } = start();
  await engine.create("s", { agent: "demo", ttlMs: 100_000 }, ANA);
  await clock.advance(50_000);
  await send(engine, "s", { type: "session.update", ttlMs: 5_000 });
  await clock.advance(4_900);
  expect(await lives(engine)).toBe(true);
  await clock.advance(200);
  expect(await lives(engine)).toBe(false);
});

test("5.11.4 an agent at work holds its session, also where it is silent", async () => {
  const { engine, clock } = start();
  await engine.create("s", { agent: "demo", ttlMs: 5_000 }, ANA);
  await say(engine, "m1");
  const { actor, work } = await claimAttempt(engine);
  const { runId, attempt } = work;
  const until = clock.now() + 60_000;
  await send(engine, "s", { type: "run.heartbeat", runId, attempt, until }, actor);
  await clock.advance(50_000);
  expect(await lives(engine)).toBe(true);
});

test("5.11.4 nobody asks for a session any more whose time is over", async () => {
  const clock = new ManualClock();
  const inner = memoryStorage({ now: clock.now });
  const missed: string[] = [];
  const storage: Storage = {
    ...inner,
    async rows(session) {
      const found = await inner.rows(session);
      if (!found) missed.push(session);
      return found;
    },
  };
  const { engine } = start(storage, clock);
  await engine.create("s", { agent: "demo", ttlMs: 10_000 }, ANA);
  await say(engine, "m1");
  await send(engine, "s", { type: "run.cancel", runId: "none" });
  missed.length = 0;
  await clock.advance(60 * 60_000);
  expect(missed).toEqual([]);
  expect(await lives(engine)).toBe(false);
  // One of the same name has no part in what was refused in the other.
  await engine.create("s", { agent: "demo" }, ANA);
  await engine.trail.audit.flush();
  expect(await engine.trail.refusals("s", { after: 0, limit: 9 })).toEqual([]);
});

test("5.11.4 what is said while the server finds out that the time is over keeps the session", async () => {
  const clock = new ManualClock();
  const inner = memoryStorage({ now: clock.now });
  let meanwhile: (() => Promise<unknown>) | undefined;
  const storage: Storage = {
    ...inner,
    async entries(...asked) {
      const found = await inner.entries(...asked);
      const act = meanwhile;
      meanwhile = undefined;
      await act?.();
      return found;
    },
  };
  const { engine } = start(storage, clock);
  await engine.create("s", { agent: "demo", ttlMs: 10_000 }, ANA);
  let said = false;
  meanwhile = async () => {
    said = (await say(engine, "m1")).status === "applied";
  };
  await clock.advance(10_100);
  expect(said).toBe(true);
  expect(await lives(engine)).toBe(true);
  await clock.advance(9_000);
  expect(await lives(engine)).toBe(true);
  await clock.advance(2_000);
  expect(await lives(engine)).toBe(false);
});

test("5.11.4 it passes while no server runs, and for a session that is not loaded", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  const first = startEngine({ storage, schedule: clock.schedule });
  await first.create("s", { agent: "demo", ttlMs: 10_000 }, ANA);
  await first.create("t", { agent: "demo", ttlMs: 10_000 }, ANA);
  await clock.advance(6_000);
  await send(first, "t", { type: "message.send", messageId: "m1", content: "hello" });
  await first.close();
  await clock.advance(6_000);
  const { engine } = start(storage, clock);
  await clock.advance(0);
  expect([await lives(engine), await lives(engine, "t")]).toEqual([false, true]);
  await clock.advance(4_100);
  expect(await lives(engine, "t")).toBe(false);
  expect(await storage.due({ kinds: ["expiry"], before: Infinity, limit: 9 })).toEqual([]);
});

test("5.11.2 closing drops timers and work, and lists tell of it", async () => {
  const { engine, storage } = start();
  await engine.create("s", { agent: "demo" }, ANA);
  await engine.create("t", { agent: "demo" }, ANA);
  await say(engine, "m1");
  await claimAttempt(engine);
  await send(engine, "s", { type: "session.close", reason: "done" });
  const rest = await storage.due({ kinds: ["work", "lease"], before: Infinity, limit: 9 });
  expect(rest).toEqual([]);
  const { sessions } = await engine.sessions({ closed: true, limit: 9 }, () => true);
  expect(sessions).toMatchObject([{ id: "s", closed: { by: "user:ana", reason: "done" } }]);
});

test("5.11.1 a session is found by the metadata it has now", async () => {
  const { engine } = start();
  await engine.create("s", { agent: "demo", metadata: { stage: "new" } }, ANA);
  const found = async (stage: string) =>
    (await engine.sessions({ metadata: { stage }, limit: 9 }, () => true)).sessions.length;
  expect([await found("new"), await found("old")]).toEqual([1, 0]);
  await send(engine, "s", { type: "session.update", metadata: { stage: "old" } });
  expect([await found("new"), await found("old")]).toEqual([0, 1]);
});
