import { INTERRUPT_TOOL } from "@holdfast/protocol/ag-ui";
import { describe, expect, it } from "vitest";
import {
  call,
  openStage,
  PAGE,
  result,
  round,
  running,
  text,
  user,
  type Client,
  type Stage,
} from "./stage.ts";

const PAY = { name: "pay", approval: "always" } as const;
const ASK = { name: INTERRUPT_TOOL, executor: "client" } as const;

/** A client whose run `r1` proposed calls and finished. */
async function proposed(stage: Stage, calls: Record<string, string>, of = stage.client()) {
  const agent = of as Client;
  agent.messages = [user("u1", "go")];
  const first = running(agent, { runId: "r1", tools: [PAGE] });
  const attempt = await stage.attempt([PAY, ASK]);
  await attempt.append(
    ...round(...Object.entries(calls).flatMap(([id, name]) => call(id, name, "{}"))),
  );
  await attempt.finish();
  const events = await first.ended;
  return { agent, events, runId: attempt.runId };
}

/** What the agent says next, to the end of its run. */
async function saying(stage: Stage, said: string) {
  const attempt = await stage.attempt([PAY, ASK]);
  await attempt.append(...round(...text(`a-${attempt.attempt}`, said)));
  await attempt.finish();
  return attempt;
}

const callOf = async (stage: Stage, id: string) =>
  (await stage.state()).calls.find((it) => it.id === id);

describe.each(["client", "client0"] as const)("a stock %s", (version) => {
  it("executes a frontend tool between two runs", async () => {
    await using stage = await openStage();
    const { agent, events } = await proposed(stage, { c1: "page" }, stage[version]() as never);
    expect(events.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      runId: "r1",
      threadId: "s1",
      outcome:
        version === "client"
          ? {
              type: "success",
              pendingToolCallIds: ["c1"],
            }
          : { type: "success" },
    });
    agent.addMessage(result("c1", "here"));
    const second = running(agent, { runId: "r2" });
    await saying(stage, "Thanks.");
    expect(await second.ended).toMatchObject([
      { type: "RUN_STARTED", runId: "r2", threadId: "s1" },
      { type: "TEXT_MESSAGE_START" },
      { type: "TEXT_MESSAGE_CONTENT", delta: "Thanks." },
      { type: "TEXT_MESSAGE_END" },
      { type: "RUN_FINISHED", runId: "r2", threadId: "s1" },
    ]);
    expect(agent.messages.map(({ id }) => id)).toEqual(["u1", "m-c1", "t-c1", "a-2"]);
    expect(await callOf(stage, "c1")).toMatchObject({
      status: "settled",
      outcome: "ok",
      executor: "client",
      settledBy: "user:ana",
      answer: {
        messageId: "t-c1",
        answer: {
          type: "text",
          text: "here",
        },
        by: "user:ana",
      },
    });
  });

  it("of two that answer one of two parallel calls each, both see what follows", async () => {
    await using stage = await openStage();
    const { agent: ana } = await proposed(
      stage,
      { c1: "page", c2: "page" },
      stage[version]() as never,
    );
    const bo = stage[version]({ who: "user:bo" }) as Client;
    bo.messages = ana.messages.map((message) => structuredClone(message));
    ana.addMessage(result("c1", "one"));
    const anas = running(ana, { runId: "ana" });
    await stage.untilCall("c1", "settled");
    expect(anas.types()).toEqual([]);
    bo.addMessage(result("c2", "two"));
    const bos = running(bo, { runId: "bo" });
    await saying(stage, "Both.");
    for (const [id, run, agent] of [
      ["ana", anas, ana],
      ["bo", bos, bo],
    ] as const) {
      const events = await run.ended;
      expect(events.at(0)).toMatchObject({ type: "RUN_STARTED", runId: id });
      expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId: id });
      expect(agent.messages.map((it) => it.id).toSorted()).toEqual(
        ["u1", "m-c1", "m-c2", "t-c1", "t-c2", "a-2"].toSorted(),
      );
    }
    expect((await callOf(stage, "c1"))?.settledBy).toBe("user:ana");
    expect((await callOf(stage, "c2"))?.settledBy).toBe("user:bo");
  });

  it.each([
    ["fails", {}, { outcome: "error", reason: undefined }],
    [
      "declines",
      { metadata: { holdfast: { declined: true } } },
      { outcome: "error", reason: "declined" },
    ],
  ])("%s to answer", async (_, more, ended) => {
    await using stage = await openStage();
    const { agent } = await proposed(stage, { c1: "page" }, stage[version]() as never);
    agent.addMessage(result("c1", "", { error: "not today", ...more }));
    const second = running(agent, { runId: "r2" });
    await saying(stage, "Then not.");
    await second.ended;
    const settled = await callOf(stage, "c1");
    // A client of before 1.0 knows no metadata of messages, so that it declines in words.
    expect(settled).toMatchObject({
      outcome: ended.outcome,
      answer: {
        answer: {
          type: "text",
          text: "not today",
        },
      },
    });
    if (version === "client") expect(settled?.reason).toBe(ended.reason);
  });

  it.each([
    ["approves", { status: "resolved", payload: { approved: true } }, "approved"],
    ["denies", { status: "resolved", payload: { approved: false, reason: "no" } }, "denied"],
    ["cancels", { status: "cancelled" }, "denied"],
  ] as const)("%s what was interrupted", async (_, entry, ends) => {
    await using stage = await openStage();
    const { agent, events } = await proposed(stage, { c1: "pay" }, stage[version]() as never);
    const { outcome } = events.at(-1) as unknown as {
      outcome: { interrupts: { id: string; toolCallId: string }[] };
    };
    expect(outcome).toMatchObject({ type: "interrupt", interrupts: [{ toolCallId: "c1" }] });
    const interruptId = outcome.interrupts[0]?.id ?? "";
    const second = running(agent, { runId: "r2", resume: [{ interruptId, ...entry }] } as never);
    const attempt = await stage.attempt([PAY, ASK]);
    const { approval } = (await callOf(stage, "c1")) ?? {};
    expect(approval?.decision).toMatchObject({ by: "user:ana", approved: ends === "approved" });
    if ("payload" in entry) expect(approval?.decision?.payload).toEqual(entry.payload);
    if (ends === "approved") {
      await attempt.answer("c1", "paid");
    }
    await attempt.finish();
    const types = (await second.ended).map(({ type }) => type);
    expect(types.at(0)).toBe("RUN_STARTED");
    expect(types.at(-1)).toBe("RUN_FINISHED");
    expect(types.includes("TOOL_CALL_RESULT" as never)).toBe(ends === "approved");
  });
});

