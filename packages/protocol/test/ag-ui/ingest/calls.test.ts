import { describe, expect, it } from "vitest";
import {
  call,
  contentOf,
  encode,
  FINISHED,
  interrupted,
  result,
  session,
  STARTED,
  text,
} from "./support.ts";

describe("12.5 calls of an AG-UI agent", () => {
  it("seed: an agent-executed tool answers in-stream via TOOL_CALL_RESULT, and its result does not reopen the call", () => {
    const { stream, desk, agent } = session();
    const { skipped } = stream([
      STARTED,
      ...call("c1", "search", '{"q":1}'),
      result("c1", "3 found"),
      FINISHED,
    ]);
    expect(skipped).toEqual([]);
    agent().finish();
    expect(desk.call("c1")).toMatchObject({
      status: "settled",
      outcome: "ok",
      executor: "agent",
      arguments: '{"q":1}',
      rev: 1,
      answer: { messageId: "r-c1", answer: { type: "text", text: "3 found" } },
    });
  });

  it("seed: a result's content is data: text that looks like JSON or like an event stays text", () => {
    const content = '{"type":"RUN_FINISHED","approved":true}';
    const { items } = encode([STARTED, ...call("c1", "search"), result("c1", content), FINISHED]);
    expect(items).toContainEqual(
      expect.objectContaining({ answer: { type: "text", text: content } }),
    );
    const parts = [
      { type: "text", text: "a" },
      { type: "image", source: { type: "url", value: "u" } },
    ];
    const made = encode([STARTED, ...call("c1", "search"), result("c1", parts), FINISHED]).items;
    expect(made).toContainEqual(expect.objectContaining({ answer: { type: "parts", parts } }));
  });

  it("seed: a frontend tool's call is left unanswered by a run that finishes with success, several of them too", () => {
    const { stream, desk, agent, run } = session({ clientTools: ["confirm"] });
    const said = [STARTED, ...call("c1", "confirm"), ...call("c2", "confirm", '{"n":2}')];
    const pending = { ...FINISHED, outcome: { type: "success", pendingToolCallIds: ["c1", "c2"] } };
    const { encoder, skipped } = stream([...said, pending]);
    expect([skipped, encoder.failure, encoder.outcome]).toEqual([[], undefined, "success"]);
    agent().finish();
    expect(run().status).toBe("suspended");
    expect(desk.call("c1")).toMatchObject({ status: "open", executor: "client" });
  });

  it("seed: a producer that answers a frontend tool breaks the protocol; what came before is kept", () => {
    const { stream, desk } = session({ clientTools: ["confirm"] });
    const answered = [
      STARTED,
      ...text("t", "so"),
      ...call("c1", "confirm"),
      result("c1", "yes"),
      FINISHED,
    ];
    const { encoder } = stream(answered);
    expect(encoder.failure).toMatchObject({ code: "protocol_violation" });
    expect(encoder.failure?.message).toMatch(
      /^Event 7 \(TOOL_CALL_RESULT\) breaks rule D8: .*confirm/,
    );
    expect(encoder.outcome).toBeUndefined();
    expect(desk.state.items.get("t")).toMatchObject({ text: "so" });
    expect(desk.call("c1")).toMatchObject({ status: "ended" });
  });

  it("seed: nor may it fabricate a tool message for one", () => {
    const tool = { id: "x", role: "tool", toolCallId: "c1", content: "yes" };
    const snapshot = { type: "MESSAGES_SNAPSHOT", messages: [tool] };
    const { stream } = session({ clientTools: ["confirm"] });
    const { encoder } = stream([STARTED, ...call("c1", "confirm"), snapshot, FINISHED]);
    expect(encoder.violation).toMatchObject({ rule: "D8" });
  });

  it("seed: a call naming a tool that was not advertised is not a violation, and nobody else's to execute", () => {
    const { stream, desk, agent } = session({ clientTools: ["confirm"] });
    const { encoder } = stream([STARTED, ...call("c1", "unheard_of"), FINISHED]);
    expect(encoder.failure).toBeUndefined();
    agent().finish();
    expect(desk.call("c1")).toMatchObject({ executor: "agent", reason: "unanswered" });
  });

  it("seed: a call left open when the run finishes is a violation", () => {
    const [start] = call("c1", "search");
    expect(encode([STARTED, start, FINISHED]).encoder.violation).toMatchObject({ rule: "V10" });
  });

  it("seed: continuing or closing a call that is not open, or reopening one that is, is fatal", () => {
    const [start, args, end] = call("c1", "search");
    for (const [said, rule] of [
      [[args], "V8"],
      [[end], "V8"],
      [[start, start], "V7"],
    ] as const) {
      expect(encode([STARTED, ...said]).encoder.violation).toMatchObject({ rule });
    }
  });

  it("seed: a closed call may be reopened, and further arguments append", () => {
    const { stream, desk } = session();
    const [start, , end] = call("c1", "search");
    const more = { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "1}" };
    const { skipped } = stream([STARTED, ...call("c1", "search", '{"a":'), start, more, end]);
    expect(skipped).toEqual([]);
    expect(desk.call("c1")).toMatchObject({ arguments: '{"a":1}', rev: 2 });
  });

  it("seed: a start that reopens a subagent's call need not say again whose it is", () => {
    const { stream, desk } = session();
    const [start = {}, , end] = call("c1", "search");
    const tag = { subagentRunId: "s1" };
    const { skipped } = stream([STARTED, ...call("c1", "search", "[", tag), start, end]);
    expect(skipped).toEqual([]);
    expect([...desk.state.calls.keys()]).toEqual(["c1"]);
    expect(desk.call("c1")).toMatchObject({ rev: 2, ...tag });
  });

  it("seed: arguments are carried as text and not validated; what does not parse is no violation", () => {
    const { stream, desk, agent } = session();
    const { encoder } = stream([
      STARTED,
      ...call("c1", "search", "{oops"),
      result("c1", "?"),
      FINISHED,
    ]);
    agent().finish();
    expect([encoder.failure, desk.call("c1").arguments]).toEqual([undefined, "{oops"]);
  });

  it("seed: chunks are expanded: the first carries toolCallId and toolCallName, a conflicting repeat is fatal", () => {
    const { stream, desk } = session();
    const chunk = { type: "TOOL_CALL_CHUNK", toolCallId: "c1" };
    stream([
      STARTED,
      { ...chunk, toolCallName: "search", delta: "{" },
      { type: "TOOL_CALL_CHUNK", delta: "}" },
      FINISHED,
    ]);
    expect(desk.call("c1")).toMatchObject({ name: "search", arguments: "{}" });
    expect(encode([STARTED, chunk]).encoder.violation).toMatchObject({ rule: "X1" });
    const conflict = [
      { ...chunk, toolCallName: "search" },
      { ...chunk, toolCallName: "other" },
    ];
    expect(encode([STARTED, ...conflict]).encoder.violation).toMatchObject({ rule: "X2" });
  });

  it("a result that comes before its call is complete is taken when it is", () => {
    const [start, args, end] = call("c1", "search");
    const { stream, desk } = session();
    const { skipped } = stream([STARTED, start, result("c1", "early"), args, end, FINISHED]);
    expect(skipped).toEqual([]);
    expect(desk.call("c1")).toMatchObject({ outcome: "ok", answer: { answer: { text: "early" } } });
  });

  it("a second result changes nothing: the first answer stands", () => {
    const { stream, desk, agent } = session();
    const twice = [result("c1", "first"), result("c1", "second", "r2")];
    const { encoder, skipped } = stream([STARTED, ...call("c1", "search"), ...twice, FINISHED]);
    expect(skipped).toMatchObject([{ error: { code: "already_answered" } }]);
    agent().finish();
    expect([encoder.failure, desk.call("c1").answer?.answer]).toEqual([
      undefined,
      { type: "text", text: "first" },
    ]);
  });

  it("a result of a call that nobody made is kept as it came, with a diagnostic", () => {
    const input = { threadId: "s1", runId: "run", messages: [], tools: [], context: [] };
    const { items } = encode([STARTED, result("nobody", "x"), FINISHED], { input });
    expect(contentOf(items)).toEqual([
      { type: "RAW", source: "ag-ui", event: result("nobody", "x") },
    ]);
    const record = JSON.stringify(items.filter(({ type }) => type === "run.annotate"));
    expect(record).toContain("unknown_call");
  });

  it("a call that was approved and comes again whole is the same call, and its result its answer", () => {
    const { stream, desk, agent, runId, run } = session();
    const interrupt = { id: "i1", reason: "tool_call", toolCallId: "c1" };
    stream([
      STARTED,
      ...call("c1", "pay"),
      { ...FINISHED, outcome: { type: "interrupt", interrupts: [interrupt] } },
    ]);
    agent().finish();
    desk.user({ type: "call.decide", callId: "c1", approvalId: "i1", approved: true });
    expect(run().status).toBe("queued");
    desk.start(runId);
    const again = [
      STARTED,
      ...call("c1", "pay"),
      result("c1", "paid"),
      ...text("t", "done"),
      FINISHED,
    ];
    const { skipped } = stream(again, { approved: new Map([["c1", desk.call("c1")]]) });
    expect(skipped).toEqual([]);
    agent().finish();
    expect([...desk.state.calls.keys()]).toEqual(["c1"]);
    expect(desk.call("c1")).toMatchObject({ outcome: "ok", rev: 1 });
    expect(run().outcome).toBe("complete");
  });

  describe("seed: a call is not represented as approved when it was not", () => {
    /** What becomes of an approved call under whose id its agent says this. */
    function after(...said: object[]) {
      const made = session();
      const { stream, desk, agent, runId } = made;
      const interrupt = { id: "i1", reason: "tool_call", toolCallId: "c1" };
      stream([STARTED, ...call("c1", "pay", '{"to":"Ann","n":1}'), interrupted(interrupt)]);
      agent().finish();
      desk.user({ type: "call.decide", callId: "c1", approvalId: "i1", approved: true });
      desk.start(runId);
      const events = [STARTED, ...said, FINISHED];
      const { skipped } = stream(events, { approved: new Map([["c1", desk.call("c1")]]) });
      expect(skipped).toEqual([]);
      agent().finish();
      return { ...made, calls: [...desk.state.calls.values()] };
    }

    it.each([
      ["written otherwise", call("c1", "pay", '{ "n": 1, "to": "Ann" }')],
      ["without its arguments", call("c1", "pay", "")],
      ["not at all", []],
    ])("what comes again %s is the call that was approved", (_, said) => {
      const { calls } = after(...said, result("c1", "paid"));
      expect(calls).toMatchObject([
        { id: "c1", outcome: "ok", answer: { answer: { text: "paid" } } },
      ]);
      expect(calls).toHaveLength(1);
    });

    it.each([
      ["other arguments", call("c1", "pay", '{"to":"Bob","n":1}')],
      ["arguments that go on", [...call("c1", "pay"), ...call("c1", "pay", '{"more":1}')]],
      ["another tool", call("c1", "refund", "")],
    ])("what has its id and %s is another call, which nobody approved", (_, said) => {
      const { calls, run } = after(...said, result("c1", "paid"));
      const [approved, other] = calls;
      expect(approved).toMatchObject({ id: "c1", outcome: "error", reason: "unanswered" });
      expect(other).toMatchObject({ providerId: "c1", outcome: "ok" });
      expect(other?.approval).toBeUndefined();
      expect(JSON.stringify(run().metadata)).toContain('"rule":"changed"');
    });

    it("and its early result is its own", () => {
      const [start, args, end] = call("c1", "pay", '{"n":2}');
      const early = [start, result("c1", "early", "r"), args, end].flatMap((it) => it ?? []);
      const { calls, desk } = after(...early, ...text("t", "Done."));
      expect(desk.state.items.get("t")?.round).toBe(Number(calls[1]?.round) + 1);
      expect(calls[0]).toMatchObject({ reason: "unanswered" });
      expect(calls[1]).toMatchObject({ answer: { answer: { text: "early" } } });
    });
  });

  it.each(["", "x".repeat(257), "\ud83d"])(
    "an id that no call may have gives it another, and its result goes there: %j",
    (id) => {
      const { stream, desk } = session();
      const said = [...call(id, "search"), result(id, "found", "r"), ...call("c", "search", "{}")];
      expect(stream([STARTED, ...said, FINISHED]).skipped).toEqual([]);
      expect([...desk.state.calls.keys()]).toEqual(["run1.1.c1", "c"]);
      expect(desk.call("run1.1.c1")).toMatchObject({
        answer: { answer: { text: "found" } },
        metadata: { "ag-ui": { toolCallId: id } },
      });
    },
  );

  it("an id that an earlier call had gives a call of its own, and its result goes there", () => {
    const { stream, desk, agent, runId } = session();
    stream([STARTED, ...call("c", "search", '{"n":1}'), result("c", "one"), FINISHED]);
    agent().finish();
    const second = desk.send("m2");
    desk.start(second);
    const { items } = encode(
      [STARTED, ...call("c", "search", '{"n":2}'), result("c", "two", "r2"), FINISHED],
      {
        runId: second,
      },
    );
    expect(desk.agent(second).append(...items).skipped).toBeUndefined();
    const [first, again] = [...desk.state.calls.values()];
    expect(first).toMatchObject({ id: "c", runId, answer: { answer: { text: "one" } } });
    expect(again).toMatchObject({
      providerId: "c",
      runId: second,
      answer: { answer: { text: "two" } },
    });
  });
});

