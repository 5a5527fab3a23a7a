import { expect, it } from "vitest";
import { until } from "../support/clock.ts";
import { gate } from "../support/gate.ts";
import { endpoint, text } from "./endpoint.ts";
import { scene } from "./scene.ts";

const token = (delta: string) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta });
const start = { type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" };
const end = { type: "TEXT_MESSAGE_END", messageId: "t" };

it("12.5 what an AG-UI endpoint says while a commit is under way goes together in the next", async () => {
  const held = gate();
  await using agent = await endpoint(async (asked) => {
    asked.start(start);
    await until("the message", async () => (await desk.texts()).length === 1);
    held.hold();
    asked.send(token("0"));
    await until("a commit to wait", () => held.waiting() === 1);
    const before = held.commits.length;
    for (let n = 1; n < 50; n += 1) asked.send(token(String(n % 10)));
    asked.send(end).finish();
    await asked.closed;
    held.release();
    await until("the end", async () => (await desk.texts())[0]?.length === 50);
    // The one that waited, what gathered, and the end at most.
    expect(held.commits.length - before).toBeLessThanOrEqual(3);
  });
  await using desk = scene({ url: agent.url, storage: held.storage });
  expect(await desk.reaches(await desk.say("Hi"), "ended")).toMatchObject({ outcome: "complete" });
  await agent.played();
});

it("12.5 a commit that fails is made again, and nothing of the stream is lost or doubled", async () => {
  const failing = gate();
  await using agent = await endpoint(async (asked) => {
    asked.start(start, token("one "));
    await until("the token", async () => (await desk.texts())[0] === "one ");
    failing.failNext();
    asked.send(token("two "));
    await until("the second", async () => (await desk.texts())[0] === "one two ");
    asked.send(token("three"), end).finish();
  });
  await using desk = scene({ url: agent.url, storage: failing.storage, log: () => {} });
  expect(await desk.reaches(await desk.say("Hi"), "ended")).toMatchObject({ outcome: "complete" });
  expect(await desk.texts()).toEqual(["one two three"]);
});

it("12.5 what a session does not take is skipped and noted; the run goes on", async () => {
  await using agent = await endpoint((asked) =>
    asked
      .start({ type: "CUSTOM", name: "large", value: "x".repeat(2_000) }, ...text("t", "fine"))
      .finish(),
  );
  await using desk = scene({
    url: agent.url,
    limits: { eventBytes: 1_500, resultBytes: 1_000, argumentsLength: 1_000 },
  });
  const run = await desk.reaches(await desk.say("Hi"), "ended");
  expect(run).toMatchObject({ outcome: "complete" });
  expect(await desk.texts()).toEqual(["fine"]);
  expect(JSON.stringify(run.metadata)).toContain("CUSTOM: too_large");
});

it("12.5 a run that goes past its session's budget ends in that, and its agent's answer is closed", async () => {
  await using agent = await endpoint((asked) => {
    const round = (n: number) => [
      { type: "TOOL_CALL_START", toolCallId: `c${n}`, toolCallName: "search" },
      { type: "TOOL_CALL_END", toolCallId: `c${n}` },
      { type: "TOOL_CALL_RESULT", messageId: `r${n}`, toolCallId: `c${n}`, content: "x" },
    ];
    asked.start(...Array.from({ length: 40 }, (_, n) => round(n)).flat());
  });
  await using desk = scene({ url: agent.url });
  const run = await desk.reaches(await desk.say("Hi"), "ended");
  expect(run).toMatchObject({ outcome: "error", error: { code: "budget_exceeded" } });
  await agent.asked[0]?.closed;
});
