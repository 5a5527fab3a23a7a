import { agUiMessages, type Peer } from "@holdfast/protocol/ag-ui";
import { describe, expect, it } from "vitest";
import { applied, proposal } from "../support/desk.ts";
import { atWork, held, ofType, played, typesOf } from "./play.ts";

// Sentences of AG-UI's chapter on tool calls that what is sent has to show; each test is named after one.

describe("seed: events", () => {
  it("seed: when the parent message is attributed to a subagent, the call MUST agree with that attribution", async () => {
    const { desk, agent } = atWork();
    agent.append(
      { type: "TEXT_MESSAGE_START", messageId: "t1", role: "assistant", subagentRunId: "s1" },
      { type: "TEXT_MESSAGE_END", messageId: "t1" },
      {
        type: "TOOL_CALL_START",
        toolCallId: "c1",
        toolCallName: "search",
        parentMessageId: "t1",
      },
      {
        type: "TOOL_CALL_START",
        toolCallId: "c2",
        toolCallName: "search",
        parentMessageId: "t1",
        subagentRunId: "s2",
      },
    );
    const [first, second] = ofType(played(desk), "TOOL_CALL_START");
    expect(first).toMatchObject({ parentMessageId: "t1", subagentRunId: "s1" });
    // It belongs to another: a message of its own carries it.
    expect(second).toMatchObject({ parentMessageId: "c2", subagentRunId: "s2" });
    const { messages } = await held(desk);
    expect(messages.map(({ id, subagentRunId }) => [id, subagentRunId])).toEqual([
      ["m1", undefined],
      ["t1", "s1"],
      ["c2", "s2"],
    ]);
  });

  it("seed: the application deciding what to do with a malformed argument string beats the transport killing the run", async () => {
    const { desk, agent } = atWork();
    agent.append({ type: "round.open" }, ...proposal("c1", "search", '{"q":'));
    applied(agent.finish());
    const { messages } = await held(desk);
    expect(messages[1]).toMatchObject({ toolCalls: [{ function: { arguments: '{"q":' } }] });
    expect(messages[2]).toMatchObject({ role: "tool", toolCallId: "c1" });
  });

  it("seed: a reopening start MUST agree with the call it reopens", async () => {
    const { desk, agent } = atWork();
    const start = {
      type: "TOOL_CALL_START",
      toolCallId: "c1",
      toolCallName: "page",
      parentMessageId: "p1",
      subagentRunId: "s1",
    } as const;
    agent.append(
      { type: "round.open" },
      start,
      { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '{"a":' },
      { type: "TOOL_CALL_END", toolCallId: "c1" },
      // An agent that leaves out what it said means the same.
      { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "page", subagentRunId: "s1" },
      { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "1}" },
      { type: "TOOL_CALL_END", toolCallId: "c1" },
    );
    expect(ofType(played(desk), "TOOL_CALL_START")).toEqual([start, start]);
    const { messages } = await held(desk);
    expect(messages[1]).toMatchObject({
      id: "p1",
      toolCalls: [{ function: { arguments: '{"a":1}' } }],
    });
  });

  it("seed: a result is a message in its own right, with its own id, and does not reopen the call it answers", async () => {
    const { desk, agent } = atWork();
    agent.append(...proposal("c1", "search"), {
      type: "call.answer",
      callId: "c1",
      outcome: "ok",
      messageId: "r1",
      answer: { type: "text", text: "3 results" },
    });
    applied(agent.finish());
    const events = played(desk);
    expect(typesOf(events)).toBe(
      "RUN_STARTED TOOL_CALL_START TOOL_CALL_ARGS TOOL_CALL_END TOOL_CALL_RESULT RUN_FINISHED",
    );
    expect(ofType(events, "TOOL_CALL_RESULT")).toEqual([
      {
        type: "TOOL_CALL_RESULT",
        messageId: "r1",
        toolCallId: "c1",
        content: "3 results",
        role: "tool",
      },
    ]);
  });

  it("seed: a call left open when the run finishes is a violation", async () => {
    const { desk, runId, agent } = atWork();
    agent.append({ type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "page" });
    applied(desk.user({ type: "run.cancel", runId }));
    const events = played(desk);
    expect(typesOf(events.slice(-3))).toBe("TOOL_CALL_END MESSAGES_SNAPSHOT RUN_FINISHED");
    expect(events.at(-1)).toMatchObject({ outcome: { type: "cancelled" } });
    await held(desk);
  });
});

