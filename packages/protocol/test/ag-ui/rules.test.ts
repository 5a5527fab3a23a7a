import {
  AG_UI_RULES,
  createAgUiReader,
  createVerifyState,
  readAgUi,
  saveAgUi,
  verifyAgUi,
  type AgUiEvent,
  type AgUiRule,
} from "@holdfast/protocol/ag-ui";
import { expect, test } from "vitest";
import {
  args,
  call,
  called,
  FAIL,
  FINISH,
  of,
  on,
  readAll,
  reasoning,
  result,
  said,
  say,
  snapshot,
  START,
  step,
  subagent,
  whole,
} from "./events.ts";
import { judge, judgeVerified } from "./oracle.ts";

const text = (more: object) => ({ type: "TEXT_MESSAGE_CHUNK", ...more });
const tool = (more: object) => ({ type: "TOOL_CALL_CHUNK", ...more });
const S = { subagentRunId: "s" };
const begun = (...messages: object[]) => ({
  ...START,
  input: { threadId: "t", runId: "r", messages },
});
const made = (id: string) => ({ id, type: "function", function: { name: "look", arguments: "" } });

/** Streams whose last event breaks the rule, and no event before it breaks any. */
const BROKEN: readonly (readonly [AgUiRule, string, readonly object[]])[] = [
  ["X1", "a first text chunk without id", [START, text({ delta: "x" })]],
  ["X1", "a first tool chunk without id", [START, tool({ toolCallName: "look" })]],
  ["X1", "a first tool chunk without name", [START, tool({ toolCallId: "c" })]],
  ["X1", "a first reasoning chunk without id", [START, of("REASONING_MESSAGE_CHUNK")]],
  [
    "X1",
    "a chunk after a custom event closed its stream",
    [START, text({ messageId: "m" }), of("CUSTOM", { name: "n", value: 1 }), text({ delta: "x" })],
  ],
  [
    "X1",
    "a chunk without id, of an owner who streams nothing",
    [START, text({ messageId: "m" }), text({ ...S, delta: "x" })],
  ],
  [
    "X2",
    "a chunk with another role",
    [START, text({ messageId: "m" }), text({ role: "user", delta: "x" })],
  ],
  [
    "X2",
    "a chunk with another tool name",
    [START, tool({ toolCallId: "c", toolCallName: "look" }), tool({ toolCallName: "send" })],
  ],
  [
    "X2",
    "a chunk with a parent, where the first had none",
    [START, tool({ toolCallId: "c", toolCallName: "look" }), tool({ parentMessageId: "m" })],
  ],
  [
    "X3",
    "a bare chunk, where two subagents are streaming",
    [
      START,
      text({ messageId: "a", ...S }),
      text({ messageId: "b", subagentRunId: "z" }),
      text({ delta: "x" }),
    ],
  ],
  [
    "X4",
    "a chunk under another owner",
    [START, text({ messageId: "m", ...S }), text({ messageId: "m", subagentRunId: "z" })],
  ],
  ["V1", "anything after RUN_ERROR", [START, FAIL, on("m")]],
  ["V1", "a second RUN_ERROR", [START, FAIL, FAIL]],
  ["V2", "anything after RUN_FINISHED", [START, FINISH, say("m")]],
  ["V3", "no RUN_STARTED", [say("m")]],
  ["V4", "RUN_STARTED in a run", [START, START]],
  ["V7", "an open text message opened", [START, say("m"), say("m")]],
  ["V7", "an open call opened", [START, call("c"), call("c")]],
  [
    "V7",
    "an open reasoning message opened",
    [START, reasoning("REASONING_MESSAGE_START", "m"), reasoning("REASONING_MESSAGE_START", "m")],
  ],
  [
    "V7",
    "an open span opened",
    [START, reasoning("REASONING_START", "m"), reasoning("REASONING_START", "m")],
  ],
  ["V8", "text of no message", [START, on("m")]],
  ["V8", "text of a closed message", [START, say("m"), said("m"), on("m")]],
  ["V8", "the end of no message", [START, said("m")]],
  ["V8", "arguments of no call", [START, args("c")]],
  ["V8", "arguments of a closed call", [START, ...whole("c"), args("c")]],
  ["V8", "the end of no call", [START, called("c")]],
  ["V8", "text of no reasoning", [START, { ...on("m"), type: "REASONING_MESSAGE_CONTENT" }]],
  ["V8", "the end of no reasoning", [START, reasoning("REASONING_MESSAGE_END", "m")]],
  [
    "V8",
    "the end of a span, where only a message of its id is open",
    [START, reasoning("REASONING_MESSAGE_START", "m"), reasoning("REASONING_END", "m")],
  ],
  ["V9", "a step started twice", [START, step("STEP_STARTED", "a"), step("STEP_STARTED", "a")]],
  [
    "V9",
    "a subagent's step started twice",
    [START, step("STEP_STARTED", "a", S), step("STEP_STARTED", "a", S)],
  ],
  ["V9", "no step finished", [START, step("STEP_FINISHED", "a")]],
  [
    "V9",
    "the parent's step finished by a subagent",
    [START, step("STEP_STARTED", "a"), step("STEP_FINISHED", "a", S)],
  ],
  [
    "V9",
    "a subagent's step finished by the parent",
    [START, step("STEP_STARTED", "a", { subagentRunId: "" }), step("STEP_FINISHED", "a")],
  ],
  ["V10", "finished in a step", [START, step("STEP_STARTED", "a", S), say("m"), FINISH]],
  ["V10", "finished in a message", [START, call("c"), say("m"), say("n"), FINISH]],
  [
    "V10",
    "finished in reasoning",
    [START, call("c"), reasoning("REASONING_MESSAGE_START", "m"), FINISH],
  ],
  ["V10", "finished in a span", [START, call("c"), reasoning("REASONING_START", "m"), FINISH]],
  ["V10", "finished in a call", [START, subagent("s"), call("c"), FINISH]],
  ["V10", "finished in a subagent", [START, subagent("s"), FINISH]],
  ["V10", "cancelled in a call", [START, call("c"), { ...FINISH, outcome: { type: "cancelled" } }]],
  ["V12", "text under another owner", [START, say("m", S), on("m", { subagentRunId: "z" })]],
  ["V12", "a subagent's text in the parent's message", [START, say("m"), on("m", S)]],
  ["V12", "another owner's end", [START, call("c", "look", S), called("c", { subagentRunId: "" })]],
  [
    "V12",
    "another owner's reopening",
    [START, say("m", S), said("m"), say("m", { subagentRunId: "z" })],
  ],
  [
    "V12",
    "a message in a span of another owner",
    [
      START,
      { ...reasoning("REASONING_START", "m"), ...S },
      { ...reasoning("REASONING_MESSAGE_START", "m"), subagentRunId: "z" },
    ],
  ],
  [
    "V12",
    "text under another owner than a snapshot's",
    [START, snapshot({ role: "assistant", id: "m", ...S }), say("m", { subagentRunId: "z" })],
  ],
  [
    "V12",
    "text under another owner than the history's",
    [begun({ role: "assistant", id: "m", ...S }), say("m", { subagentRunId: "z" })],
  ],
  [
    "V12",
    "a call under another owner than the history's",
    [
      begun({ role: "assistant", id: "m", toolCalls: [made("c")], ...S }),
      call("c", "look", { subagentRunId: "z" }),
    ],
  ],
  [
    "V12",
    "a call under another owner than a snapshot's",
    [
      START,
      snapshot({ role: "assistant", id: "m", toolCalls: [made("c")], ...S }),
      call("c", "look", { subagentRunId: "z" }),
    ],
  ],
  [
    "V18",
    "an activity of the history changed by another owner",
    [
      begun({ role: "activity", id: "m", activityType: "a", content: {}, ...S }),
      of("ACTIVITY_DELTA", { messageId: "m", activityType: "a", patch: [], subagentRunId: "z" }),
    ],
  ],
  [
    "V12",
    "reasoning under another owner than a snapshot's",
    [
      START,
      snapshot({ role: "reasoning", id: "m", content: "", ...S }),
      { ...reasoning("REASONING_MESSAGE_START", "m"), subagentRunId: "z" },
    ],
  ],
  [
    "V12",
    "text onto a tool message of another owner",
    [START, result("c", "m", S), say("m", { subagentRunId: "z" })],
  ],
  [
    "V13",
    "a call under another owner than its parent message",
    [START, say("m", S), call("c", "look", { parentMessageId: "m", subagentRunId: "z" })],
  ],
  [
    "V13",
    "a call reopened under a parent of another owner",
    [
      START,
      say("m", S),
      call("c", "look", { parentMessageId: "m" }),
      called("c"),
      say("n"),
      call("c", "look", { parentMessageId: "n" }),
    ],
  ],
  ["V14", "a subagent announced twice", [START, subagent("s"), subagent("s")]],
  [
    "V14",
    "an ended subagent announced again",
    [START, subagent("s"), of("SUBAGENT_ERROR", { ...S, message: "no" }), subagent("s")],
  ],
  ["V14", "a subagent of an unknown one", [START, subagent("s", { parentSubagentRunId: "z" })]],
  ["V15", "the end of no subagent", [START, of("SUBAGENT_FINISHED", S)]],
  [
    "V18",
    "an activity changed by another owner",
    [
      START,
      of("ACTIVITY_SNAPSHOT", { messageId: "m", activityType: "a", content: {}, ...S }),
      of("ACTIVITY_DELTA", { messageId: "m", activityType: "a", patch: [], subagentRunId: "z" }),
    ],
  ],
  [
    "V18",
    "an encrypted value for another owner's closed call",
    [
      START,
      call("c", "look", S),
      called("c"),
      of("REASONING_ENCRYPTED_VALUE", {
        subtype: "tool-call",
        entityId: "c",
        encryptedValue: "e",
        subagentRunId: "z",
      }),
    ],
  ],
  [
    "V18",
    "an encrypted value for another owner's reasoning",
    [
      START,
      { ...reasoning("REASONING_MESSAGE_START", "m"), ...S },
      of("REASONING_ENCRYPTED_VALUE", {
        subtype: "message",
        entityId: "m",
        encryptedValue: "e",
        subagentRunId: "z",
      }),
    ],
  ],
];

