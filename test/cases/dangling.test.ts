import { aiSdk } from "@holdfast/sdk/codec/ai-sdk";
import { memoryStorage } from "holdfast";
import { expect, test } from "vitest";
import { ManualClock } from "../../packages/server/test/support/clock.ts";
import { resultsOf } from "./history.ts";
import { openHouse, proposal } from "./support.ts";

test("C01: a call whose process died before its result has a result in the next request, recorded as such", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  await using house = await openHouse({ storage, schedule: clock.schedule });
  const runId = await house.send("weather?");
  const first = await house.attempt();
  await first.append({ type: "round.open" }, ...proposal("c1", "weather", '{"city":"Oslo"}'), {
    type: "round.close",
  });
  await house.restart();
  await clock.advance(60_000); // nobody comes back for the attempt
  const second = await house.attempt();
  expect(second.work).toMatchObject({ runId, attempt: 2 });
  await second.finish();
  await house.send("and now?");
  const third = await house.attempt();
  const history = await aiSdk.history(await house.state(), { runId: third.work.runId });
  expect(resultsOf(history)).toEqual(["c1"]);
  const settled = (await house.ana.entries(house.session)).filter(
    ({ event }) => event.type === "call.settled",
  );
  expect(settled).toMatchObject([
    { event: { callId: "c1", outcome: "error", reason: "unanswered" } },
  ]);
});

test("C05: a denial is an end the model sees", async () => {
  await using house = await openHouse();
  await house.send("pay");
  const first = await house.attempt();
  await first.append({ type: "round.open" }, ...proposal("c1", "transfer", '{"amount":5}'), {
    type: "round.close",
  });
  await first.finish();
  const call = (await house.state()).calls.get("c1");
  const verdict = await house.bo.command(house.session, {
    type: "call.decide",
    callId: "c1",
    approvalId: call?.approval?.id ?? "",
    approved: false,
    reason: "too much",
  });
  expect(verdict.status).toBe("applied");
  const second = await house.attempt();
  const state = await house.state();
  expect(state.calls.get("c1")).toMatchObject({
    status: "settled",
    outcome: "denied",
    settledBy: "user:bo",
  });
  const history = await aiSdk.history(state, { runId: second.work.runId });
  expect(resultsOf(history)).toEqual(["c1"]);
  expect(JSON.stringify(history)).toContain("too much");
});

test("C06: a call that a frontend had not answered is claimable after a restart", async () => {
  await using house = await openHouse();
  await house.send("where am I?");
  const first = await house.attempt();
  await first.append({ type: "round.open" }, ...proposal("c1", "location"), {
    type: "round.close",
  });
  await first.finish();
  await house.restart();
  expect((await house.state()).calls.get("c1")?.status).toBe("open");
  const claim = await house.bo.command(house.session, { type: "call.claim", callId: "c1" });
  expect(claim).toMatchObject({ status: "applied", claimId: expect.any(String) });
});

test("C12: arguments that are no object are kept as text and exported as an object", async () => {
  await using house = await openHouse();
  const runId = await house.send("go");
  const first = await house.attempt();
  const texts = ["", "null", "[1]", "plain words"];
  await first.append({ type: "round.open" });
  for (const [index, text] of texts.entries())
    await first.append(...proposal(`c${index}`, "weather", ...(text ? [text] : [])));
  for (const index of texts.keys()) {
    await first.append({
      type: "call.answer",
      callId: `c${index}`,
      outcome: "ok",
      answer: { type: "json", value: null },
    });
  }
  await first.append({ type: "round.close" });
  const state = await house.state();
  expect(texts.map((_, index) => state.calls.get(`c${index}`)?.arguments)).toEqual(texts);
  const history = await aiSdk.history(state, { runId });
  const inputs = history.flatMap(({ content }) =>
    typeof content === "string"
      ? []
      : content.flatMap((part) => (part.type === "tool-call" ? [part.input] : [])),
  );
  expect(inputs).toHaveLength(4);
  for (const input of inputs) expect(input).toBeTypeOf("object");
  expect(inputs.every((input) => input !== null && !Array.isArray(input))).toBe(true);
});
