import { createAgUiReader, readAgUi } from "@holdfast/protocol/ag-ui";
import { expect, test } from "vitest";
import { args, call, called, FAIL, FINISH, of, on, said, say, START, subagent } from "./events.ts";
import { judge } from "./oracle.ts";

const text = (more: object) => ({ type: "TEXT_MESSAGE_CHUNK", ...more });
const tool = (more: object) => ({ type: "TOOL_CALL_CHUNK", ...more });
const S = { subagentRunId: "s" };
const first = text({ messageId: "m", delta: "x" });
const opened = [say("m", { role: "assistant" }), on("m")];
const custom = { type: "CUSTOM", name: "n", value: 1 };

/** The last event of a stream in a run, and what it comes to. */
const EXPANDED: readonly (readonly [string, readonly object[], readonly object[]])[] = [
  ["an opener with a delta", [first], opened],
  ["an opener without delta", [text({ messageId: "m" })], [say("m", { role: "assistant" })]],
  [
    "metadata, on both; a raw event, on the content",
    [text({ messageId: "m", metadata: { a: 1 }, rawEvent: 1, timestamp: 5 })],
    [
      say("m", { role: "assistant", metadata: { a: 1 } }),
      on("m", { delta: "", metadata: { a: 1 }, rawEvent: 1 }),
    ],
  ],
  [
    "metadata alone",
    [first, text({ metadata: { a: 1 } })],
    [on("m", { delta: "", metadata: { a: 1 } })],
  ],
  ["nothing at all", [first, text({})], []],
  ["an empty delta", [first, text({ delta: "" })], [on("m", { delta: "" })]],
  ["the same id again", [first, first], [on("m")]],
  ["another id", [first, text({ messageId: "n" })], [said("m"), say("n", { role: "assistant" })]],
  [
    "another kind, in the same lane",
    [first, tool({ toolCallId: "c", toolCallName: "look", delta: "{}" })],
    [said("m"), call("c"), args("c")],
  ],
  ["the opener's owner", [text({ messageId: "m", ...S }), text({ delta: "x" })], [on("m", S)]],
  [
    "an id alone, of another owner's stream",
    [first, text({ messageId: "n", ...S }), text({ messageId: "n", delta: "x" })],
    [on("n", S)],
  ],
  [
    "an owner alone, where several stream",
    [first, text({ messageId: "n", ...S }), text({ ...S, delta: "x" })],
    [on("n", S)],
  ],
  [
    "another owner's lane, which closes nothing",
    [first, text({ messageId: "n", ...S, delta: "x" })],
    [say("n", { role: "assistant", ...S }), on("n", S)],
  ],
  ["an explicit event of its lane", [first, custom], [said("m"), custom]],
  ["an explicit event of another lane", [first, { ...custom, ...S }], [{ ...custom, ...S }]],
  ["RAW, which closes nothing", [first, of("RAW", { event: 1 })], [of("RAW", { event: 1 })]],
  ["a subagent's start, which closes nothing", [first, subagent("s")], [subagent("s")]],
  [
    "a subagent's end, which closes its lane",
    [subagent("s"), first, text({ messageId: "n", ...S }), of("SUBAGENT_FINISHED", S)],
    [said("n", S), of("SUBAGENT_FINISHED", S)],
  ],
  [
    "the run's end, which closes all lanes as they opened",
    [text({ messageId: "n", ...S }), tool({ toolCallId: "c", toolCallName: "look" }), FINISH],
    [said("n", S), called("c"), FINISH],
  ],
  ["the run's failure", [first, FAIL], [said("m"), FAIL]],
  [
    "a snapshot",
    [first, of("MESSAGES_SNAPSHOT", { messages: [] })],
    [said("m"), of("MESSAGES_SNAPSHOT", { messages: [] })],
  ],
  [
    "reasoning",
    [of("REASONING_MESSAGE_CHUNK", { messageId: "m", delta: "x" })],
    [
      of("REASONING_MESSAGE_START", { messageId: "m", role: "reasoning" }),
      of("REASONING_MESSAGE_CONTENT", { messageId: "m", delta: "x" }),
    ],
  ],
];

test.each(EXPANDED)("expands %s", (_what, events, expanded) => {
  const stream = [START, ...events];
  const reader = createAgUiReader();
  const readings = stream.map((event) => readAgUi(reader, event));
  expect(readings.map(({ violation }) => violation).filter(Boolean)).toEqual([]);
  expect(readings.at(-1)?.events).toEqual(expanded);
  expect(judge(stream).events.at(-1)).toEqual(expanded);
});
