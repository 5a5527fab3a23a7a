import { expect, test } from "vitest";
import { photograph } from "../hostile/support.ts";
import { callsIn, historyOf, resultIn, resultsOf } from "./history.ts";
import {
  answerTo,
  callOf,
  decisionOn,
  firstData,
  openHouse,
  proposal,
  suspendOn,
} from "./support.ts";

test("C02: a message while a client's call waits abandons it, and tells the model", async () => {
  await using house = await openHouse();
  const { work } = await suspendOn(house, "location");
  await house.send("never mind");
  expect(await callOf(house, "c1")).toMatchObject({
    status: "settled",
    outcome: "abandoned",
    reason: "superseded_by_new_message",
  });
  const { runs } = await house.state();
  expect(runs.get(work.runId)).toMatchObject({ outcome: "complete", reason: "abandoned" });
  const next = await house.attempt();
  const history = await historyOf(house, next.work.runId);
  expect(resultsOf(history)).toEqual(["c1"]);
  expect(JSON.stringify(resultIn(history, "c1"))).toContain("sent another message instead");
});

test("C02: a session may have such a message wait, or refuse it", async () => {
  await using house = await openHouse();
  const { work } = await suspendOn(house, "location");
  const set = (whilePending: "queue" | "refuse") =>
    house.ana.command(house.session, { type: "policy.set", policy: { whilePending } });
  await set("refuse");
  const before = await photograph(house);
  const message = { type: "message.send", messageId: "m2", content: "hm" } as const;
  const refused = await house.bo.command(house.session, message);
  expect(refused.error).toMatchObject({ code: "calls_pending", details: { runId: work.runId } });
  expect(await photograph(house)).toBe(before);
  await set("queue");
  const runId = await house.send("then later");
  expect((await house.state()).runs.get(runId)).toMatchObject({
    status: "queued",
    behind: [work.runId],
  });
  expect((await callOf(house, "c1")).status).toBe("open");
  await house.bo.command(house.session, answerTo("c1"));
  await (await house.attempt()).finish();
  expect((await house.attempt()).work.runId).toBe(runId);
});

test.each([
  ["decided", true],
  ["typed over", false],
])("C03: the history is valid after an approval was %s", async (_, decides) => {
  await using house = await openHouse();
  await suspendOn(house, "transfer", "location", "weather");
  if (decides) await house.bo.command(house.session, await decisionOn(house, "c1", true));
  await house.send("what now?");
  const { work } = await house.attempt();
  const history = await historyOf(house, work.runId);
  expect(callsIn(history)).toEqual(["c1", "c2", "c3"]);
  expect(resultsOf(history).toSorted()).toEqual(["c1", "c2", "c3"]);
  expect(history.at(-1)).toMatchObject({ role: "user" });
});

test("C04: a tool that does not exist is an error at once, and its siblings go on", async () => {
  await using house = await openHouse();
  await house.send("go");
  const tools = [{ name: "weather" }, { name: "location", executor: "client" }];
  const attempt = await house.attempt({ tools, complete: true });
  await attempt.append(
    { type: "round.open" },
    ...proposal("c1", "location", "{}"),
    ...proposal("c2", "teleport", "{}"),
    ...proposal("c3", "weather", "{}"),
  );
  const unknown = await callOf(house, "c2"); // its round is still open
  expect(unknown).toMatchObject({ status: "settled", outcome: "error", reason: "unknown_tool" });
  await attempt.append({ type: "round.close" }, answerTo("c3", "sunny"));
  await attempt.finish();
  const { runs, calls } = await house.state();
  expect(runs.get(attempt.work.runId)?.status).toBe("suspended");
  expect([calls.get("c1")?.status, calls.get("c3")?.outcome]).toEqual(["open", "ok"]);
  await house.ana.command(house.session, answerTo("c1", "Oslo"));
  const next = await house.attempt();
  const history = await historyOf(house, next.work.runId);
  expect(resultsOf(history)).toEqual(["c1", "c2", "c3"]);
  expect(JSON.stringify(resultIn(history, "c2"))).toContain("teleport");
});

test("C07: an approval that was typed over is not executed, and the model reads so", async () => {
  await using house = await openHouse();
  await suspendOn(house, "transfer");
  const shown = await decisionOn(house, "c1", true);
  await house.send("wait, how much?");
  const next = await house.attempt();
  const history = await historyOf(house, next.work.runId);
  const told = JSON.stringify(resultIn(history, "c1"));
  expect(told).toMatch(/Not executed: the user sent another message instead/);
  // The click that comes after all approves nothing.
  const late = await house.bo.command(house.session, shown);
  expect(late.error).toMatchObject({ code: "stale_decision", details: { outcome: "abandoned" } });
  expect((await next.claim("c1")).error?.code).toBe("call_settled");
});

test("C08: a question is abandoned in the commit of the message that replaces it", async () => {
  await using house = await openHouse();
  await suspendOn(house, "transfer", "location");
  const { offset } = await house.ana.state(house.session);
  const { frames, stop } = await house.bo.stream(house.session, offset);
  await house.send("something else");
  const text = await firstData(frames);
  stop();
  const data = text.split("\n").find((line) => line.startsWith("data: ")) ?? "";
  const { entries } = JSON.parse(data.slice("data: ".length)) as { entries: { event: object }[] };
  const settled = { type: "call.settled", outcome: "abandoned" };
  expect(entries.map(({ event }) => event)).toEqual([
    expect.objectContaining({ ...settled, callId: "c1", reason: "superseded_by_new_message" }),
    expect.objectContaining({ ...settled, callId: "c2", reason: "superseded_by_new_message" }),
    expect.objectContaining({ type: "run.ended", reason: "abandoned" }),
    expect.objectContaining({ type: "message.added" }),
    expect.objectContaining({ type: "run.added" }),
    expect.objectContaining({ type: "run.queued" }),
  ]);
  expect((await callOf(house, "c1")).approval?.decision).toBeUndefined();
});

test("C10: a denial that names no call of the session learns which are pending, and recovery ends", async () => {
  await using house = await openHouse();
  await suspendOn(house, "transfer", "location");
  await house.restart();
  const before = await photograph(house);
  const old = { type: "call.decide", callId: "of-an-older-run", approved: false } as const;
  const refused = await house.bo.command(house.session, { ...old, approvalId: "gone" });
  expect(refused.error).toMatchObject({ code: "unknown_call", details: { pending: ["c1", "c2"] } });
  expect(await photograph(house)).toBe(before);
  const denied = await house.bo.command(house.session, await decisionOn(house, "c1", false));
  expect(denied.status).toBe("applied");
  await house.bo.command(house.session, answerTo("c2"));
  await (await house.attempt()).finish();
  expect([...(await house.state()).runs.values()]).toMatchObject([{ outcome: "complete" }]);
});
