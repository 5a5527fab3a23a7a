import { agUiInput, createAgUiEncoder, INTERRUPT_TOOL } from "@holdfast/protocol/ag-ui";
import { describe, expect, it } from "vitest";
import { applied, proposal } from "../support/desk.ts";
import { call, FINISHED, interrupted, result, session, STARTED, text } from "./ingest/support.ts";

describe("12.5.11 the input of an AG-UI agent's next run", () => {
  it("is the thread, the activation's run, and what there is of the path", () => {
    const { desk, runId } = session({ clientTools: ["confirm", INTERRUPT_TOOL] });
    expect(agUiInput(desk.state, { runId })).toEqual({
      steers: [],
      input: {
        threadId: "s1",
        runId: `${runId}:1`,
        protocolVersion: "1.0",
        state: {},
        messages: [{ id: "m1", role: "user", content: "m1" }],
        tools: [{ name: "confirm", description: "" }],
        context: [],
        forwardedProps: {},
      },
    });
  });

  it("has another run's id for an attempt that goes on with an activation", () => {
    const { desk, runId } = session();
    const digest = "d".repeat(64);
    applied(desk.user({ type: "run.request", requestId: "posted", digest, of: { runId } }));
    expect(agUiInput(desk.state, { runId }).input.runId).toBe("posted");
    desk.timer({ type: "lease", runId, attempt: 1 });
    desk.start(runId);
    expect(agUiInput(desk.state, { runId }).input.runId).toBe(`${runId}:2`);
  });

  it("has the state of a request for this activation, later what the runs made of it", () => {
    const { desk, runId, stream, agent } = session({ clientTools: ["confirm"] });
    const instructions = [{ id: "s", role: "system", content: "Be brief." }];
    const input = { state: { asked: 1 }, context: [], forwardedProps: { p: 1 }, instructions };
    const digest = "d".repeat(64);
    applied(desk.user({ type: "run.request", requestId: "q", digest, of: { runId }, input }));
    expect(agUiInput(desk.state, { runId }).input).toMatchObject({
      state: { asked: 1 },
      forwardedProps: { p: 1 },
      messages: [...instructions, { role: "user" }],
    });
    stream([
      STARTED,
      { type: "STATE_SNAPSHOT", snapshot: { made: 2 } },
      ...call("c1", "confirm"),
      FINISHED,
    ]);
    agent().finish();
    const answer = { type: "text", text: "y" } as const;
    applied(desk.user({ type: "call.answer", callId: "c1", outcome: "ok", answer }));
    desk.start(runId);
    expect(agUiInput(desk.state, { runId }).input.state).toEqual({ made: 2 });
  });

  it("has a state of null as that, whatever was asked for before", () => {
    const { desk, runId, stream } = session();
    const input = { state: { asked: 1 }, context: [], forwardedProps: {} };
    const digest = "d".repeat(64);
    applied(desk.user({ type: "run.request", requestId: "q", digest, of: { runId }, input }));
    stream([STARTED, { type: "STATE_SNAPSHOT", snapshot: null }, FINISHED]);
    applied(desk.agent(runId).finish());
    const next = desk.send("m2");
    desk.start(next);
    expect(agUiInput(desk.state, { runId: next }).input.state).toBeNull();
  });

  it("ends in the messages that wait to steer the run", () => {
    const { desk, runId, stream } = session();
    stream([STARTED, ...text("t", "so"), FINISHED]);
    applied(
      desk.user({ type: "message.send", messageId: "m2", content: "left", whileActive: "steer" }),
    );
    const { input, steers } = agUiInput(desk.state, { runId });
    expect(steers).toEqual(["m2"]);
    expect(input.messages.at(-1)).toEqual({ id: "m2", role: "user", content: "left" });
  });
});