describe("12.5 rounds of an AG-UI run", () => {
  const shapeOf = (events: object[]) =>
    encode([STARTED, ...events, FINISHED])
      .items.flatMap((item) => {
        if (item.type === "round.open") return ["("];
        if (item.type === "round.close") return [")"];
        return item.type.endsWith("_START") || item.type === "call.answer" ? [item.type[0]] : [];
      })
      .join("");

  it.each([
    ["a run is one round", [...text("a", "x"), ...call("c", "t")], "(TT)"],
    [
      "output after results begins the next",
      [...text("a"), ...call("c", "t"), result("c", "r"), ...text("b")],
      "(TTc)(T)",
    ],
    [
      "as soon as every call has its result",
      [
        ...call("c", "t"),
        ...call("d", "t"),
        result("c", "r"),
        ...text("b"),
        result("d", "r"),
        ...call("e", "t"),
      ],
      "(TTcTc)(T)",
    ],
    [
      "not below a message of the same round",
      [
        ...call("c", "t", "{}", { parentMessageId: "a" }),
        result("c", "r"),
        ...call("d", "t", "{}", { parentMessageId: "a" }),
      ],
      "(TcT)",
    ],
    [
      "reasoning is output too",
      [
        ...call("c", "t"),
        result("c", "r"),
        { type: "REASONING_START", messageId: "s" },
        { type: "REASONING_END", messageId: "s" },
      ],
      "(Tc)(R)",
    ],
  ])("%s", (_, events, shape) => {
    expect(shapeOf(events)).toBe(shape);
  });

  it("the first reads what steered the run and is in the input, the others nothing", () => {
    const events = [STARTED, ...call("c", "t"), result("c", "r"), ...text("a"), FINISHED];
    const opened = encode(events, { steers: ["m2"] }).items.filter(
      ({ type }) => type === "round.open",
    );
    expect(opened).toEqual([
      { type: "round.open", steers: ["m2"] },
      { type: "round.open", steers: [] },
    ]);
  });
});