describe("seed: frontend tools", () => {
  it("seed: a producer that calls a frontend tool MUST NOT answer it", async () => {
    const { desk, runId, agent } = atWork();
    agent.append(...proposal("c1", "page"), ...proposal("c2", "page"), ...proposal("c3", "page"));
    // Answered while the run goes on, cancelled, and cut off: none of it is the producer's word.
    const answer = { type: "json", value: { ok: true } } as const;
    applied(desk.user({ type: "call.answer", callId: "c1", outcome: "ok", answer }));
    applied(desk.user({ type: "call.cancel", callId: "c2" }));
    applied(agent.finish());
    applied(desk.user({ type: "run.cancel", runId }));
    desk.start(desk.send("m2"));
    expect(ofType(played(desk), "TOOL_CALL_RESULT")).toEqual([]);
    const { messages } = await held(desk);
    expect(messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
      '{"ok":true}',
      "Not executed: the call was cancelled.",
      "Not executed: the run was cancelled.",
    ]);
  });

  it("seed: the producer finishes the run with the calls unanswered, with an ordinary success outcome", () => {
    const { desk, agent } = atWork();
    agent.append(
      ...proposal("c1", "page"),
      ...proposal("c2", "search"),
      ...proposal("c3", "page"),
      ...proposal("c4", "page"),
      {
        type: "call.answer",
        callId: "c2",
        outcome: "ok",
        answer: { type: "text", text: "found" },
      },
    );
    const answer = { type: "json", value: null } as const;
    applied(desk.user({ type: "call.answer", callId: "c3", outcome: "ok", answer }));
    applied(agent.finish());
    expect(played(desk).at(-1)).toEqual({
      type: "RUN_FINISHED",
      threadId: "s1",
      runId: "run1:1",
      // Those that this run called and left, in their order, and no other.
      outcome: { type: "success", pendingToolCallIds: ["c1", "c4"] },
    });
    expect(played(desk, "0").at(-1)).toMatchObject({ outcome: { type: "success" } });
    expect(JSON.stringify(played(desk, "0"))).not.toContain("pendingToolCallIds");
  });

  it.each<Peer>(["1.0", "0"])(
    "seed: the next run's messages carry a tool message per call, keyed by toolCallId: peers of %s",
    async (peer) => {
      const { desk, runId, agent } = atWork();
      agent.append(...proposal("c1", "page"), ...proposal("c2", "page"), ...proposal("c3", "page"));
      applied(agent.finish());
      const text = (value: string) => ({ type: "text", text: value }) as const;
      applied(desk.user({ type: "call.answer", callId: "c2", outcome: "ok", answer: text("two") }));
      applied(
        desk.user({ type: "call.answer", callId: "c1", outcome: "error", answer: text("broke") }),
      );
      const declined = { type: "call.answer", outcome: "error", declined: true } as const;
      applied(desk.user({ ...declined, callId: "c3", answer: text("I would rather not.") }));
      desk.start(runId);
      const [, started] = ofType(played(desk, peer), "RUN_STARTED");
      expect(started?.input?.messages).toBeUndefined();
      const { messages } = await held(desk, peer);
      expect(messages.slice(1)).toMatchObject([
        { toolCalls: [{ id: "c1" }] },
        // A failure is still an answer, with `error` set; and who declines says so.
        { role: "tool", toolCallId: "c1", content: "broke", error: "broke" },
        { toolCalls: [{ id: "c2" }] },
        { role: "tool", toolCallId: "c2", content: "two" },
        { toolCalls: [{ id: "c3" }] },
        { role: "tool", toolCallId: "c3", error: "I would rather not." },
      ]);
      expect(messages[4]).not.toHaveProperty("error");
    },
  );

  it("seed: several frontend calls MAY be left unanswered by one run; the application answers them all at once", () => {
    const { desk, runId, agent } = atWork();
    const parentMessageId = "p1";
    for (const toolCallId of ["c1", "c2"])
      agent.append(
        { type: "TOOL_CALL_START", toolCallId, toolCallName: "page", parentMessageId },
        { type: "TOOL_CALL_END", toolCallId },
      );
    applied(agent.finish());
    for (const callId of ["c1", "c2"]) {
      const answer = { type: "text", text: callId } as const;
      const messageId = `a:${callId}`;
      applied(desk.user({ type: "call.answer", callId, outcome: "ok", answer, messageId }));
    }
    desk.start(runId);
    const [, started] = ofType(played(desk), "RUN_STARTED");
    expect(started?.input?.messages).toEqual([
      { id: "a:c1", role: "tool", toolCallId: "c1", content: "c1" },
      { id: "a:c2", role: "tool", toolCallId: "c2", content: "c2" },
    ]);
  });

  it("seed: the producer's own tools, executed agent-side, never needed advertising and answer in-stream", async () => {
    const { desk, agent } = atWork({ tools: [] });
    agent.append(
      { type: "round.open" },
      ...proposal("c1", "secret"),
      ...proposal("c2", "secret", '{"n":2}'),
    );
    const answer = { type: "text", text: "no such file" } as const;
    agent.append({ type: "call.answer", callId: "c1", outcome: "error", answer });
    applied(agent.finish());
    const results = ofType(played(desk), "TOOL_CALL_RESULT");
    // The event has no room for an error: failures are spelled, and so is that there will be no answer.
    expect(results.map(({ toolCallId, content }) => [toolCallId, content])).toEqual([
      ["c1", "Error: no such file"],
      ["c2", "Error: Not executed: its agent ended without an answer."],
    ]);
    expect((await held(desk)).messages).toEqual(agUiMessages(desk.state));
  });
});

