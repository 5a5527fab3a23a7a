import { createAgUiReader, readAgUi } from "@holdfast/protocol/ag-ui";
import { describe, expect, it } from "vitest";
import { assistant, IDS, refuses, success, takes } from "./differences.ts";
import {
  args,
  call,
  called,
  FAIL,
  FINISH,
  of,
  on,
  readAll,
  result,
  said,
  say,
  START,
  warningsOf,
  whole,
  snapshot,
} from "./events.ts";

// What the published client (1.0.0) does not hold against the ids that a stream names.

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

  it("holds every start against the first one", () => {
    const again = [call("c", "look"), called("c"), call("c", "send"), called("c")];
    expect(warningsOf([START, ...again, call("c", "send")])).toEqual(["D10", "D10"]);
    expect(warningsOf([START, ...again, call("c", "look")])).toEqual(["D10"]);
  });

  it("says nothing where it agrees, or names no parent", () => {
    const first = call("c", "look", { parentMessageId: "m" });
    expect(warningsOf([START, first, called("c"), first, called("c"), call("c")])).toEqual([]);
  });
});

describe("D11: what is about something that is not there, is said", () => {
  const delta = of("ACTIVITY_DELTA", { messageId: "x", activityType: "t", patch: [] });
  const activity = of("ACTIVITY_SNAPSHOT", { messageId: "x", activityType: "t", content: {} });
  const value = (subtype: string) =>
    of("REASONING_ENCRYPTED_VALUE", { subtype, entityId: "x", encryptedValue: "e" });
  const next = { ...START, runId: "q" };
  it.each([
    ["a change of no activity", [delta], ["x"]],
    ["a change of a text, as of an activity", [say("x"), delta], ["x"]],
    ["a value of no message", [...whole("x"), value("message")], ["x"]],
    ["a value of no call", [say("x"), value("tool-call")], ["x"]],
    ["nothing about an activity", [activity, delta], []],
    ["nothing about one whose id a text took, too", [activity, say("x"), delta], []],
    ["nothing about one of an earlier run", [activity, FINISH, next, delta], []],
    [
      "nothing about a snapshot's",
      [snapshot({ role: "activity", id: "x", activityType: "t", content: {} }), delta],
      [],
    ],
    ["nothing about a message", [say("x"), said("x"), value("message")], []],
    ["nothing about a result's", [result("c", "x"), value("message")], []],
    ["nothing about a call", [...whole("x"), value("tool-call")], []],
  ])("%s", (_what, events, ids) => {
    const stream = [START, ...events];
    takes(stream);
    const { warnings } = readAll(stream);
    expect(warnings).toMatchObject(ids.map((id) => ({ rule: "D11", id })));
  });
});

describe("D12: an id names one message, and one call, of its thread", () => {
  const thought = snapshot({ role: "reasoning", id: "m", content: "" });
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
    ["text with the id of a snapshot's reasoning", [START, thought, say("m")], "m"],
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

  it("what strict refuses counts as sent, so that nothing else is said of it", () => {
    const before = [START, ...whole("c"), say("m"), said("m"), result("c", "r"), FINISH, next];
    const activity = of("ACTIVITY_SNAPSHOT", { messageId: "m", activityType: "t", content: {} });
    for (const events of [
      [say("m"), on("m"), said("m")],
      [call("c"), args("c"), called("c")],
      [activity, of("ACTIVITY_DELTA", { messageId: "m", activityType: "t", patch: [] })],
    ]) {
      const reader = createAgUiReader({ strict: true });
      const found = [...before, ...events].flatMap((event) => {
        const { violation, warnings } = readAgUi(reader, event);
        return [...warnings, ...(violation ? [violation] : [])].map(({ rule }) => rule);
      });
      expect(found).toEqual(["D12"]);
    }
    const named = { ...success("d"), runId: "q" };
    const reader = createAgUiReader({ strict: true });
    const found = [...before, ...whole("d"), result("d", "r"), named].flatMap((event) => {
      return readAgUi(reader, event).violation?.rule ?? [];
    });
    expect(found).toEqual(["D12", "D5"]);
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
    const again = of("REASONING_MESSAGE_START", { messageId: "m", role: "reasoning" });
    expect(warningsOf([START, thought, again])).toEqual([]);
  });
});