test.each(BROKEN)("%s: %s, in the published client's words", (rule, _what, stream) => {
  const reader = createAgUiReader();
  const readings = stream.map((event) => readAgUi(reader, event));
  const last = readings.pop();
  expect(readings.map(({ violation }) => violation)).toEqual(readings.map(() => undefined));
  const { failed } = judge(stream);
  expect(failed?.at).toBe(stream.length - 1);
  expect(last?.violation).toEqual({
    rule,
    message: failed?.message,
    index: stream.length - 1,
    ...AG_UI_RULES[rule],
  });
});

/** What never went through enforcement, as in one process. */
const NULLS: readonly (readonly [AgUiRule, object])[] = [
  ["V6", say("m", { subagentRunId: null })],
  ["V6", subagent("s", { description: null })],
  ["V6", subagent("s", { parentToolCallId: null })],
  ["V6", of("SUBAGENT_FINISHED", { ...S, outcome: null })],
  ["V6", of("SUBAGENT_FINISHED", { ...S, outcome: { type: "asleep" } })],
  ["V6", of("SUBAGENT_FINISHED", { ...S, outcome: { type: "suspended", interruptIds: null } })],
  ["V6", of("SUBAGENT_FINISHED", { ...S, outcome: { type: "suspended", interruptIds: [1] } })],
  ["V6", of("SUBAGENT_ERROR", { ...S, message: "no", code: null })],
  [
    "V6",
    { ...FINISH, outcome: { type: "interrupt", interrupts: [{ id: "i", subagentRunId: null }] } },
  ],
  ["V6", snapshot({ role: "user", id: "u", content: "", subagentRunId: null })],
  ["V14", of("SUBAGENT_STARTED", { name: "helper" })],
  ["V14", of("SUBAGENT_STARTED", S)],
  ["V15", of("SUBAGENT_FINISHED")],
  ["V15", of("SUBAGENT_ERROR", S)],
];

