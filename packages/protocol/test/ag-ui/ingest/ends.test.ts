import { describe, expect, it } from "vitest";
import { agUiInput, INTERRUPT_TOOL } from "@holdfast/protocol/ag-ui";
import { call, encode, FINISHED, interrupted, result, session, STARTED, text } from "./support.ts";

const INPUT = { threadId: "s1", runId: "run", messages: [], tools: [], context: [] };

describe("12.5 how a run ends", () => {
  it("RUN_FINISHED with result and usage, which go to the run", () => {
    const { stream, run } = session();
    const usage = [{ model: "m", inputTokens: 3 }];
    const { encoder } = stream([STARTED, { ...FINISHED, result: { n: 1 }, usage }]);
    expect([encoder.outcome, encoder.failure]).toEqual(["success", undefined]);
    expect(run().metadata).toEqual({
      "ag-ui": { "1": { runId: "run", outcome: "success", result: { n: 1 }, usage } },
    });
  });

  it("RUN_ERROR with code and message, whatever is open", () => {
    const { encoder } = encode([
      STARTED,
      call("c", "t")[0],
      { type: "RUN_ERROR", message: "No quota.", code: "quota" },
    ]);
    expect([encoder.outcome, encoder.failure]).toEqual([
      "error",
      { code: "quota", message: "No quota." },
    ]);
  });

  it("a late RUN_ERROR makes a finished run a failed one", () => {
    const { encoder } = encode([STARTED, FINISHED, { type: "RUN_ERROR", message: "No." }]);
    expect([encoder.outcome, encoder.failure?.code]).toEqual(["error", "agent_error"]);
  });

  it("a run that was stopped on purpose is neither a success nor an error of its agent", () => {
    const { encoder } = encode([STARTED, { ...FINISHED, outcome: { type: "cancelled" } }]);
    expect([encoder.outcome, encoder.failure?.code]).toEqual(["cancelled", "cancelled"]);
  });

  it.each([
    ["nothing at all", []],
    ["a run that goes on", [STARTED, ...text("t", "x")]],
    ["a call cut in two", [STARTED, call("c", "t")[0]]],
  ])("a stream that ends without its run's end is lost: %s", (_, events) => {
    const { encoder } = encode(events);
    expect([encoder.outcome, encoder.failure?.code]).toEqual([undefined, "agent_lost"]);
  });

  it("is over at its first violation", () => {
    const { encoder, items } = encode([STARTED, ...text("t", "a"), FINISHED, ...text("u", "b")]);
    expect(encoder.violation).toMatchObject({ rule: "V2", index: 5 });
    expect(encoder.outcome).toBeUndefined();
    expect(JSON.stringify(items)).not.toContain('"u"');
  });

  it("is of the thread and the run that were asked for", () => {
    const other = [
      { ...STARTED, threadId: "x" },
      { ...FINISHED, threadId: "x" },
    ];
    expect(encode(other, { input: INPUT }).encoder.violation).toMatchObject({ rule: "D2" });
    const old = [
      { ...STARTED, runId: "old" },
      ...text("h", "history"),
      { ...FINISHED, runId: "old" },
    ];
    expect(encode(old, { input: INPUT }).encoder.failure?.code).toBe("protocol_violation");
    const { encoder, items } = encode([...old, STARTED, ...text("t", "new"), FINISHED], {
      input: INPUT,
    });
    expect(encoder.failure).toBeUndefined();
    expect(JSON.stringify(items)).toContain("new");
    expect(JSON.stringify(items)).not.toContain("history");
  });

  it.each([
    ["whole", (other: object[]) => other],
    ["that is cut off", (other: object[]) => other.slice(0, -1)],
    [
      "that fails",
      (other: object[]) => [...other.slice(0, -1), { type: "RUN_ERROR", message: "x" }],
    ],
  ])("another run after the one that was asked for changes nothing: one %s", (_, part) => {
    const other = [{ ...STARTED, runId: "x" }, ...text("u", "other"), { ...FINISHED, runId: "x" }];
    const events = [STARTED, ...text("t", "mine"), FINISHED, ...part(other)];
    const { encoder, items } = encode(events, { input: INPUT });
    expect([encoder.outcome, encoder.failure, encoder.violation]).toEqual([
      "success",
      undefined,
      undefined,
    ]);
    expect(JSON.stringify(items)).not.toContain("other");
    // Where none was asked for, it is one of them, and the last.
    const all = encode(events).encoder;
    expect(all.failure === undefined).toBe(part(other) === other);
  });

  it("a run that failed is over, whatever its agent begins after it", () => {
    const again = [STARTED, ...text("t", "again"), FINISHED];
    const events = [STARTED, ...text("t", "once"), { type: "RUN_ERROR", message: "No." }, ...again];
    for (const scope of [{}, { input: INPUT }]) {
      const { encoder, items } = encode(events, scope);
      expect(encoder.failure).toEqual({ code: "agent_error", message: "No." });
      expect(JSON.stringify(items)).not.toContain("again");
    }
  });

  const LONG = "x".repeat(100_000);
  it.each([
    ["the agent's failure", [STARTED, { type: "RUN_ERROR", code: LONG, message: LONG }]],
    ["a rule that it broke", [STARTED, { type: "TEXT_MESSAGE_END", messageId: LONG }]],
    ["a run that was cut off", [{ ...STARTED, runId: LONG }]],
  ])("is said in few words, however long those are that come: %s", (_, events) => {
    const { encoder } = encode(events);
    const { code = "", message = "" } = encoder.failure ?? {};
    expect(message).toContain("xxx");
    expect([code.length < 300, message.length < 5_000]).toEqual([true, true]);
  });

  it("is noted in an annotation of its own where the agent has much to say", () => {
    const begun = { ...STARTED, rawEvent: LONG };
    const odd = { type: LONG, [LONG]: 1 };
    const { items } = encode([begun, odd, { ...FINISHED, result: LONG, outcome: null }]);
    const records = items.flatMap((it) =>
      it.type === "run.annotate" ? [it.metadata["ag-ui"] as { "1": Record<string, unknown> }] : [],
    );
    const [short, long, last, whole] = records.map((it) => it["1"]);
    expect([short, last]).toEqual([{ runId: "run" }, { runId: "run", outcome: "success" }]);
    expect([long, whole]).toMatchObject([
      { runId: "run", rawEvent: LONG },
      { runId: "run", rawEvent: LONG, outcome: "success", result: LONG },
    ]);
    expect(JSON.stringify(whole?.["diagnostics"]).length).toBeLessThan(3_000);
  });

  it("results of calls that never became complete are kept when the run fails", () => {
    const events = [
      STARTED,
      call("c", "t")[0],
      result("c", "r"),
      { type: "RUN_ERROR", message: "x" },
    ];
    expect(encode(events).items).toContainEqual(
      expect.objectContaining({ type: "RAW", event: expect.objectContaining({ content: "r" }) }),
    );
  });
});

