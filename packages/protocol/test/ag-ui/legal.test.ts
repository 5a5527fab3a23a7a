import { createAgUiReader, readAgUi } from "@holdfast/protocol/ag-ui";
import { expect, test } from "vitest";
import {
  args,
  call,
  called,
  FAIL,
  FINISH,
  of,
  on,
  reasoning,
  result,
  said,
  say,
  snapshot,
  START,
  step,
  subagent,
} from "./events.ts";
import { judge } from "./oracle.ts";

const S = { subagentRunId: "s" };

/** Legal, and looks as if it were not. */
const LEGAL: readonly (readonly [string, readonly object[]])[] = [
  ["V2: a late failure", [START, FINISH, FAIL]],
  ["V3: a failure before any run", [FAIL, START, FINISH]],
  [
    "V5: another run begins with nothing open",
    [
      START,
      call("c"),
      FAIL,
      { ...START, runId: "q" },
      call("d"),
      called("d"),
      { ...FINISH, runId: "q" },
    ],
  ],
  [
    "V8: a closed message opened again",
    [START, say("m"), said("m"), say("m"), on("m"), said("m"), FINISH],
  ],
  [
    "V9: one step name, two owners",
    [
      START,
      step("STEP_STARTED", "a"),
      step("STEP_STARTED", "a", S),
      step("STEP_FINISHED", "a", S),
      step("STEP_FINISHED", "a"),
      FINISH,
    ],
  ],
  ["V11: a failure with everything open", [START, say("m"), call("c"), subagent("s"), FAIL]],
  ["V12: no tag disagrees with nobody", [START, say("m", S), on("m"), said("m")]],
  [
    "V12: whoever opened first owns, also after an untagged reopening",
    [START, say("m", S), said("m"), say("m"), on("m", S), said("m", S), FINISH],
  ],
  ["V12: a tag that nobody announced", [START, say("m", S), on("m", S), said("m", S), FINISH]],
  [
    "V13: an untagged call inherits",
    [START, say("m", S), call("c", "look", { parentMessageId: "m" }), args("c", S), called("c", S)],
  ],
  [
    "V16: results of open and unknown calls, twice",
    [START, call("c"), result("c", "1"), result("c", "2"), result("z", "3"), called("c"), FINISH],
  ],
  [
    "V17: a snapshot that leaves an open call out closes nothing",
    [START, call("c"), snapshot(), args("c"), called("c"), FINISH],
  ],
  [
    "V18: an activity that is not there",
    [START, of("ACTIVITY_DELTA", { messageId: "m", activityType: "a", patch: [], ...S })],
  ],
  [
    "a span and its message share an id",
    [
      START,
      reasoning("REASONING_START", "m"),
      reasoning("REASONING_MESSAGE_START", "m"),
      reasoning("REASONING_MESSAGE_END", "m"),
      reasoning("REASONING_END", "m"),
      FINISH,
    ],
  ],
  [
    "calls and text interleave",
    [
      START,
      call("a"),
      say("m"),
      call("b"),
      args("a"),
      on("m"),
      args("b"),
      called("b"),
      said("m"),
      called("a"),
      FINISH,
    ],
  ],
  [
    "ids like the names of an object's own",
    [
      START,
      call("__proto__"),
      args("__proto__"),
      called("__proto__"),
      say("constructor"),
      said("constructor"),
      say(""),
      on(""),
      said(""),
      FINISH,
    ],
  ],
];

test("an event may have any number of things to be said of it", () => {
  const resume = Array.from({ length: 130_000 }, (_, n) => ({
    interruptId: `${n}`,
    status: "cancelled",
  }));
  const reader = createAgUiReader();
  for (const event of [START, FINISH]) readAgUi(reader, event);
  const input = { threadId: "t", runId: "q", messages: [], resume };
  const { violation, warnings } = readAgUi(reader, { ...START, runId: "q", input });
  expect([violation, warnings.length]).toEqual([undefined, 130_000]);
});

test.each(LEGAL)("legal: %s", (_what, stream) => {
  const reader = createAgUiReader();
  for (const event of stream) expect(readAgUi(reader, event).violation).toBeUndefined();
  expect(judge(stream).failed).toBeUndefined();
});
