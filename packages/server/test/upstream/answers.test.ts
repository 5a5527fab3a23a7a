import { describe, expect, it } from "vitest";
import { until } from "../support/clock.ts";
import { call, endpoint, result, text } from "./endpoint.ts";
import { scene } from "./scene.ts";

const TOOL_CALL = (id: string, name: string, args = "{}") => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

describe("12.5 frontend tools of an AG-UI endpoint", () => {
  it("seed: the answer crosses to the next run's messages, a tool message keyed by toolCallId", async () => {
    await using agent = await endpoint(
      (asked) => asked.start(...call("c1", "confirm", '{"n":1}')).finish(),
      (asked) => asked.start(...text("t", "Thanks.")).finish(),
    );
    await using desk = scene({ url: agent.url });
    await desk.advertise("confirm");
    const runId = await desk.say("Hi");
    await desk.reaches(runId, "suspended");
    expect(await desk.call("c1")).toMatchObject({ status: "open", executor: "client" });
    const answer = { type: "json", value: { yes: true } } as const;
    await desk.command({
      type: "call.answer",
      callId: "c1",
      outcome: "ok",
      answer,
      messageId: "a1",
    });
    expect(await desk.reaches(runId, "ended")).toMatchObject({ outcome: "complete", attempt: 2 });
    const { messages, runId: next } = agent.asked[1]?.input ?? {};
    expect(next).not.toBe(agent.asked[0]?.input.runId);
    expect(messages?.slice(1)).toEqual([
      { id: "c1", role: "assistant", toolCalls: [TOOL_CALL("c1", "confirm", '{"n":1}')] },
      { id: "a1", role: "tool", toolCallId: "c1", content: '{"yes":true}' },
    ]);
  });

  it("seed: every one of them is answered first; a failure is an answer with error set, and declining says so", async () => {
    await using agent = await endpoint(
      (asked) =>
        asked.start(...call("c1", "confirm"), ...call("c2", "confirm", '{"n":2}')).finish(),
      (asked) => asked.start().finish(),
    );
    await using desk = scene({ url: agent.url });
    await desk.advertise("confirm");
    const runId = await desk.say("Hi");
    await desk.reaches(runId, "suspended");
    const words = (text: string) => ({ type: "text", text }) as const;
    await desk.command({
      type: "call.answer",
      callId: "c1",
      outcome: "error",
      answer: words("It broke."),
    });
    expect((await desk.run(runId)).status).toBe("suspended");
    expect(agent.asked).toHaveLength(1);
    await desk.command({
      type: "call.answer",
      callId: "c2",
      outcome: "error",
      declined: true,
      answer: words("I declined."),
    });
    await desk.reaches(runId, "ended");
    const results = agent.asked[1]?.input.messages.filter(({ role }) => role === "tool");
    expect(results).toMatchObject([
      { toolCallId: "c1", content: "It broke.", error: "It broke." },
      { toolCallId: "c2", content: "I declined.", error: "I declined." },
    ]);
  });

  it("seed: a thread that goes on another way has its open calls answered all the same: no history has a dangling call", async () => {
    await using agent = await endpoint(
      (asked) => asked.start(...call("c1", "confirm")).finish(),
      (asked) => asked.start().finish(),
    );
    await using desk = scene({ url: agent.url });
    await desk.advertise("confirm");
    await desk.reaches(await desk.say("Hi"), "suspended");
    await desk.reaches(await desk.say("Never mind."), "ended");
    const { messages = [] } = agent.asked[1]?.input ?? {};
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(messages[2]).toMatchObject({
      toolCallId: "c1",
      error: expect.stringContaining("Not executed"),
    });
  });

  it("seed: a producer that answers one fails its run, by rule and event; what came before stands", async () => {
    await using agent = await endpoint((asked) =>
      asked.start(...text("t", "so"), ...call("c1", "confirm"), result("c1", "yes")).finish(),
    );
    await using desk = scene({ url: agent.url });
    await desk.advertise("confirm");
    const run = await desk.reaches(await desk.say("Hi"), "ended");
    expect(run).toMatchObject({ outcome: "error", error: { code: "protocol_violation" } });
    expect(run.error?.message).toMatch(/Event 7 \(TOOL_CALL_RESULT\) breaks rule D8/);
    expect(await desk.texts()).toEqual(["so"]);
    expect(await desk.call("c1")).toMatchObject({ outcome: "abandoned" });
  });
});

