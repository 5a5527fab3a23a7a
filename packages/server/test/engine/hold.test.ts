import { expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { ManualClock } from "../support/clock.ts";
import type { CommandBody } from "@holdfast/protocol";
import { DEMO, send, startAttempt, startEngine, stateOf } from "../support/engine.ts";

const HOUR = 3_600_000;

/** An attempt on a clock of its own that executes a call, and a way to start its server anew. */
async function held(hours: number) {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  const start = () =>
    startEngine({ storage, schedule: clock.schedule, leaseMs: 1_000, claimLeaseMs: 1_000 });
  let engine = start();
  const attempt = await startAttempt(engine, "s", { worker: "w1" });
  const { runId, attempt: number } = attempt.work;
  await attempt.append(
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "job" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
  );
  const claim = { type: "call.claim", callId: "c1" } as const;
  const { claimId = "" } = await send(engine, "s", claim, attempt.actor);
  const until = clock.now() + hours * HOUR;
  const beat = { type: "run.heartbeat", runId, attempt: number, until } as const;
  const verdict = await send(engine, "s", beat, attempt.actor);
  return {
    clock,
    verdict,
    until,
    claimId,
    callOf: async () => (await stateOf(engine, "s")).calls[0],
    say: (body: CommandBody) => send(engine, "s", body, attempt.actor),
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
  expect(await it.runOf()).not.toHaveProperty("heldUntil");
});

test.each([false, true])(
  "5.3.7 the calls it executes are held with it, and end with it; restarted: %s",
  async (anew) => {
    await using it = await held(2);
    const { claimId } = it;
    expect(await it.runOf()).toMatchObject({ heldUntil: it.until });
    if (anew) await it.restart();
    await it.clock.advance(2 * HOUR - 1_000);
    expect(await it.callOf()).toMatchObject({ status: "claimed", claim: { id: claimId } });
    await it.clock.advance(5_000);
    expect(await it.callOf()).toMatchObject({ outcome: "error", reason: "executor_lost" });
  },
);

test("5.3.7 renewing a held claim shortens nothing, and its answer counts up to the end", async () => {
  await using it = await held(2);
  const { claimId } = it;
  await it.say({ type: "call.renew", callId: "c1", claimId });
  await it.clock.advance(2 * HOUR - 1_000);
  const answer = { outcome: "ok", answer: { type: "json", value: 1 } } as const;
  const verdict = await it.say({ type: "call.answer", callId: "c1", claimId, ...answer });
  expect(verdict).toMatchObject({ status: "applied" });
  expect(await it.callOf()).toMatchObject({ status: "settled", outcome: "ok" });
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
