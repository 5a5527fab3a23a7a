import { HttpAgent } from "@ag-ui/client";
import {
  createAgUiEncoder,
  createAgUiReader,
  createExpandState,
  endAgUi,
  expandAgUi,
  readAgUi,
  type AgUiEvent,
  type VerifyOptions,
} from "@holdfast/protocol/ag-ui";
import { describe, expect, it, vi } from "vitest";
import {
  answer,
  assistant,
  IDS,
  interrupted,
  refuses,
  success,
  takes,
  TOOLS,
} from "./differences.ts";
import {
  call,
  called,
  FAIL,
  FINISH,
  of,
  on,
  readAll,
  result,
  say,
  START,
  warningsOf,
  whole,
  snapshot,
} from "./events.ts";
import { fold, judge, judgeOne, Scripted } from "./oracle.ts";

// What we hold and the published client (1.0.0) does not: the table in docs/protocol/ag-ui.md, row by row.

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
    [
      "another runId at its end",
      [START, { ...FINISH, runId: "q" }],
      {},
      "runId 'q': the run's is 'r'",
    ],
    [
      "another threadId at its end",
      [START, { ...FINISH, threadId: "u" }],
      {},
      "threadId 'u': the run's is 't'",
    ],
    [
      "another threadId than the input's",
      [START],
      { threadId: "u" },
      "threadId 't': the input's is 'u'",
    ],
  ])("refuses %s", (_what, stream, options, words) => refuses("D2", stream, options, words));

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
    ["a call that is left out", [...two, success("a")], "leave out 'b'"],
    ["a call that was answered", [...two, result("a"), success("a", "b")], "name 'a'"],
    [
      "a call whose result came first",
      [START, result("c"), ...whole("c"), success("c")],
      "name 'c'",
    ],
    ["a call that is unknown", [...two, success("a", "b", "z")], "'z', which is no call"],
    ["another order", [...two, success("b", "a")], "not in the order"],
    ["one twice", [...two, success("a", "a", "b")], "not in the order"],
    [
      "a call of an earlier run",
      [START, ...whole("z"), FINISH, { ...START, runId: "q" }, { ...success("z"), runId: "q" }],
      "name 'z'",
    ],
  ])("refuses %s", (_what, stream, words) => refuses("D5", stream, {}, words));

  it("takes the exact list, no list, and an empty one", () => {
    takes([...two, result("a"), success("b")]);
    takes([...two, success("a", "b")]);
    takes([...two, success()]);
    takes([...two, FINISH]);
  });

  it("has a call that begins again in its first place, and answered where it was", () => {
    takes([...two, ...whole("a", "ask"), success("a", "b")]);
    refuses("D5", [...two, ...whole("a", "ask"), success("b", "a")]);
    takes([...two, result("a"), ...whole("a", "ask"), success("b")]);
    refuses("D5", [...two, result("a"), ...whole("a", "ask"), success("b", "a")]);
    const joined = [
      START,
      snapshot(assistant("m", "a", "b")),
      ...whole("b", "ask"),
      ...whole("a", "ask"),
    ];
    takes([...joined, success("a", "b")]);
    refuses("D5", [...joined, success("b", "a")]);
  });

  it("has one that was only restated before it began, and one of an earlier run where it is made again", () => {
    const joined = [START, snapshot(assistant("m", "a", "b")), ...whole("b", "ask")];
    refuses("D5", [...joined, success("a")], {}, "leave out 'b'");
    const again = [
      START,
      ...whole("a"),
      FINISH,
      { ...START, runId: "q" },
      ...whole("b"),
      ...whole("a"),
    ];
    takes([...again, { ...success("b", "a"), runId: "q" }]);
    refuses("D5", [...again, { ...success("a", "b"), runId: "q" }]);
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

  it("refuses a call whose result came before it", () => {
    refuses("D8", [START, result("a"), call("a", "ask")], TOOLS);
    takes([START, result("a"), call("a", "look")], TOOLS);
    takes([START, result("a"), FINISH, { ...START, runId: "q" }, call("a", "ask")], TOOLS);
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
    takes([START, ...whole("a", "look"), interrupted("i")], TOOLS);
    const next = { ...START, runId: "q" };
    takes([...waits, FINISH, next, { ...interrupted("i"), runId: "q" }], TOOLS);
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

it("D9: gives what came before a violation, also where the client loses what it read together with it", async () => {
  const stream = [START, say("m"), on("m"), on("nobody")];
  const body = stream.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const headers = { "content-type": "text/event-stream" };
  const fetch = async () => new Response(body, { headers });
  const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
  const agent = new HttpAgent({ url: "http://agent.test", threadId: "t", fetch });
  await expect(agent.runAgent()).rejects.toThrow("nobody");
  complaint.mockRestore();
  expect(agent.messages).toEqual([]);
  const reader = createAgUiReader();
  expect(stream.flatMap((event) => readAgUi(reader, event).events)).toEqual(stream.slice(0, 3));
});

it("D14: a run that fails after it finished has failed, though the client gives its result", async () => {
  const stream = [START, { ...FINISH, result: 1 }, FAIL];
  takes(stream);
  const agent = new Scripted(stream);
  await expect(agent.runAgent()).resolves.toMatchObject({ result: 1 });
  const encoder = createAgUiEncoder({ runId: "run", attempt: 1 });
  for (const event of stream) encoder.encode(event);
  expect([encoder.outcome, encoder.failure?.message]).toEqual(["error", "no"]);
});

it("D15: what a snapshot leaves out stands in a session, whatever the client's extension says of activities", async () => {
  const activity = { activityType: "t", content: {} };
  const metadata = { "@ag-ui/client": { authoritativeActivityTypes: ["t"] } };
  const stream = [
    START,
    of("ACTIVITY_SNAPSHOT", { messageId: "a", ...activity }),
    { ...snapshot(), metadata },
    FINISH,
  ];
  takes(stream);
  expect(await fold(stream)).toMatchObject({ messages: [] });
  const encoder = createAgUiEncoder({ runId: "run", attempt: 1 });
  const items = stream.flatMap((event) => encoder.encode(event).map(({ type }) => type));
  expect(items.filter((type) => !type.startsWith("r"))).toEqual(["ACTIVITY_SNAPSHOT"]);
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