describe("12.5.12 every call there has its result", () => {
  it("a failure and an end without an answer say so in error", () => {
    const { desk, stream, agent } = session();
    stream([
      STARTED,
      ...call("c1", "search"),
      ...call("c2", "search", '{"n":2}'),
      result("c1", "found"),
      FINISHED,
    ]);
    agent().finish();
    const second = desk.send("m2");
    desk.start(second);
    const results = agUiInput(desk.state, { runId: second }).input.messages.filter(
      ({ role }) => role === "tool",
    );
    expect(results).toMatchObject([
      { toolCallId: "c1", content: "found" },
      { toolCallId: "c2", error: expect.stringContaining("without an answer") },
    ]);
    expect(results[0]).not.toHaveProperty("error");
  });

  it("but for those that a resume entry decides; what was approved otherwise is told of", () => {
    const { desk, runId, stream, agent } = session();
    const asked = { id: "i1", reason: "tool_call", toolCallId: "c1" };
    stream([STARTED, ...call("c1", "pay"), interrupted(asked)]);
    agent().append(
      { type: "round.open" },
      ...proposal("native", "pay"),
      { type: "call.ask", callId: "native" },
      { type: "round.close" },
    );
    agent().finish();
    const native = desk.call("native").approval?.id ?? "";
    applied(desk.user({ type: "call.decide", callId: "c1", approvalId: "i1", approved: true }));
    applied(
      desk.user({ type: "call.decide", callId: "native", approvalId: native, approved: true }),
    );
    desk.start(runId);
    const { resume, messages } = agUiInput(desk.state, { runId }).input;
    expect(resume).toEqual([
      { interruptId: "i1", status: "resolved", payload: { approved: true } },
    ]);
    const told = messages.flatMap((it) => (it.role === "tool" ? [it.toolCallId] : []));
    expect(told).toEqual(["native"]);
  });
});

describe("12.5.13 resume entries", () => {
  const ask = (id: string) => ({ id, reason: "ask" });

  /** A run whose agent ended in these interrupts, of which each was answered, or not. */
  function answered(
    answers: Record<string, { answer?: object; declined?: boolean; cancel?: boolean }>,
  ) {
    const made = session();
    const { desk, runId, stream, agent } = made;
    stream([STARTED, interrupted(...Object.keys(answers).map(ask))]);
    agent().finish();
    for (const [id, { answer, declined, cancel }] of Object.entries(answers)) {
      const callId = `interrupt_${id}`;
      if (cancel) applied(desk.user({ type: "call.cancel", callId }));
      else {
        const outcome = declined ? "error" : "ok";
        const said = (answer ?? { type: "text", text: "" }) as { type: "text"; text: string };
        applied(
          desk.user({
            type: "call.answer",
            callId,
            outcome,
            answer: said,
            ...(declined && { declined }),
          }),
        );
      }
    }
    desk.start(runId);
    return { ...made, entries: () => agUiInput(desk.state, { runId: made.run().id }).input.resume };
  }

  it("have an answer as it was given, of any type; null is none, and declined or cancelled is cancelled", () => {
    const { entries } = answered({
      json: { answer: { type: "json", value: { a: [1] } } },
      text: { answer: { type: "text", text: "red" } },
      parts: { answer: { type: "parts", parts: [{ type: "text", text: "p" }] } },
      nothing: { answer: { type: "json", value: null } },
      zero: { answer: { type: "json", value: 0 } },
      declined: { declined: true },
      cancelled: { cancel: true },
    });
    expect(entries()).toEqual([
      { interruptId: "json", status: "resolved", payload: { a: [1] } },
      { interruptId: "text", status: "resolved", payload: "red" },
      { interruptId: "parts", status: "resolved", payload: [{ type: "text", text: "p" }] },
      { interruptId: "nothing", status: "resolved" },
      { interruptId: "zero", status: "resolved", payload: 0 },
      { interruptId: "declined", status: "cancelled" },
      { interruptId: "cancelled", status: "cancelled" },
    ]);
  });

  it("are there until a run ends that did not fail", () => {
    const { desk, stream, agent, entries } = answered({
      i: { answer: { type: "text", text: "x" } },
    });
    stream([STARTED, { type: "RUN_ERROR", message: "x" }]);
    agent().fail();
    const second = desk.send("m2");
    desk.start(second);
    const next = () => agUiInput(desk.state, { runId: second }).input.resume;
    const entry = { interruptId: "i", status: "resolved", payload: "x" };
    expect([entries(), next()]).toEqual([[entry], [entry]]);
    const encoder = createAgUiEncoder({ runId: second, attempt: 1 });
    desk.agent(second).append(...[STARTED, FINISHED].flatMap((event) => encoder.encode(event)));
    expect(next()).toBeUndefined();
  });
});
