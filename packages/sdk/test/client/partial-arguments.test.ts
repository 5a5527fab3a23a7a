import { createPartialJson, type Call, type Entry, type Event } from "@holdfast/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPartialArguments } from "../../src/client/partial-arguments.ts";

describe("partial arguments of a session's calls", () => {
  it("reads the same from deltas, whenever it is asked, as from the whole text (property)", () => {
    const pieces = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean()), {
      minLength: 1,
    });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), pieces, (args, steps) => {
        const text = JSON.stringify(args);
        const partial = createPartialArguments();
        let call = callWith("");
        for (const [size, ask] of steps) {
          const delta = text.slice(call.arguments.length, call.arguments.length + size);
          call = callWith(call.arguments + delta);
          partial.hear(entry({ type: "TOOL_CALL_ARGS", toolCallId: "c1", delta }));
          if (!ask) continue;
          const whole = createPartialJson();
          whole.feed(call.arguments);
          expect(partial.read(call)).toEqual(whole.value);
          expect(partial.read(call)).toBe(partial.read(call));
        }
      }),
    );
  });

  it.each<Event>([
    { type: "call.arguments_replaced", callId: "c1", arguments: '{"b":2' },
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "x" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
  ])("begins anew after $type", (event) => {
    const partial = createPartialArguments();
    expect(partial.read(callWith('{"a":1'))).toEqual({ a: 1 });
    partial.hear(entry(event));
    expect(partial.read(callWith('{"b":2'))).toEqual({ b: 2 });
  });

  it("reads complete arguments whole: empty ones are {}, broken ones as far as they go", () => {
    const partial = createPartialArguments();
    const ended = (text: string) => partial.read({ ...callWith(text), status: "open" });
    expect(ended("")).toEqual({});
    expect(ended('{"a":1}')).toEqual({ a: 1 });
    expect(ended('{"a":1')).toEqual({ a: 1 });
    expect(partial.read({ ...callWith(""), status: "open", redacted: true })).toBeUndefined();
    expect(partial.read({ ...callWith("ls -l"), argumentsEncoding: "text" })).toBeUndefined();
  });
});

function callWith(text: string): Call {
  return {
    id: "c1",
    runId: "r",
    attempt: 1,
    offset: "0",
    upTo: "0",
    name: "x",
    executor: "client",
    status: "streaming",
    rev: 1,
    arguments: text,
    argumentsEncoding: "json",
    history: [],
  };
}

function entry(event: Event): Entry {
  return { offset: "0", at: 0, actor: "agent:a", event };
}