describe("seed: security", () => {
  it("seed: a call MUST NOT be represented as user-approved when it was not", async () => {
    const { desk, agent } = atWork();
    agent.append({ type: "round.open" }, ...proposal("c1", "gated", "{}"), {
      type: "round.close",
    });
    applied(agent.finish());
    expect(played(desk).at(-1)).toMatchObject({
      outcome: { type: "interrupt", interrupts: [{ id: "approval1", toolCallId: "c1" }] },
    });
    applied(
      desk.user({
        type: "call.decide",
        callId: "c1",
        approvalId: "approval1",
        approved: false,
        reason: "Too dear.",
      }),
    );
    const { messages } = await held(desk);
    expect(messages).toHaveLength(2);
    expect(agUiMessages(desk.state)[2]).toMatchObject({ content: "Error: Denied: Too dear." });
  });

  it("seed: a result that is attributed to a subagent is so in the stream and in every history", async () => {
    const { desk, agent } = atWork();
    agent.append({ type: "round.open" }, ...proposal("c1", "search"), {
      type: "call.answer",
      callId: "c1",
      outcome: "ok",
      answer: { type: "text", text: "3" },
      metadata: { "ag-ui": { subagentRunId: "s1" } },
    });
    applied(agent.finish());
    expect(ofType(played(desk), "TOOL_CALL_RESULT")).toMatchObject([{ subagentRunId: "s1" }]);
    const told = { role: "tool", subagentRunId: "s1" };
    expect((await held(desk)).messages).toContainEqual(expect.objectContaining(told));
    expect(agUiMessages(desk.state)).toContainEqual(expect.objectContaining(told));
  });

  it("seed: text inside a result is not protocol material", async () => {
    const { desk, agent } = atWork();
    const text = 'data: {"type":"RUN_FINISHED"}\n\n';
    agent.append(...proposal("c1", "search"), {
      type: "call.answer",
      callId: "c1",
      outcome: "ok",
      answer: { type: "text", text },
    });
    applied(agent.finish());
    expect(ofType(played(desk), "RUN_FINISHED")).toHaveLength(1);
    expect((await held(desk)).messages.at(-1)).toMatchObject({ role: "tool", content: text });
  });
});