test.each(NULLS)("%s: %j, though it never was enforced", (rule, event) => {
  const state = createVerifyState();
  expect(verifyAgUi(state, START as AgUiEvent, [])).toBeUndefined();
  const violation = verifyAgUi(state, event as AgUiEvent, []);
  expect(violation).toMatchObject({ rule, message: judgeVerified([START, event]) });
});

test("what is kept of a stream does not grow with what is said in it", () => {
  const reader = createAgUiReader();
  for (const event of [START, call("c"), args("c"), say("m"), on("m")]) readAgUi(reader, event);
  const before = JSON.stringify(saveAgUi(reader)).length;
  for (let n = 0; n < 5_000; n += 1) {
    for (const event of [
      args("c"),
      on("m"),
      of("RAW", { event: n }),
      text({ messageId: "n", delta: "x" }),
    ]) {
      readAgUi(reader, event);
    }
  }
  expect(JSON.stringify(saveAgUi(reader)).length).toBeLessThan(before + 300);
});

test("V6: a run whose history breaks it has not begun", () => {
  const state = createVerifyState();
  const messages = [{ role: "user", id: "u", content: "", subagentRunId: null }];
  const start = { ...START, input: { threadId: "t", runId: "r", messages } };
  expect(verifyAgUi(state, start as unknown as AgUiEvent, [])).toMatchObject({ rule: "V6" });
  expect(state).toEqual(createVerifyState());
});

test("a refused event is as if it had not come, for whoever reads on", () => {
  const last = readAll([START, call("c"), call("c"), on("m"), args("c"), called("c"), FINISH]);
  expect(last).toMatchObject({ events: [FINISH] });
  expect(last.violation).toBeUndefined();
});
