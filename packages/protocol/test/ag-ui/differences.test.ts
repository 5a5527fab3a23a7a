import {
  createAgUiReader,
  createExpandState,
  endAgUi,
  expandAgUi,
  readAgUi,
  type AgUiEvent,
  type VerifyOptions,
} from "@holdfast/protocol/ag-ui";
import { describe, expect, it } from "vitest";
import {
  call,
  called,
  FAIL,
  FINISH,
  of,
  readAll,
  result,
  said,
  say,
  START,
  warningsOf,
  whole,
} from "./events.ts";
import { judge, judgeOne } from "./oracle.ts";

// What we hold and the published client (1.0.0) does not: the table in docs/protocol/ag-ui.md, row by row.

const IDS = { threadId: "t", runId: "r" };
const TOOLS = { frontendTools: ["ask"] };
const success = (...pendingToolCallIds: string[]) => ({
  ...FINISH,
  outcome: { type: "success", pendingToolCallIds },
});
const interrupted = (...ids: string[]) => ({
  ...FINISH,
  outcome: { type: "interrupt", interrupts: ids.map((id) => ({ id, reason: "ask" })) },
});
const snapshot = (...messages: object[]) => ({ type: "MESSAGES_SNAPSHOT", messages });
const assistant = (id: string, ...calls: string[]) => ({
  role: "assistant",
  id,
  toolCalls: calls.map((it) => ({
    id: it,
    type: "function",
    function: { name: "ask", arguments: "{}" },
  })),
});
const answer = (toolCallId: string) => ({
  role: "tool",
  id: `of ${toolCallId}`,
  toolCallId,
  content: "yes",
});

/** The client takes the stream; its last event is refused here, by this rule. */
function refuses(rule: string, stream: readonly object[], options: VerifyOptions = {}): void {
  expect(judge(stream).failed).toBeUndefined();
  const reader = createAgUiReader(options);
  const violations = stream.map((event) => readAgUi(reader, event).violation);
  expect(violations.pop()).toMatchObject({ rule, index: stream.length - 1 });
  expect(violations.filter((it) => it !== undefined)).toEqual([]);
}

function takes(stream: readonly object[], options: VerifyOptions = {}): void {
  expect(judge(stream).failed).toBeUndefined();
  const reader = createAgUiReader(options);
  for (const event of stream) expect(readAgUi(reader, event).violation).toBeUndefined();
}

/** What is said of a stream at its end. */
function endOf(stream: readonly object[], options: VerifyOptions = {}): string | undefined {
  const reader = createAgUiReader(options);
  for (const event of stream) readAgUi(reader, event);
  return endAgUi(reader)?.rule;
}

describe("D1: a stream that stops is never a success", () => {
  it.each([
    ["with nothing in it", [], "D1"],
    ["with nothing known in it", [of("UNHEARD_OF")], "D1"],
    ["in a run", [START, say("m")], "D1"],
    ["in its second run", [START, FINISH, { ...START, runId: "q" }], "D1"],
    ["after its run finished", [START, FINISH], undefined],
    ["after its run failed", [START, say("m"), FAIL], undefined],
    ["after it failed to begin", [FAIL], undefined],
  ])("%s", (_when, stream, rule) => {
    expect(endOf(stream)).toBe(rule);
    expect(judge(stream).failed).toBeUndefined();
  });
});

describe("D2: a run is the one that was asked for", () => {
  it.each([
    ["another runId at its end", [START, { ...FINISH, runId: "q" }], {}],
    ["another threadId at its end", [START, { ...FINISH, threadId: "u" }], {}],
    ["another threadId than the input's", [START], { threadId: "u" }],
  ])("refuses %s", (_what, stream, options) => refuses("D2", stream, options));

  it("takes replayed runs before the one that was asked for, and misses that one", () => {
    const replayed = [START, FINISH];
    expect(endOf(replayed, { runId: "q" })).toBe("D2");
    const asked = [...replayed, { ...START, runId: "q" }, { ...FINISH, runId: "q" }];
    expect(endOf(asked, { runId: "q", threadId: "t" })).toBeUndefined();
  });

  it("warns of a run id that comes again", () => {
    expect(warningsOf([START, FINISH, START])).toEqual(["D2"]);
  });
});

