import { argumentsForModel, resultOf } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { applied, proposal } from "../support/desk.ts";
import { approvalOf, atWork, byHolder, OK, roundTrip } from "./support.ts";

describe("dangling calls", () => {
  it("C01 a call whose agent died before its result has one, recorded as such", () => {
    const { desk, runId, agent } = atWork([{ name: "job" }]);
    agent.append(...proposal("c1", "job"));
    applied(agent.command({ type: "call.claim", callId: "c1" }));
    desk.timer({ type: "lease", runId, attempt: 1 });
    const claimId = desk.call("c1").claim?.id ?? "";
    desk.timer({ type: "claim", callId: "c1", claimId });
    expect(desk.call("c1")).toMatchObject({ outcome: "error", reason: "executor_lost" });
    expect(resultOf(desk.call("c1"))).toMatchObject({ kind: "note" });
    expect(desk.entries.at(-2)?.event).toMatchObject({ type: "call.settled", callId: "c1" });
    expect(desk.run(runId).status).toBe("queued");
  });

  it.each([
    ["abandon", undefined, "abandoned"],
    ["queue", undefined, undefined],
    ["refuse", "calls_pending", undefined],
  ] as const)("C02 text instead of a tool's answer: %s", (whilePending, code, outcome) => {
    const { desk, runId, agent } = atWork([{ name: "page", executor: "client" }]);
    agent.append(...proposal("c1", "page"));
    agent.finish();
    const message = { type: "message.send", messageId: "m2", content: "never mind" } as const;
    const verdict = desk.user({ ...message, whilePending });
    expect(verdict.error?.code).toBe(code);
    expect(desk.call("c1").outcome).toBe(outcome);
    if (outcome) expect(resultOf(desk.call("c1"))).toMatchObject({ kind: "note" });
    else expect(desk.run(runId).status).toBe("suspended");
  });

  it("C03 typing while an approval is open leaves every call with a result", () => {
    const { desk, agent } = atWork([{ name: "pay", approval: "always" }]);
    agent.append(...proposal("c1", "pay"));
    agent.finish();
    expect(resultOf(desk.call("c1")).kind).toBe("note");
    desk.send("m2");
    expect(resultOf(desk.call("c1")).kind).toBe("note");
    expect(desk.call("c1").approval?.decision).toBeUndefined();
  });

  it("C04 a tool that is not there fails at once, its siblings go on", () => {
    const { desk, agent } = atWork([{ name: "job" }], { complete: true });
    agent.append(...proposal("c1", "nowhere"), ...proposal("c2", "job"));
    expect(desk.call("c1")).toMatchObject({ outcome: "error", reason: "unknown_tool" });
    agent.append({ type: "call.answer", callId: "c2", ...OK });
    expect(desk.call("c2").outcome).toBe("ok");
  });

  it("C05 a denial is an end with a result the model sees", () => {
    const { desk, runId, agent } = atWork([{ name: "pay", approval: "always" }]);
    agent.append(...proposal("c1", "pay"));
    agent.finish();
    const denial = { callId: "c1", approvalId: approvalOf(desk, "c1"), approved: false } as const;
    applied(desk.user({ type: "call.decide", ...denial, reason: "too much" }));
    expect(desk.call("c1")).toMatchObject({ status: "settled", outcome: "denied" });
    expect(resultOf(desk.call("c1"))).toEqual({ kind: "denied", reason: "too much" });
    expect(desk.run(runId).status).toBe("queued");
  });

  it("C06 a session restored while a client's call waits offers it still", () => {
    const { desk, agent } = atWork([{ name: "page", executor: "client" }]);
    agent.append(...proposal("c1", "page"));
    agent.finish();
    expect(roundTrip(desk).calls["c1"]).toMatchObject({ status: "open" });
    expect(applied(desk.user({ type: "call.claim", callId: "c1" })).claimId).toBeDefined();
  });

  it("C07 an abandoned approval is told as not executed, a claimed call as of unknown outcome", () => {
    const { desk, agent } = atWork([
      { name: "pay", approval: "always" },
      { name: "page", executor: "client" },
    ]);
    agent.append(...proposal("c1", "pay"), ...proposal("c2", "page"));
    agent.finish();
    applied(desk.user({ type: "call.claim", callId: "c2" }));
    desk.send("m2");
    const told = (id: string) => JSON.stringify(resultOf(desk.call(id)));
    expect(told("c1")).toContain("Not executed");
    expect(told("c2")).toContain("Outcome unknown");
  });

  it("C08 a new message settles what waits in its own commit, never as approved", () => {
    const { desk, agent } = atWork([{ name: "ask_user", executor: "client" }]);
    agent.append(...proposal("c1", "ask_user"));
    agent.finish();
    const commits = desk.frames.length;
    desk.send("m2");
    expect(desk.frames).toHaveLength(commits + 1);
    const types = desk.frames.at(-1)?.entries.map((entry) => entry.event.type);
    expect(types).toEqual(expect.arrayContaining(["call.settled", "run.ended", "message.added"]));
    expect(desk.call("c1")).toMatchObject({
      outcome: "abandoned",
      reason: "superseded_by_new_message",
    });
  });

  it("C10 a decision on an unknown call is a typed error that names what is pending", () => {
    const { desk, agent } = atWork([{ name: "pay", approval: "always" }]);
    agent.append(...proposal("c1", "pay"));
    agent.finish();
    const body = { callId: "older", approvalId: "x", approved: false } as const;
    const { error } = desk.user({ type: "call.decide", ...body });
    expect(error).toMatchObject({ code: "unknown_call", details: { pending: ["c1"] } });
  });

  it("C94 broken JSON is an error the model reads, the run goes on, the text is kept", () => {
    const { desk, runId, agent } = atWork([{ name: "page", executor: "client" }]);
    agent.append(...proposal("c1", "page", '{"a":'), { type: "round.close" });
    expect(desk.call("c1")).toMatchObject({ reason: "invalid_arguments", arguments: '{"a":' });
    expect(resultOf(desk.call("c1"))).toMatchObject({ kind: "note" });
    expect(desk.run(runId).status).toBe("active");
  });

  it("C96 empty arguments mean an empty object", () => {
    const { desk, agent } = atWork([{ name: "page", executor: "client" }]);
    agent.append(
      { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "page" },
      { type: "TOOL_CALL_END", toolCallId: "c1" },
      { type: "round.close" },
    );
    expect(desk.call("c1").status).toBe("open");
    expect(argumentsForModel(desk.call("c1"))).toEqual({});
  });

  it("C97 C98 arguments may be interleaved with text and with other calls", () => {
    const { desk, agent } = atWork([{ name: "page", executor: "client" }]);
    applied(
      agent.append(
        { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "page" },
        { type: "TOOL_CALL_START", toolCallId: "c2", toolCallName: "page" },
        { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '{"a"' },
        { type: "TEXT_MESSAGE_START", messageId: "t1", role: "assistant" },
        { type: "TOOL_CALL_ARGS", toolCallId: "c2", delta: "{}" },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: "hm" },
        { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: ":1}" },
        { type: "TOOL_CALL_END", toolCallId: "c1" },
        { type: "TOOL_CALL_END", toolCallId: "c2" },
      ),
    );
    expect(desk.call("c1").arguments).toBe('{"a":1}');
    expect(desk.call("c2").arguments).toBe("{}");
    const stray = agent.append({ type: "TOOL_CALL_ARGS", toolCallId: "c9", delta: "{}" });
    expect(stray.skipped?.[0]?.error.code).toBe("unknown_call");
  });

  it.each([0, "", false, null])("C103 %j is an answer", (value) => {
    const { desk, runId, agent } = atWork([{ name: "page", executor: "client" }]);
    agent.append(...proposal("c1", "page"));
    agent.finish();
    applied(desk.user(byHolder("c1", { type: "json", value })));
    expect(desk.call("c1")).toMatchObject({ outcome: "ok", answer: { answer: { value } } });
    expect(roundTrip(desk).calls["c1"]).toEqual(desk.call("c1"));
    expect(desk.run(runId).status).toBe("queued");
  });

  it("C107 an answer after a stop is refused and starts nothing", () => {
    const { desk, runId, agent } = atWork([{ name: "page", executor: "client" }]);
    agent.append(...proposal("c1", "page"));
    agent.finish();
    applied(desk.user({ type: "run.cancel", runId }));
    const entries = desk.entries.length;
    const { error } = desk.user(byHolder("c1", { type: "text", text: "late" }));
    expect(error).toMatchObject({ code: "call_settled", details: { outcome: "cancelled" } });
    expect(desk.entries).toHaveLength(entries);
  });
});
