import { expect, test } from "vitest";
import { historyOf, resultIn } from "./history.ts";
import { openHouse, proposal, suspendOn } from "./support.ts";

test("C16: the first valid answer wins; the second learns which and whose", async () => {
  await using house = await openHouse();
  await suspendOn(house, "location");
  const answer = (name: "ana" | "bo") =>
    house[name].command(house.session, {
      type: "call.answer",
      callId: "c1",
      outcome: "ok",
      answer: { type: "json", value: name },
    });
  const verdicts = await Promise.all([answer("ana"), answer("bo")]);
  expect(verdicts.map(({ status }) => status).toSorted()).toEqual(["applied", "rejected"]);
  const winner = verdicts[0]?.status === "applied" ? "ana" : "bo";
  const refused = verdicts.find(({ status }) => status === "rejected");
  expect(refused?.error).toMatchObject({
    code: "already_answered",
    details: { by: `user:${winner}`, answer: { type: "json", value: winner } },
  });
});

test("C17: a call that is proposed again with its result known is not offered again", async () => {
  await using house = await openHouse();
  await suspendOn(house, "location");
  await house.bo.command(house.session, {
    type: "call.answer",
    callId: "c1",
    outcome: "ok",
    answer: { type: "text", text: "Oslo" },
  });
  const second = await house.attempt();
  await second.append({ type: "round.open" }, ...proposal("c1", "location", '{"n":0}'), {
    type: "round.close",
  });
  await second.finish();
  const state = await house.state();
  expect([...state.calls.keys()]).toEqual(["c1"]);
  expect(state.runs.get(second.work.runId)).toMatchObject({ status: "ended", outcome: "complete" });
  expect(
    (await house.ana.command(house.session, { type: "call.claim", callId: "c1" })).error?.code,
  ).toBe("call_settled");
});

test("C47: an approval that was decided is not asked again after a restart", async () => {
  await using house = await openHouse();
  await suspendOn(house, "transfer");
  const approvalId = (await house.state()).calls.get("c1")?.approval?.id ?? "";
  await house.bo.command(house.session, {
    type: "call.decide",
    callId: "c1",
    approvalId,
    approved: true,
  });
  const second = await house.attempt();
  const { claimId = "" } = await second.claim("c1");
  await second.append({
    type: "call.answer",
    callId: "c1",
    claimId,
    outcome: "ok",
    answer: { type: "text", text: "sent" },
  });
  await second.finish();
  await house.restart();
  const call = (await house.state()).calls.get("c1");
  expect(call).toMatchObject({
    status: "settled",
    outcome: "ok",
    approval: { decision: { by: "user:bo", approved: true } },
  });
  const again = await house.ana.command(house.session, {
    type: "call.decide",
    callId: "c1",
    approvalId,
    approved: false,
  });
  expect(again.error).toMatchObject({
    code: "stale_decision",
    details: { decision: { by: "user:bo" } },
  });
});

test.each([0, "", false, null])("C103: %j is an answer", async (value) => {
  await using house = await openHouse();
  await suspendOn(house, "location");
  const verdict = await house.ana.command(house.session, {
    type: "call.answer",
    callId: "c1",
    outcome: "ok",
    answer: { type: "json", value },
  });
  expect(verdict.status).toBe("applied");
  const state = await house.state();
  expect(state.calls.get("c1")?.answer?.answer).toEqual({ type: "json", value });
  const [run] = state.runs.values();
  expect(run?.status).toBe("queued");
  // And it is what the model is told.
  const told = resultIn(await historyOf(house, run?.id ?? ""), "c1");
  expect(told).toMatchObject({ output: { value } });
});
