import { expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { ManualClock, quiet } from "../support/clock.ts";
import { ANA, DEMO, send, startAttempt, startEngine, stateOf } from "../support/engine.ts";

const message = (engine: ReturnType<typeof startEngine>, session: string, messageId = "m1") =>
  send(engine, session, { type: "message.send", messageId, content: "hi" });

test("a worker that waits is woken by the message", async () => {
  await using engine = startEngine();
  await engine.create("s", { agent: "demo" }, ANA);
  const waiting = engine.claimWork({ agent: "demo", worker: "w", waitMs: 10_000 }, DEMO);
  await quiet();
  const { runId } = await message(engine, "s");
  expect(await waiting).toMatchObject({ session: "s", runId, attempt: 1 });
});

test("every ready run goes to one worker, however many wait", async () => {
  await using engine = startEngine();
  const ids = Array.from({ length: 20 }, (_, index) => `s${index}`);
  for (const id of ids) await engine.create(id, { agent: "demo" }, ANA);
  const workers = Array.from({ length: 30 }, (_, index) =>
    engine.claimWork({ agent: "demo", worker: `w${index}`, waitMs: 300 }, DEMO),
  );
  await Promise.all(ids.map((id) => message(engine, id)));
  const works = (await Promise.all(workers)).filter((work) => work !== undefined);
  expect(works.map(({ session }) => session).toSorted()).toEqual(ids.toSorted());
});

test("work waits for its own agent, over a restart, and nothing comes to those who ask in vain", async () => {
  const storage = memoryStorage();
  {
    await using engine = startEngine({ storage });
    await engine.create("s", { agent: "demo" }, ANA);
    await message(engine, "s");
    expect(await engine.claimWork({ agent: "other", worker: "w" }, DEMO)).toBeUndefined();
  }
  await using engine = startEngine({ storage });
  expect(await engine.claimWork({ agent: "demo", worker: "w" }, DEMO)).toMatchObject({
    session: "s",
  });
  expect(await engine.claimWork({ agent: "demo", worker: "w2" }, DEMO)).toBeUndefined();
});

test("a wait ends after waitMs, when the worker goes, and when the server closes", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  await using engine = startEngine({ storage, schedule: clock.schedule });
  const abort = new AbortController();
  const claim = (waitMs: number, signal?: AbortSignal) =>
    engine.claimWork({ agent: "demo", worker: "w", waitMs }, DEMO, signal ? { signal } : {});
  const short = claim(1_000);
  const gone = claim(60_000, abort.signal);
  const long = claim(60_000);
  await clock.advance(1_000);
  expect(await short).toBeUndefined();
  abort.abort();
  expect(await gone).toBeUndefined();
  await engine.close();
  expect(await long).toBeUndefined();
});

test("a call that reaches a worker who just left goes to the next", async () => {
  await using engine = startEngine();
  await engine.create("s", { agent: "demo" }, ANA);
  const abort = new AbortController();
  const left = engine.claimWork({ agent: "demo", worker: "w1", waitMs: 5_000 }, DEMO, abort);
  const stays = engine.claimWork({ agent: "demo", worker: "w2", waitMs: 5_000 }, DEMO);
  await quiet();
  const sent = message(engine, "s");
  abort.abort();
  await sent;
  const [first, second] = await Promise.all([left, stays]);
  expect([first, second].filter((work) => work !== undefined)).toHaveLength(1);
});

test("the same worker gets its attempt again by its wake id", async () => {
  await using engine = startEngine();
  const { work } = await startAttempt(engine, "s", { worker: "w1" });
  const { wakeId } = work;
  const again = await engine.claimWork({ agent: "demo", worker: "w1", wakeId }, DEMO);
  expect(again).toMatchObject({ session: "s", runId: work.runId, attempt: 1, wakeId });
  expect((await stateOf(engine, "s")).runs[0]).toMatchObject({ attempt: 1, losses: 0 });
});