describe("12.5 interrupts", () => {
  const pay = { id: "i1", reason: "tool_call", message: "Pay?", toolCallId: "c1" };

  it("seed: a side-effectful call asks first, and is never shown as approved when it was not", () => {
    const { stream, desk, agent, run } = session();
    const expiresAt = new Date(5_000).toISOString();
    const interrupt = { ...pay, expiresAt };
    const { skipped, encoder } = stream([STARTED, ...call("c1", "pay"), interrupted(interrupt)]);
    expect([skipped, encoder.outcome]).toEqual([[], "interrupt"]);
    agent().finish();
    expect([run().status, desk.call("c1").status]).toEqual(["suspended", "gated"]);
    expect(desk.call("c1").approval).toEqual({
      id: "i1",
      by: "agent",
      digest: expect.any(String),
      reason: "Pay?",
      expiresAt: 5_000,
      metadata: { "ag-ui": { interrupt } },
    });
    desk.tick(4_000);
    desk.timer({ type: "approval", callId: "c1" });
    expect(desk.call("c1")).toMatchObject({ outcome: "expired" });
    expect(desk.call("c1").approval?.decision).toBeUndefined();
  });

  it("one that names no call of its run is a call that an application answers", () => {
    const { stream, desk, agent, run } = session();
    const interrupt = {
      id: "i2",
      reason: "input_required",
      responseSchema: { type: "object" },
      expiresAt: new Date(6_000).toISOString(),
      metadata: { k: 1 },
    };
    expect(stream([STARTED, interrupted(interrupt)]).skipped).toEqual([]);
    agent().finish();
    expect(run().status).toBe("suspended");
    expect(desk.call("interrupt_i2")).toMatchObject({
      name: INTERRUPT_TOOL,
      executor: "client",
      status: "open",
      deadlineAt: 6_000,
      metadata: { "ag-ui": { interrupt } },
    });
    expect(JSON.parse(desk.call("interrupt_i2").arguments)).toEqual({
      reason: "input_required",
      responseSchema: { type: "object" },
      metadata: { k: 1 },
    });
    const answer = { type: "json", value: { ok: true } } as const;
    desk.user({ type: "call.answer", callId: "interrupt_i2", outcome: "ok", answer });
    expect(run().status).toBe("queued");
  });

  it.each([
    ["answered", [...call("c1", "pay"), result("c1", "paid")]],
    ["of another run", []],
  ])("so is one that names a call which is %s", (_, said) => {
    const { stream, desk } = session();
    expect(stream([STARTED, ...said, interrupted(pay)]).skipped).toEqual([]);
    expect(desk.call("interrupt_i1").name).toBe(INTERRUPT_TOOL);
  });

  it("and the second of two that name one call", () => {
    const { stream, desk } = session();
    stream([STARTED, ...call("c1", "pay"), interrupted(pay, { ...pay, id: "i2" })]);
    expect(desk.call("c1").approval?.id).toBe("i1");
    expect(desk.call("interrupt_i2").name).toBe(INTERRUPT_TOOL);
  });

  it("one that has the id of another run's waits for an answer of its own", () => {
    const { stream, desk, agent, run, runId } = session();
    const ask = { id: "confirm", reason: "ask", message: "Sure?" };
    const resumed = (text: string) => {
      const waits = [...desk.state.calls.values()].find(({ status }) => status === "open");
      const answer = { type: "text", text } as const;
      desk.user({ type: "call.answer", callId: waits?.id ?? "none", outcome: "ok", answer });
      desk.start(runId);
      return agUiInput(desk.state, { runId }).input.resume;
    };
    for (const said of ["one", "two", "three"]) {
      expect(stream([STARTED, interrupted(ask)]).skipped).toEqual([]);
      agent().finish();
      expect(run().status).toBe("suspended");
      expect(resumed(said)).toEqual([
        { interruptId: "confirm", status: "resolved", payload: said },
      ]);
    }
    expect([...desk.state.calls.keys()]).toEqual(["interrupt_confirm", "run1.2.i1", "run1.3.i1"]);
  });

  it("those whose ids no call may have are calls of their own too", () => {
    const { stream, desk } = session();
    const ids = ["x".repeat(300), `${"x".repeat(300)}y`, "\ud800"];
    const asked = ids.map((id, n) => ({ id, reason: "ask", message: `${n}` }));
    expect(stream([STARTED, interrupted(...asked)]).skipped).toEqual([]);
    const calls = [...desk.state.calls.values()];
    expect(calls.map((it) => [it.id, JSON.parse(it.arguments)])).toEqual([
      ["run1.1.i1", { reason: "ask", message: "0" }],
      ["run1.1.i2", { reason: "ask", message: "1" }],
      ["run1.1.i3", { reason: "ask", message: "2" }],
    ]);
  });

  it("an approval of a call whose id no call may have is that call's", () => {
    const { stream, desk } = session();
    const id = "x".repeat(300);
    const { skipped } = stream([
      STARTED,
      ...call(id, "pay"),
      interrupted({ ...pay, toolCallId: id }),
    ]);
    expect(skipped).toEqual([]);
    expect([...desk.state.calls.values()]).toMatchObject([{ name: "pay", approval: { id: "i1" } }]);
  });

  it("two of one id break the protocol", () => {
    expect(encode([STARTED, interrupted(pay, pay)]).encoder.violation).toMatchObject({
      rule: "D3",
    });
  });

  it("what is no time never expires", () => {
    const { stream, desk } = session();
    stream([STARTED, ...call("c1", "pay"), interrupted({ ...pay, expiresAt: "soon" })]);
    expect(desk.call("c1").approval?.expiresAt).toBeUndefined();
  });
});