it("D3: refuses two interrupts of one id", () => {
  refuses("D3", [START, interrupted("i", "j", "i")]);
  takes([START, interrupted("i", "j")]);
});

describe("D5: pendingToolCallIds are exact, where any are named", () => {
  const two = [START, ...whole("a", "ask"), ...whole("b", "ask")];
  it.each([
    ["a call that is left out", [...two, success("a")]],
    ["a call that was answered", [...two, result("a"), success("a", "b")]],
    ["a call that is unknown", [...two, success("a", "b", "z")]],
    ["another order", [...two, success("b", "a")]],
    ["one twice", [...two, success("a", "a", "b")]],
    [
      "a call of an earlier run",
      [START, ...whole("z"), FINISH, { ...START, runId: "q" }, { ...success("z"), runId: "q" }],
    ],
  ])("refuses %s", (_what, stream) => refuses("D5", stream));

  it("takes the exact list, no list, and an empty one", () => {
    takes([...two, result("a"), success("b")]);
    takes([...two, success("a", "b")]);
    takes([...two, success()]);
    takes([...two, FINISH]);
  });

  it("needs no call named that nobody outside can answer, where the frontend tools are known", () => {
    const stream = [START, ...whole("a", "look"), ...whole("b", "ask"), success("b")];
    refuses("D5", stream);
    takes(stream, TOOLS);
    takes([START, ...whole("a", "look"), ...whole("b", "ask"), success("a", "b")], TOOLS);
  });

  it("takes calls that only a snapshot shows, as in a stream that was joined midway", () => {
    const joined = [START, snapshot(assistant("m", "a", "b")), call("b", "ask"), called("b")];
    takes([...joined, success("a", "b")]);
    const history = { ...START, input: { ...IDS, messages: [assistant("m", "a", "b")] } };
    takes([history, ...joined.slice(1), success("a", "b")]);
    refuses("D5", [...joined, success("b", "a")]);
    refuses("D5", [START, snapshot(assistant("m", "a"), answer("a")), success("a")]);
  });
});

describe("D8: a frontend tool is the application's to answer", () => {
  const waits = [START, ...whole("a", "ask")];
  it("refuses a result, from whichever run its call is", () => {
    refuses("D8", [...waits, result("a")], TOOLS);
    const history = { ...START, input: { ...IDS, messages: [assistant("m", "a")] } };
    refuses("D8", [history, result("a")], TOOLS);
  });

  it("refuses a tool message in a snapshot", () => {
    refuses("D8", [...waits, snapshot(assistant("a", "a"), answer("a"))], TOOLS);
    takes([START, snapshot(assistant("m", "a"), answer("a")), FINISH], TOOLS);
    // The answer to an earlier run's call came with the input of this one.
    const next = { ...START, runId: "q" };
    takes([...waits, FINISH, next, snapshot(assistant("a", "a"), answer("a"))], TOOLS);
  });

  it("refuses to finish with an interrupt", () => {
    refuses("D8", [...waits, interrupted("i")], TOOLS);
  });

  it("reads the tools from the input that RUN_STARTED echoes, unless they are given", () => {
    const tools = [{ name: "ask", description: "" }];
    const start = { ...START, input: { ...IDS, messages: [], tools } };
    const stream = [start, ...whole("a", "ask"), result("a")];
    refuses("D8", stream);
    takes(stream, { frontendTools: [] });
    const next = { ...START, runId: "q" };
    takes([start, FINISH, next, ...whole("b", "ask"), result("b")]);
  });

  it("takes results of other tools, and of any where none are known", () => {
    takes([...waits, result("a"), FINISH]);
    takes([START, ...whole("a", "look"), result("a"), FINISH], TOOLS);
  });
});