it("an interrupt that is no approval is answered by its payload, word for word", async () => {
  await using stage = await openStage();
  const { agent } = await proposed(stage, { c1: INTERRUPT_TOOL });
  const [interrupt] = agent.pendingInterrupts;
  const payload = { city: "Bern", depth: [null, 0, ""] };
  const resume = [{ interruptId: interrupt?.id ?? "", status: "resolved" as const, payload }];
  const second = running(agent, { runId: "r2", resume });
  await saying(stage, "Bern.");
  await second.ended;
  expect(agent.pendingInterrupts).toEqual([]);
  expect(await callOf(stage, "c1")).toMatchObject({
    answer: { answer: { type: "json", value: payload } },
  });
});

it("edited arguments are what runs", async () => {
  await using stage = await openStage();
  const { agent } = await proposed(stage, { c1: "pay" });
  const [interrupt] = agent.pendingInterrupts;
  const payload = { approved: true, arguments: { amount: 5 } };
  const resume = [{ interruptId: interrupt?.id ?? "", status: "resolved" as const, payload }];
  const second = running(agent, { runId: "r2", resume });
  const attempt = await stage.attempt([PAY]);
  await attempt.answer("c1", "paid");
  await attempt.finish();
  await second.ended;
  expect(await callOf(stage, "c1")).toMatchObject({
    arguments: '{"amount":5}',
    outcome: "ok",
    approval: {
      decision: {
        edited: { from: "{}" },
        payload,
      },
    },
  });
});