test("5.1.4 a wake id gives its worker's attempt and nothing else, now", async () => {
  await using engine = startEngine();
  const { work, actor } = await startAttempt(engine, "s", { worker: "w1" });
  const { wakeId, runId, attempt } = work;
  await engine.create("ready", { agent: "demo" }, ANA);
  await message(engine, "ready");
  const [ready] = (await stateOf(engine, "ready")).runs;
  const claim = (worker: string, named: string) =>
    engine.claimWork({ agent: "demo", worker, wakeId: named, waitMs: 30_000 }, DEMO);
  const before = await engine.state("s");
  const held = { code: "run_held" };
  await expect(claim("w2", wakeId)).rejects.toMatchObject(held);
  await expect(claim("w1", "wake_none")).rejects.toMatchObject(held);
  // One that nobody began is for whoever asks for work: it is not handed to another worker's question either.
  await expect(claim("w1", ready?.wakeId ?? "")).rejects.toMatchObject(held);
  expect(await engine.state("s")).toEqual(before);
  const finish = { type: "run.finish", runId, attempt, producer: "main", seq: 1 } as const;
  await send(engine, "s", finish, actor);
  await expect(claim("w1", wakeId)).rejects.toMatchObject(held);
  expect((await stateOf(engine, "ready")).runs[0]).toMatchObject({ status: "queued", attempt: 0 });
});

test("a new process under a worker's name takes its runs over at once", async () => {
  await using engine = startEngine();
  const { work, append } = await startAttempt(engine, "s", { worker: "w1" });
  const taken = await engine.claimWork({ agent: "demo", worker: "w1" }, DEMO);
  expect(taken).toMatchObject({ session: "s", runId: work.runId, attempt: 2 });
  const fenced = await append({ type: "CUSTOM", name: "late", value: 1 });
  expect(fenced.error?.code).toBe("attempt_fenced");
  const { entries } = await engine.page("s", work.offset, 100);
  expect(entries).toContain('"reason":"worker_restarted"');
});

test("one process may hold several attempts under one name; another process takes them all over", async () => {
  await using engine = startEngine();
  for (const id of ["a", "b"]) {
    await engine.create(id, { agent: "demo" }, ANA);
    await message(engine, id);
  }
  const claim = (instance: string) =>
    engine.claimWork({ agent: "demo", worker: "w", instance }, DEMO);
  const first = await claim("one");
  const second = await claim("one");
  expect([first?.attempt, second?.attempt]).toEqual([1, 1]);
  expect(new Set([first?.session, second?.session])).toEqual(new Set(["a", "b"]));

  const third = await claim("two");
  const fourth = await claim("two");
  expect([third?.attempt, fourth?.attempt]).toEqual([2, 2]);
});

test("a process that goes on after the server restarted keeps its attempts", async () => {
  const storage = memoryStorage();
  const claim = { agent: "demo", worker: "w", instance: "one" };
  {
    await using engine = startEngine({ storage });
    await engine.create("s", { agent: "demo" }, ANA);
    await message(engine, "s");
    expect(await engine.claimWork(claim, DEMO)).toMatchObject({ attempt: 1 });
  }
  await using engine = startEngine({ storage });
  expect(await engine.claimWork(claim, DEMO)).toBeUndefined();
  expect((await stateOf(engine, "s")).runs[0]).toMatchObject({ status: "active", attempt: 1 });
});

test("work goes to who may work in its session, past those who may not", async () => {
  await using engine = startEngine();
  const only = (session: string) => ({ may: (it: string) => it === session });
  const wait = (worker: string, options = {}) =>
    engine.claimWork({ agent: "demo", worker, waitMs: 10_000 }, DEMO, options);
  const theirs = wait("w1", only("s2"));
  const any = wait("w2");
  await quiet();
  await engine.create("s1", { agent: "demo" }, ANA);
  await engine.create("s2", { agent: "demo" }, ANA);
  await message(engine, "s1");
  expect(await any).toMatchObject({ session: "s1" });
  await message(engine, "s2");
  expect(await theirs).toMatchObject({ session: "s2" });
  // Nor does a worker take over what its namesake does where it may not work.
  expect(await engine.claimWork({ agent: "demo", worker: "w2" }, DEMO, only("s2"))).toBe(undefined);
  const { text } = await engine.state("s1");
  expect(text).toContain('"status":"active"');
});
