import { describe, expect, it } from "vitest";
import {
  call,
  FINISH,
  of,
  on,
  readAll,
  result,
  say,
  snapshot,
  START,
  warningsOf,
} from "./events.ts";

describe("enforcement", () => {
  it.each([
    [
      "a value of the wrong type",
      on("m", { delta: 1 }),
      "TEXT_MESSAGE_CONTENT.delta must be a string, not 1.",
    ],
    [
      "a missing field",
      of("TOOL_CALL_ARGS", { toolCallId: "c" }),
      "TOOL_CALL_ARGS.delta must be there, not missing.",
    ],
    [
      "null in an optional field",
      call("c", "look", { metadata: null }),
      "TOOL_CALL_START.metadata must be an object, not null.",
    ],
    [
      "a float as timestamp",
      on("m", { timestamp: 1.5 }),
      "TEXT_MESSAGE_CONTENT.timestamp must be a whole number, not 1.5.",
    ],
    [
      "an unknown member of a closed set (D4)",
      say("m", { role: "tool" }),
      'TEXT_MESSAGE_START.role must be "developer" or "system" or "assistant" or "user", not "tool".',
    ],
    [
      "no interrupts",
      { ...FINISH, outcome: { type: "interrupt", interrupts: [] } },
      "RUN_FINISHED.outcome.interrupts must have an element, not empty.",
    ],
    [
      "a malformed patch",
      of("STATE_DELTA", { delta: [{ op: "add", path: "a", value: 1 }] }),
      'STATE_DELTA.delta.0.path must be a JSON Pointer, not "a".',
    ],
    ["a value that is no object", [], "Invalid event: the frame is not a JSON object."],
    ["an object without type", {}, "Invalid event: the frame carries no event type."],
  ])("E1: %s", (_what, event, message) => {
    expect(readAll([START, event]).violation).toMatchObject({ rule: "E1", message, index: 1 });
  });

  it.each([
    ["E2", "an unknown type", of("UNHEARD_OF"), undefined, "/type"],
    [
      "E3",
      "an unknown property",
      of("RAW", { event: 1, more: 2 }),
      of("RAW", { event: 1 }),
      "/more",
    ],
    [
      "E3",
      "a property with a name of every object's",
      JSON.parse('{"type":"RAW","event":1,"__proto__":2}'),
      of("RAW", { event: 1 }),
      "/__proto__",
    ],
    ["E3", "`error` on a result", result("c", "m", { error: "no" }), result("c", "m"), "/error"],
    [
      "E4",
      "an unknown content part",
      result("c", "m", { content: [{ type: "hologram" }, { type: "text", text: "x" }] }),
      result("c", "m", { content: [{ type: "text", text: "x" }] }),
      "/content/0",
    ],
    [
      "E4",
      "an unknown source, which takes its part along",
      result("c", "m", { content: [{ type: "image", id: 5, more: 1, source: { type: "ftp" } }] }),
      result("c", "m", { content: [] }),
      "/content/0",
    ],
    [
      "E4",
      "an unknown outcome, which means success then",
      { ...FINISH, outcome: { type: "vanished" } },
      FINISH,
      "/outcome",
    ],
    [
      "E3",
      "pendingToolCallIds of an interrupt",
      {
        ...FINISH,
        outcome: {
          type: "interrupt",
          interrupts: [{ id: "i", reason: "ask" }],
          pendingToolCallIds: ["c"],
        },
      },
      { ...FINISH, outcome: { type: "interrupt", interrupts: [{ id: "i", reason: "ask" }] } },
      "/outcome/pendingToolCallIds",
    ],
    [
      "E4",
      "a message of an unknown role",
      snapshot({ role: "ghost", id: "g" }),
      snapshot(),
      "/messages/0",
    ],
    [
      "E4",
      "an unknown patch operation",
      of("STATE_DELTA", { delta: [{ op: "leap" }] }),
      of("STATE_DELTA", { delta: [] }),
      "/delta/0",
    ],
    [
      "E5",
      "null as parent",
      call("c", "look", { parentMessageId: null }),
      call("c"),
      "/parentMessageId",
    ],
    ["E5", "null as outcome", { ...FINISH, outcome: null }, FINISH, "/outcome"],
    [
      "E5",
      "null as raw event",
      of("RAW", { event: 1, rawEvent: null }),
      of("RAW", { event: 1 }),
      "/rawEvent",
    ],
    [
      "E5",
      "a binary part",
      snapshot({
        role: "user",
        id: "u",
        content: [{ type: "binary", mimeType: "image/png", data: "d", filename: "f" }],
      }),
      snapshot({
        role: "user",
        id: "u",
        content: [
          {
            type: "image",
            source: { type: "data", value: "d", mimeType: "image/png" },
            metadata: { filename: "f" },
          },
        ],
      }),
      "/messages/0/content/0",
    ],
    [
      "E5",
      "a binary part beside the media part that says the same",
      snapshot({
        role: "user",
        id: "u",
        content: [
          { type: "binary", mimeType: "text/plain", url: "u" },
          { type: "document", source: { type: "url", value: "u", mimeType: "text/plain" } },
        ],
      }),
      snapshot({
        role: "user",
        id: "u",
        content: [
          { type: "document", source: { type: "url", value: "u", mimeType: "text/plain" } },
        ],
      }),
      "/messages/0/content/0",
    ],
    [
      "E5",
      "THINKING_START",
      of("THINKING_START"),
      of("REASONING_START", { messageId: "thinking:r:1" }),
      undefined,
    ],
  ] as const)("%s: %s, with a warning", (rule, _what, event, expected, path) => {
    const { events, warnings, violation } = readAll([START, event]);
    expect(violation).toBeUndefined();
    expect(events).toEqual(expected ? [expected] : []);
    expect(warnings).toMatchObject([path === undefined ? { rule } : { rule, path }]);
  });

  it("leaves what is as it should be untouched: the same object comes out", () => {
    const event = result("c", "m", {
      content: [{ type: "text", text: "x" }],
      metadata: { a: null },
    });
    expect(readAll([START, event]).events[0]).toBe(event);
    expect(readAll([START, say("m"), on("m")]).warnings).toEqual([]);
  });

  it("ignores what an RFC 6902 operation does not define, without a word", () => {
    const event = of("STATE_DELTA", { delta: [{ op: "remove", path: "/a", value: 1 }] });
    expect(warningsOf([START, event])).toEqual([]);
  });
});
