import { expect, test } from "vitest";
import type { Event } from "@holdfast/protocol";
import { memoryStorage } from "holdfast";
import { ManualClock } from "../../packages/server/test/support/clock.ts";
import { historyOf, resultsOf } from "./history.ts";
import {
  answerTo,
  callOf,
  decisionOn,
  loggedSince,
  openHouse,
  proposal,
  suspendOn,
  type House,
} from "./support.ts";

const DAY = 86_400_000;

test("C18: a model that goes on and on ends visibly, at its session's number of rounds", async () => {
  await using house = await openHouse();
  await budget(house, { rounds: 3, repeats: 25 });
  await house.send("go");
  const attempt = await house.attempt();
  for (let n = 0; n < 3; n += 1) {
    const call = proposal("weather:1", "weather", `{"n":${n}}`);
    const round = [{ type: "round.open" }, ...call, answerTo("weather:1")] as const;
    expect((await attempt.append(...round)).skipped).toBeUndefined();
  }
  const verdict = await attempt.append({ type: "round.open" });
  expect(verdict).toMatchObject({ status: "applied", ended: { code: "budget_exceeded" } });
  expect(verdict.skipped).toBeUndefined();
  expect((await house.state()).runs.get(attempt.work.runId)).toMatchObject({
    status: "ended",
    outcome: "error",
    reason: "budget_exceeded",
  });
  expect((await attempt.append({ type: "round.open" })).error?.code).toBe("run_ended");
  expect(await house.agent.claimWork({ worker: "w1", waitMs: 0 })).toBeUndefined();
});

test("C19: a payload is written as often as its session allows, each under the call's own id", async () => {
  await using house = await openHouse();
  await budget(house, { rounds: 200, repeats: 2 });
  await house.send("go");
  const attempt = await house.attempt();
  const write = (id: string, text: string) =>
    attempt.append({ type: "round.open" }, ...proposal(id, "weather", text));
  await write("write:0", '{"to":"x","n":1}');
  await write("write:1", '{ "n": 1, "to": "x" }'); // written otherwise, it is the same payload
  const claims = [await attempt.claim("write:0"), await attempt.claim("write:1")];
  expect(claims.map(({ callId }) => callId)).toEqual(["write:0", "write:1"]);
  const last = await write("write:2", '{"to":"x","n":1}');
  expect(last).toMatchObject({ status: "applied", ended: { code: "budget_exceeded" } });
  expect((await attempt.claim("write:2")).error?.code).toBe("call_settled");
  const { runs, calls } = await house.state();
  expect(runs.get(attempt.work.runId)).toMatchObject({ reason: "budget_exceeded" });
  expect([...calls.values()].every(({ status }) => status === "settled")).toBe(true);
});

test("C21: one result that is sent twice continues the run once", async () => {
  await using house = await openHouse();
  await suspendOn(house, "location");
  const { offset } = await house.ana.state(house.session);
  const command = { id: "again", ...answerTo("c1") };
  const verdicts = await Promise.all([
    house.ana.command(house.session, command),
    house.ana.command(house.session, command),
  ]);
  expect(verdicts.map(({ status }) => status)).toEqual(["applied", "applied"]);
  // And once more from the handler that gave it, under another id.
  const second = await house.ana.command(house.session, answerTo("c1"));
  expect(second.error?.code).toBe("already_answered");
  expect(await loggedSince(house, offset, "run.")).toEqual(["run.queued"]);
  await (await house.attempt()).finish();
  expect(await house.agent.claimWork({ worker: "w1", waitMs: 0 })).toBeUndefined();
});

test("C22, C25: parallel results that come at once are each kept, and continue the run once", async () => {
  await using house = await openHouse();
  const tools = Array.from({ length: 8 }, () => "location");
  await suspendOn(house, ...tools);
  const { offset } = await house.ana.state(house.session);
  const ids = tools.map((_, n) => `c${n + 1}`);
  const answers = ids.map((id, n) =>
    house[n % 2 === 0 ? "ana" : "bo"].command(house.session, answerTo(id, id)),
  );
  for (const { status } of await Promise.all(answers)) expect(status).toBe("applied");
  expect(await loggedSince(house, offset, "run.")).toEqual(["run.queued"]);
  const logged = await house.ana.entries(house.session);
  const answered = logged.flatMap(({ offset: at, event }) => (at > offset ? [event] : []));
  expect(
    answered
      .filter(({ type }) => type !== "run.queued")
      .map(callAnswered)
      .toSorted(),
  ).toEqual(ids);
  const kept = async () => {
    const { calls } = await house.state();
    return ids.map((id) => calls.get(id)?.answer?.answer);
  };
  const own = ids.map((id) => ({ type: "json", value: id }));
  expect(await kept()).toEqual(own);
  await house.restart(); // what is stored is each call's own, too
  expect(await kept()).toEqual(own);
  const next = await house.attempt();
  expect(resultsOf(await historyOf(house, next.work.runId))).toEqual(ids);
});

test("C23: the run goes on when the slow sibling is there, however slow", async () => {
  const clock = new ManualClock();
  await using house = await openHouse(timed(clock));
  await suspendOn(house, "location", "location", "transfer");
  const { offset } = await house.ana.state(house.session);
  await house.ana.command(house.session, answerTo("c1"));
  await clock.advance(5_000);
  await house.bo.command(house.session, await decisionOn(house, "c3", true));
  await clock.advance(5_000);
  expect(await loggedSince(house, offset, "run.")).toEqual([]);
  await house.ana.command(house.session, answerTo("c2"));
  expect(await loggedSince(house, offset, "run.")).toEqual(["run.queued"]);
});

test("C24: a batch waits for its question without limit; a tool's own deadline is its own", async () => {
  const clock = new ManualClock();
  await using house = await openHouse(timed(clock));
  await house.send("go");
  const tools = [
    { name: "ask_user", executor: "client" },
    { name: "fast", executor: "client", deadlineMs: 60_000 },
  ];
  const attempt = await house.attempt({ tools });
  await attempt.append(
    { type: "round.open" },
    ...proposal("c1", "ask_user", "{}"),
    ...proposal("c2", "fast", "{}"),
    { type: "round.close" },
  );
  await attempt.finish();
  await clock.advance(59_999);
  expect((await callOf(house, "c2")).status).toBe("open");
  await clock.advance(1);
  expect(await callOf(house, "c2")).toMatchObject({ outcome: "expired", reason: "deadline" });
  await clock.advance(5 * DAY);
  const state = await house.state();
  expect(state.calls.get("c1")?.status).toBe("open");
  expect(state.runs.get(attempt.work.runId)?.status).toBe("suspended");
  await house.ana.command(house.session, answerTo("c1", "yes"));
  expect((await house.state()).runs.get(attempt.work.runId)?.status).toBe("queued");
});

/** The call that an event answers, and nothing but answers it. */
function callAnswered(event: Event): string {
  return event.type === "call.answered" ? event.callId : event.type;
}

function budget(house: House, limits: { rounds: number; repeats: number }) {
  return house.ana.command(house.session, { type: "policy.set", policy: { budget: limits } });
}

function timed(clock: ManualClock) {
  return { storage: memoryStorage({ now: clock.now }), schedule: clock.schedule };
}