describe("D10: a reopened call agrees with its first start", () => {
  it.each([
    ["another tool", [call("c", "look"), called("c"), call("c", "send")]],
    [
      "another parent",
      [
        call("c", "look", { parentMessageId: "m" }),
        called("c"),
        call("c", "look", { parentMessageId: "n" }),
      ],
    ],
  ])("warns of %s", (_what, events) => {
    expect(warningsOf([START, ...events])).toEqual(["D10"]);
    takes([START, ...events]);
  });

  it("says nothing where it agrees, or names no parent", () => {
    const first = call("c", "look", { parentMessageId: "m" });
    expect(warningsOf([START, first, called("c"), first, called("c"), call("c")])).toEqual([]);
  });
});

describe("D12: an id names one message, and one call, of its thread", () => {
  const next = { ...START, runId: "q" };
  it.each([
    [
      "a tool message with a text message's id",
      [START, say("m"), said("m"), result("c", "m")],
      "m",
    ],
    ["a second result with the first's id", [START, result("c", "m"), result("d", "m")], "m"],
    ["text with a tool message's id", [START, result("c", "m"), say("m")], "m"],
    [
      "reasoning with a text message's id",
      [
        START,
        say("m"),
        said("m"),
        of("REASONING_MESSAGE_START", { messageId: "m", role: "reasoning" }),
      ],
      "m",
    ],
    ["text with an earlier run's id", [START, say("m"), said("m"), FINISH, next, say("m")], "m"],
    [
      "text with an id of the history's",
      [
        { ...START, input: { ...IDS, messages: [{ role: "user", id: "m", content: "" }] } },
        say("m"),
      ],
      "m",
    ],
    ["a call with an earlier run's id", [START, ...whole("c"), FAIL, next, call("c")], "c"],
  ])("warns of %s; strict refuses it", (_what, stream, id) => {
    const { warnings, violation } = readAll(stream);
    expect([violation, warnings]).toMatchObject([undefined, [{ rule: "D12", id }]]);
    refuses("D12", stream, { strict: true });
  });

  it("says nothing of what begins again in its run, or after a snapshot of it", () => {
    const joined = [
      { ...START, runId: "q" },
      snapshot(assistant("m", "c")),
      say("m"),
      call("c", "ask"),
    ];
    const activity = of("ACTIVITY_SNAPSHOT", { messageId: "a", activityType: "t", content: {} });
    expect(warningsOf([START, say("m"), said("m"), say("m"), said("m"), activity, FINISH])).toEqual(
      [],
    );
    expect(warningsOf(joined)).toEqual([]);
    const history = { ...START, input: { ...IDS, messages: [assistant("m", "c")] } };
    expect(warningsOf([history, ...joined.slice(1)])).toEqual([]);
    expect(warningsOf([START, activity, FINISH, next, activity])).toEqual([]);
  });
});

describe("enforcement", () => {
  it("makes the ids that THINKING_* events lack from the run's id, so that a repeated read gives the same", () => {
    const stream = [START, of("THINKING_START"), of("THINKING_END")];
    const read = () => {
      const reader = createAgUiReader();
      return stream.map((event) => readAgUi(reader, event).events);
    };
    expect(read()).toEqual(read());
    expect(read().at(-1)).toEqual([of("REASONING_END", { messageId: "thinking:r:1" })]);
  });

  it("keeps an operation's own member called __proto__, which the client takes for its prototype", () => {
    const event = JSON.parse(
      '{"type":"STATE_DELTA","delta":[{"op":"remove","path":"","__proto__":{"a":1}},{"op":"leap"}]}',
    ) as { delta: object[] };
    const ours = readAll([START, event]).events[0] as unknown as typeof event;
    const theirs = judgeOne(event).event as typeof event;
    expect(ours.delta[0]).toEqual(event.delta[0]);
    expect(Object.hasOwn(theirs.delta[0] ?? {}, "__proto__")).toBe(false);
  });

  it("expands enforced chunks alone: what nothing describes is not carried over", () => {
    const out: AgUiEvent[] = [];
    const chunk = of("TEXT_MESSAGE_CHUNK", { messageId: "m", delta: "x", more: 1 }) as AgUiEvent;
    expect(expandAgUi(createExpandState(), chunk, out)).toBeUndefined();
    expect(out.flatMap((event) => Object.keys(event))).not.toContain("more");
    expect(warningsOf([START, chunk])).toEqual(["E3"]);
  });
});