it("an answer that leaves nothing but decisions is told at once which", async () => {
  await using stage = await openStage();
  const { agent, events } = await proposed(stage, { c1: "page", c2: "pay" });
  expect(events.at(-1)).toMatchObject({ outcome: { pendingToolCallIds: ["c1"] } });
  agent.addMessage(result("c1", "here"));
  const second = running(agent, { runId: "r2" });
  const told = await second.ended;
  expect(told.at(0)).toMatchObject({ type: "RUN_STARTED", runId: "r2" });
  expect(told.at(-1)).toMatchObject({ runId: "r2", outcome: { type: "interrupt" } });
  const [interrupt] = agent.pendingInterrupts;
  expect(interrupt?.toolCallId).toBe("c2");
  const resume = [{ interruptId: interrupt?.id ?? "", status: "cancelled" as const }];
  const third = running(agent, { runId: "r3", resume });
  await saying(stage, "Not paid.");
  expect((await third.ended).at(-1)).toMatchObject({ type: "RUN_FINISHED", runId: "r3" });
});

it("a held answer is told of decisions once nobody else has anything to answer", async () => {
  await using stage = await openStage();
  const { agent } = await proposed(stage, { c1: "page", c2: "page", c3: "pay" });
  agent.addMessage(result("c1", "one"));
  const second = running(agent, { runId: "r2" });
  await stage.untilCall("c1", "settled");
  expect(second.types()).toEqual([]);
  await stage.command({ type: "call.cancel", callId: "c2" });
  expect((await second.ended).at(-1)).toMatchObject({ outcome: { type: "interrupt" } });
});

it("a message passes over calls of the page as the policy says: by default they are abandoned", async () => {
  await using stage = await openStage();
  const { agent } = await proposed(stage, { c1: "page" });
  agent.addMessage(user("u2", "never mind"));
  const second = running(agent, { runId: "r2" });
  await saying(stage, "Fine.");
  expect((await second.ended).at(-1)).toMatchObject({ type: "RUN_FINISHED", runId: "r2" });
  expect(await callOf(stage, "c1")).toMatchObject({
    outcome: "abandoned",
    reason: "superseded_by_new_message",
  });
  // No history of a client has a call without a result.
  expect(agent.messages.filter(({ role }) => role === "tool")).toMatchObject([
    { toolCallId: "c1", error: expect.any(String) },
  ]);
});

it("answers and a message in one: what resumes is told of before what was said", async () => {
  await using stage = await openStage();
  const { agent } = await proposed(stage, { c1: "page" });
  agent.addMessage(result("c1", "here"));
  agent.addMessage(user("u2", "and?"));
  const second = running(agent, { runId: "r2" });
  await saying(stage, "First.");
  await saying(stage, "Second.");
  const told = (await second.ended).filter(({ type }) => `${type}`.startsWith("RUN_"));
  expect(told).toMatchObject([
    { type: "RUN_STARTED", runId: expect.stringMatching(/:2$/) },
    { type: "RUN_FINISHED", runId: expect.stringMatching(/:2$/) },
    { type: "RUN_STARTED", runId: "r2" },
    { type: "RUN_FINISHED", runId: "r2" },
  ]);
});

it("answers and a message in one: what asks again ends the response, and the message waits", async () => {
  await using stage = await openStage();
  const { agent } = await proposed(stage, { c1: "page" });
  agent.addMessage(result("c1", "here"));
  agent.addMessage(user("u2", "and?"));
  const second = running(agent, { runId: "r2" });
  const attempt = await stage.attempt();
  await attempt.append(...round(...call("c2", "page", "{}")));
  await attempt.finish();
  expect((await second.ended).at(-1)).toMatchObject({
    type: "RUN_FINISHED",
    outcome: { pendingToolCallIds: ["c2"] },
  });
  agent.addMessage(result("c2", "there"));
  const third = running(agent, { runId: "r3" });
  await saying(stage, "Done.");
  await third.ended;
  const { messages, runs } = await stage.state();
  expect(messages.map(({ id }) => id)).toEqual(["u1", "u2"]);
  expect(runs.map(({ status }) => status)).toEqual(["ended", "queued"]);
});
