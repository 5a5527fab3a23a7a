import { createAgUiReader, readAgUi, type AgUiReading } from "@holdfast/protocol/ag-ui";
import { expect, test } from "vitest";
import {
  args,
  call,
  called,
  FINISH,
  on,
  readAll,
  result,
  said,
  say,
  START,
  warningsOf,
  whole,
} from "./events.ts";

// The sentences of the specification's chapter on tool calls, as far as a stream alone can show them.

const FRONTEND = { frontendTools: ["confirm_order"] };
const tool = (more: object) => ({ type: "TOOL_CALL_CHUNK", ...more });

function rule(stream: readonly unknown[], options = {}): string | undefined {
  return readAll(stream, options).violation?.rule;
}

function readings(stream: readonly unknown[]): AgUiReading[] {
  const reader = createAgUiReader();
  return stream.map((event) => readAgUi(reader, event));
}

test("seed: when the parent message is attributed to a subagent, the call MUST agree with that attribution", () => {
  const parent = [START, say("m", { subagentRunId: "s" })];
  const under = (subagentRunId: string) =>
    call("c", "look", { parentMessageId: "m", subagentRunId });
  expect(rule([...parent, under("s")])).toBeUndefined();
  expect(rule([...parent, under("z")])).toBe("V13");
});

test("seed: the protocol carries the arguments as text and does not validate it", () => {
  const stream = [START, call("c"), args("c", { delta: '{"unfinished' }), called("c"), FINISH];
  expect(rule(stream)).toBeUndefined();
});

test("seed: a consumer MUST NOT act on the arguments before TOOL_CALL_END: until then the call counts as open", () => {
  const reader = createAgUiReader();
  const isOpen = (event: unknown) => {
    readAgUi(reader, event);
    return reader.verify.open.calls.has("c");
  };
  expect([START, call("c"), args("c"), result("c"), called("c")].map(isOpen)).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
});

test("seed: a closed call MAY be reopened by a new TOOL_CALL_START, and further arguments append", () => {
  const stream = [
    START,
    call("c"),
    args("c"),
    called("c"),
    call("c"),
    args("c"),
    called("c"),
    FINISH,
  ];
  expect(readings(stream).map(({ violation, warnings }) => [violation, warnings])).toEqual(
    stream.map(() => [undefined, []]),
  );
});

test("seed: a reopening start MUST agree with the call it reopens: toolCallName, parentMessageId, owner", () => {
  const first = call("c", "look", { parentMessageId: "m", subagentRunId: "s" });
  const again = (more: object) => [START, first, called("c"), { ...first, ...more }];
  expect(warningsOf(again({}))).toEqual([]);
  expect(warningsOf(again({ toolCallName: "send" }))).toEqual(["D10"]);
  expect(warningsOf(again({ parentMessageId: "n" }))).toEqual(["D10"]);
  expect(rule(again({ subagentRunId: "z" }))).toBe("V12");
});

test("seed: a consumer MUST expand chunks", () => {
  const stream = [
    START,
    tool({ toolCallId: "c", toolCallName: "look", delta: "{" }),
    tool({ delta: "}" }),
    FINISH,
  ];
  expect(readings(stream).flatMap(({ events }) => events)).toEqual([
    START,
    call("c"),
    args("c", { delta: "{" }),
    args("c", { delta: "}" }),
    called("c"),
    FINISH,
  ]);
});

test("seed: the first chunk MUST carry toolCallId and toolCallName", () => {
  expect(rule([START, tool({ toolCallName: "look" })])).toBe("X1");
  expect(rule([START, tool({ toolCallId: "c" })])).toBe("X1");
});

test("seed: a continuation repeating toolCallName or parentMessageId with a conflicting value is fatal", () => {
  const first = { toolCallId: "c", toolCallName: "look", parentMessageId: "m" };
  expect(rule([START, tool(first), tool({ ...first, delta: "x" })])).toBeUndefined();
  expect(rule([START, tool(first), tool({ toolCallName: "send" })])).toBe("X2");
  expect(rule([START, tool(first), tool({ parentMessageId: "n" })])).toBe("X2");
});

test("seed: TOOL_CALL_RESULT does not reopen the call it answers", () => {
  expect(rule([START, ...whole("c"), result("c"), args("c")])).toBe("V8");
  expect(rule([START, ...whole("c"), result("c"), FINISH])).toBeUndefined();
});

test("seed: a result MAY arrive in the same run as its call, or never", () => {
  expect(rule([START, ...whole("c"), result("c"), FINISH])).toBeUndefined();
  expect(rule([START, ...whole("c"), FINISH])).toBeUndefined();
});

test("seed: a producer that calls a frontend tool MUST NOT answer it: no TOOL_CALL_RESULT", () => {
  const stream = [START, ...whole("c", "confirm_order"), result("c")];
  expect(rule(stream, FRONTEND)).toBe("D8");
});

test("seed: a producer that calls a frontend tool MUST NOT answer it: no fabricated tool message", () => {
  const messages = [{ role: "tool", id: "t", toolCallId: "c", content: "yes" }];
  const stream = [START, ...whole("c", "confirm_order"), { type: "MESSAGES_SNAPSHOT", messages }];
  expect(rule(stream, FRONTEND)).toBe("D8");
});

test("seed: the producer finishes the run with the call unanswered, with the ordinary success outcome", () => {
  const asked = [START, ...whole("c", "confirm_order")];
  const interrupts = [{ id: "i", reason: "ask" }];
  expect(rule([...asked, FINISH], FRONTEND)).toBeUndefined();
  expect(rule([...asked, { ...FINISH, outcome: { type: "success" } }], FRONTEND)).toBeUndefined();
  expect(
    rule([...asked, { ...FINISH, outcome: { type: "interrupt", interrupts } }], FRONTEND),
  ).toBe("D8");
});

test("seed: several frontend calls MAY be left unanswered by one run", () => {
  const pendingToolCallIds = ["a", "b"];
  const stream = [START, ...whole("a", "confirm_order"), ...whole("b", "confirm_order")];
  const outcome = { type: "success", pendingToolCallIds };
  expect(rule([...stream, { ...FINISH, outcome }], FRONTEND)).toBeUndefined();
});

test("seed: a call naming a tool the input did not advertise is not by itself a protocol violation", () => {
  expect(rule([START, ...whole("c", "unheard_of"), FINISH], FRONTEND)).toBeUndefined();
});

test("seed: the producer's own tools never needed advertising and answer in-stream via TOOL_CALL_RESULT", () => {
  expect(rule([START, ...whole("c", "own"), result("c"), FINISH], FRONTEND)).toBeUndefined();
});

test("seed: continuing or closing a call that is not open, or reopening one that is, is fatal", () => {
  expect(rule([START, args("c")])).toBe("V8");
  expect(rule([START, called("c")])).toBe("V8");
  expect(rule([START, call("c"), call("c")])).toBe("V7");
});

test("seed: a call left open when the run finishes is a violation", () => {
  expect(rule([START, call("c"), FINISH])).toBe("V10");
});

test("seed: a consumer MUST NOT treat text inside a result as protocol material", () => {
  const content = `data: ${JSON.stringify(FINISH)}\n\n`;
  const stream = [
    START,
    say("m"),
    ...whole("c"),
    result("c", "r", { content }),
    on("m"),
    said("m"),
    FINISH,
  ];
  const all = readings(stream);
  expect(all.flatMap(({ events }) => events)).toEqual(stream);
});