describe("12.5 interrupts of an AG-UI endpoint", () => {
  const PAY = { id: "i1", reason: "tool_call", toolCallId: "c1", message: "Pay?" };
  const interrupt = (...interrupts: object[]) => ({ outcome: { type: "interrupt", interrupts } });

  it("an approval goes back as its resume entry, its call unanswered; the agent's result answers it", async () => {
    await using agent = await endpoint(
      (asked) => asked.start(...call("c1", "pay")).finish(interrupt(PAY)),
      (asked) => asked.start(result("c1", "paid"), ...text("t", "Done.")).finish(),
      (asked) => asked.start().finish(),
    );
    await using desk = scene({ url: agent.url });
    const runId = await desk.say("Hi");
    await desk.reaches(runId, "suspended");
    expect(await desk.call("c1")).toMatchObject({
      status: "gated",
      approval: { id: "i1", reason: "Pay?" },
    });
    await desk.command({
      type: "call.decide",
      callId: "c1",
      approvalId: "i1",
      approved: true,
      reason: "Fine.",
    });
    expect(await desk.reaches(runId, "ended")).toMatchObject({ outcome: "complete" });
    const { resume, messages = [] } = agent.asked[1]?.input ?? {};
    expect(resume).toEqual([
      { interruptId: "i1", status: "resolved", payload: { approved: true, reason: "Fine." } },
    ]);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(await desk.call("c1")).toMatchObject({
      outcome: "ok",
      answer: { answer: { text: "paid" } },
    });
    await desk.reaches(await desk.say("More"), "ended");
    expect(agent.asked[2]?.input).not.toHaveProperty("resume");
    expect(agent.asked[2]?.input.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
  });

  it.each([
    ["as it was approved", '{ "n": 1 }', ["ok"]],
    ["with other arguments", '{"n":1000}', ["error", "ok"]],
  ])("a call that its agent tells again %s", async (_, args, outcomes) => {
    await using agent = await endpoint(
      (asked) => asked.start(...call("c1", "pay", '{"n":1}')).finish(interrupt(PAY)),
      (asked) => asked.start(...call("c1", "pay", args), result("c1", "paid")).finish(),
    );
    await using desk = scene({ url: agent.url });
    const runId = await desk.say("Hi");
    await desk.reaches(runId, "suspended");
    await desk.command({ type: "call.decide", callId: "c1", approvalId: "i1", approved: true });
    await desk.reaches(runId, "ended");
    const calls = [...(await desk.state()).calls.values()];
    expect(calls.map(({ outcome }) => outcome)).toEqual(outcomes);
    expect(calls.map(({ approval }) => approval?.decision?.approved)).toEqual(
      outcomes.map((_outcome, n) => (n === 0 ? true : undefined)),
    );
  });

  it.each([
    [
      "a denial",
      { approved: false, reason: "No." },
      { status: "resolved", payload: { approved: false, reason: "No." } },
    ],
    [
      "an edit",
      { approved: true, arguments: '{"n":2}' },
      { status: "resolved", payload: { approved: true, arguments: { n: 2 } } },
    ],
    [
      "a payload, word for word",
      { approved: true, payload: { any: ["thing"] } },
      { status: "resolved", payload: { any: ["thing"] } },
    ],
  ])("%s too", async (_, decision, entry) => {
    await using agent = await endpoint(
      (asked) => asked.start(...call("c1", "pay", '{"n":1}')).finish(interrupt(PAY)),
      (asked) => asked.start().finish(),
    );
    await using desk = scene({ url: agent.url });
    const runId = await desk.say("Hi");
    await desk.reaches(runId, "suspended");
    await desk.command({ type: "call.decide", callId: "c1", approvalId: "i1", ...decision });
    await desk.reaches(runId, "ended");
    expect(agent.asked[1]?.input.resume).toEqual([{ interruptId: "i1", ...entry }]);
  });

  it("C45 three parallel calls that each ask are three approvals, and all are decided before the agent goes on", async () => {
    const ids = ["1", "2", "3"];
    const calls = ids.flatMap((n) => call(`c${n}`, "pay", `{"n":${n}}`));
    const asks = ids.map((n) => ({ ...PAY, id: `i${n}`, toolCallId: `c${n}` }));
    await using agent = await endpoint(
      (asked) => asked.start(...calls).finish(interrupt(...asks)),
      (asked) => asked.start(...ids.map((n) => result(`c${n}`, `paid ${n}`))).finish(),
    );
    await using desk = scene({ url: agent.url });
    const runId = await desk.say("Hi");
    await desk.reaches(runId, "suspended");
    for (const n of ["3", "1", "2"]) {
      expect((await desk.run(runId)).status).toBe("suspended");
      const decision = { approvalId: `i${n}`, approved: n !== "2" };
      await desk.command({ type: "call.decide", callId: `c${n}`, ...decision });
    }
    await desk.reaches(runId, "ended");
    expect(agent.asked[1]?.input.resume).toEqual(
      ids.map((n) => ({
        interruptId: `i${n}`,
        status: "resolved",
        payload: { approved: n !== "2" },
      })),
    );
    expect(await desk.call("c1")).toMatchObject({ answer: { answer: { text: "paid 1" } } });
    expect(await desk.call("c2")).toMatchObject({ outcome: "denied" });
  });

  it("any other is a call that an application answers; the answer is the payload", async () => {
    const ask = { id: "i2", reason: "input_required", message: "Which?" };
    await using agent = await endpoint(
      (asked) => asked.start(...text("t", "Hm.")).finish(interrupt(ask)),
      (asked) => asked.start(...text("u", "Red.")).finish(),
    );
    await using desk = scene({ url: agent.url });
    const runId = await desk.say("Hi");
    await desk.reaches(runId, "suspended");
    const answer = { type: "json", value: { colour: "red" } } as const;
    await desk.command({ type: "call.answer", callId: "interrupt_i2", outcome: "ok", answer });
    await desk.reaches(runId, "ended");
    const { resume, messages = [] } = agent.asked[1]?.input ?? {};
    expect(resume).toEqual([{ interruptId: "i2", status: "resolved", payload: { colour: "red" } }]);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("one that comes again under its id waits again, and is resumed with its own answer", async () => {
    const ask = interrupt({ id: "confirm", reason: "ask", message: "Sure?" });
    await using agent = await endpoint(
      (asked) => asked.start().finish(ask),
      (asked) => asked.start().finish(ask),
      (asked) => asked.start(...text("t", "Done.")).finish(),
    );
    await using desk = scene({ url: agent.url });
    const runId = await desk.say("Hi");
    for (const said of ["one", "two"]) {
      await desk.reaches(runId, "suspended");
      const calls = [...(await desk.state()).calls.values()];
      const callId = calls.find(({ status }) => status === "open")?.id ?? "none";
      const answer = { type: "text", text: said } as const;
      await desk.command({ type: "call.answer", callId, outcome: "ok", answer });
      await until("the agent to be asked", () => agent.asked.at(-1)?.input.resume !== undefined);
    }
    expect(await desk.reaches(runId, "ended")).toMatchObject({ outcome: "complete" });
    expect(agent.asked.map(({ input }) => input.resume?.[0]?.payload)).toEqual([
      undefined,
      "one",
      "two",
    ]);
  });

  it("what expires is resumed as cancelled", async () => {
    const soon = () => new Date(Date.now() + 50).toISOString();
    await using agent = await endpoint(
      (asked) =>
        asked
          .start(...call("c1", "pay"))
          .finish(
            interrupt(
              { ...PAY, expiresAt: soon() },
              { id: "i2", reason: "ask", expiresAt: soon() },
            ),
          ),
      (asked) => asked.start().finish(),
    );
    await using desk = scene({ url: agent.url });
    const runId = await desk.say("Hi");
    await desk.reaches(runId, "ended");
    expect(await desk.call("c1")).toMatchObject({ outcome: "expired", reason: "approval_expired" });
    expect(agent.asked[1]?.input.resume).toEqual([
      { interruptId: "i1", status: "cancelled" },
      { interruptId: "i2", status: "cancelled" },
    ]);
  });

  it("are all resumed again, as cancelled, where the thread went on another way or the resumed run failed", async () => {
    await using agent = await endpoint(
      (asked) => asked.start(...call("c1", "pay")).finish(interrupt(PAY)),
      (asked) => asked.start().send({ type: "RUN_ERROR", message: "x" }).end(),
      (asked) =>
        asked
          .start(...call("c2", "pay", '{"n":2}'))
          .finish(interrupt({ ...PAY, id: "i2", toolCallId: "c2" })),
      (asked) => asked.start().finish(),
    );
    await using desk = scene({ url: agent.url });
    const runId = await desk.say("Hi");
    await desk.reaches(runId, "suspended");
    await desk.command({ type: "call.decide", callId: "c1", approvalId: "i1", approved: true });
    await desk.reaches(runId, "ended");
    await desk.reaches(await desk.say("Again"), "suspended");
    expect(agent.asked[2]?.input.resume).toEqual([{ interruptId: "i1", status: "cancelled" }]);
    const told = agent.asked[2]?.input.messages.find(({ role }) => role === "tool");
    expect(told).toMatchObject({ toolCallId: "c1", error: expect.any(String) });
    await desk.reaches(await desk.say("Never mind."), "ended");
    expect(agent.asked[3]?.input.resume).toEqual([{ interruptId: "i2", status: "cancelled" }]);
  });

  it("a message that steers a run at work is in its next run's history", async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    await using agent = await endpoint(
      async (asked) => {
        asked.start(...text("t", "Working."));
        await go;
        asked.finish();
      },
      (asked) => asked.start(...text("u", "Right.")).finish(),
    );
    await using desk = scene({ url: agent.url });
    const runId = await desk.say("Hi");
    await until("the agent to be at work", () => agent.asked.length === 1);
    await desk.command({
      type: "message.send",
      messageId: "steer",
      content: "Left!",
      whileActive: "steer",
    });
    resolve();
    await desk.reaches(runId, "ended");
    expect(agent.asked[1]?.input.messages.at(-1)).toEqual({
      id: "steer",
      role: "user",
      content: "Left!",
    });
    expect((await desk.run(runId)).steers).toMatchObject([{ messageId: "steer", consumed: true }]);
    expect(agent.asked).toHaveLength(2);
  });

  it("has the input that its newest request brought", async () => {
    await using agent = await endpoint(
      (asked) => asked.start(...call("c1", "confirm")).finish(),
      (asked) => asked.start().finish(),
    );
    await using desk = scene({ url: agent.url });
    await desk.advertise("confirm");
    const runId = await desk.say("Hi");
    await desk.reaches(runId, "suspended");
    const input = {
      state: { n: 1 },
      context: [{ description: "d", value: "v" }],
      forwardedProps: { p: 1 },
    };
    await desk.command({
      type: "run.request",
      requestId: "posted",
      digest: "d".repeat(64),
      of: { runId },
      input,
    });
    await desk.command({
      type: "call.answer",
      callId: "c1",
      outcome: "ok",
      answer: { type: "text", text: "y" },
    });
    await desk.reaches(runId, "ended");
    expect(agent.asked[1]?.input).toMatchObject({ runId: "posted", ...input });
  });
});
