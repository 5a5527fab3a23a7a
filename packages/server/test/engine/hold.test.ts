import { expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { ManualClock } from "../support/clock.ts";
import { DEMO, send, startAttempt, startEngine, stateOf } from "../support/engine.ts";

const HOUR = 3_600_000;

/** An attempt on a clock of its own, and a way to start its server anew. */
async function held(hours: number) {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  const start = () => startEngine({ storage, schedule: clock.schedule, leaseMs: 1_000 });
  let engine = start();
  const attempt = await startAttempt(engine, "s", { worker: "w1" });
  const { runId, attempt: number } = attempt.work;
  const until = clock.now() + hours * HOUR;
  const beat = { type: "run.heartbeat", runId, attempt: number, until } as const;
  const verdict = await send(engine, "s", beat, attempt.actor);
  return {
    clock,
    verdict,
    until,
    runOf: async () => (await stateOf(engine, "s")).runs[0],
    claim: (worker: string) => engine.claimWork({ agent: "demo", worker }, DEMO),
    beat: () => send(engine, "s", { type: "run.heartbeat", runId, attempt: number }, attempt.actor),
    async restart() {
      await engine.close();
      engine = start();
    },
    [Symbol.asyncDispose]: () => engine.close(),
  };
}

test("an attempt is held up to a time, whoever is silent, and lost afterwards", async () => {
  await using it = await held(2);
  expect(it.verdict).toMatchObject({ status: "applied", heldUntil: it.until });
  await it.clock.advance(2 * HOUR - 1_000);
  expect(await it.runOf()).toMatchObject({ status: "active", attempt: 1, losses: 0 });
  await it.clock.advance(3_000);
  expect(await it.runOf()).toMatchObject({ status: "queued", losses: 1 });
});

test("it is held over a restart of the server too", async () => {
  await using it = await held(2);
  await it.clock.advance(HOUR);
  await it.restart();
  await it.clock.advance(HOUR - 1_000);
  expect(await it.runOf()).toMatchObject({ status: "active", attempt: 1 });
  await it.clock.advance(5_000);
  expect(await it.runOf()).toMatchObject({ status: "queued", losses: 1 });
});

test.each([false, true])(
  "a worker of its name does not take it over; restarted: %s",
  async (anew) => {
    await using it = await held(1);
    if (anew) await it.restart();
    const claimed = it.claim("w1");
    await it.clock.advance(1);
    expect(await claimed).toBeUndefined();
    expect(await it.runOf()).toMatchObject({ status: "active", attempt: 1, losses: 0 });
  },
);

test("a heartbeat without a time shortens nothing", async () => {
  await using it = await held(1);
  await it.beat();
  await it.clock.advance(HOUR / 2);
  expect(await it.runOf()).toMatchObject({ status: "active" });
});

test("nothing is held for longer than a day", async () => {
  await using it = await held(48);
  expect(it.verdict.heldUntil).toBe(it.clock.now() + 24 * HOUR);
});
