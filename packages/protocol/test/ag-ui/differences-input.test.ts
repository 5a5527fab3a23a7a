import { describe, expect, it } from "vitest";
import { answer, IDS, interrupted, takes, TOOLS } from "./differences.ts";
import { call, FAIL, FINISH, readAll, START, warningsOf, whole } from "./events.ts";

// What a stream shows of the inputs it answers, and the published client (1.0.0) does not look at.

describe("D6: resume entries name the interrupts that wait, each once; a warning, as it is the client's to do", () => {
  const next = (...ids: string[]) => ({
    ...START,
    runId: "q",
    input: {
      ...IDS,
      messages: [],
      resume: ids.map((interruptId) => ({ interruptId, status: "resolved" })),
    },
  });
  const waits = [START, interrupted("i", "j")];
  const failed = [{ ...START, runId: "p" }, FAIL];
  it.each([
    ["one that is invented", [...waits, next("i", "j", "k")], ["k"]],
    ["one twice", [...waits, next("i", "j", "i")], ["i"]],
    ["one twice, whatever was before", [next("i", "i")], ["i"]],
    ["one that is left out", [...waits, next("j")], ["i"]],
    ["all that are left out", [...waits, next()], ["i", "j"]],
    ["one that a failed run left open", [...waits, ...failed, next("j")], ["i"]],
    ["one after a run that asked nothing", [START, FINISH, next("i")], ["i"]],
    [
      "one that was resumed before",
      [...waits, next("i", "j"), { ...FINISH, runId: "q" }, { ...next("i"), runId: "s" }],
      ["i"],
    ],
    ["none that are exact", [...waits, next("j", "i")], []],
    ["none of a run that is not in the stream", [next("i")], []],
    ["none where no input is told", [...waits, { ...START, runId: "q" }], []],
    ["none of another thread", [...waits, { ...next(), threadId: "u" }], []],
  ])("names %s", (_what, stream, ids) => {
    takes(stream);
    const { warnings } = readAll(stream);
    expect(warnings.map(({ rule, id }) => [rule, id])).toEqual(ids.map((id) => ["D6", id]));
  });
});

describe("D7: a thread that goes on answers every frontend call first; a warning, as it is the client's to do", () => {
  const next = (...messages: object[]) => ({ ...START, runId: "q", input: { ...IDS, messages } });
  const two = [START, ...whole("a", "ask"), ...whole("b", "ask"), ...whole("c", "look"), FINISH];
  it.each([
    ["those without tool message", [...two, next(answer("a"))], ["b"]],
    [
      "those of a run before the last",
      [...two, { ...START, runId: "p" }, FAIL, next()],
      ["a", "b"],
    ],
    ["none where all have theirs", [...two, next(answer("b"), answer("a"))], []],
    ["none that never was complete", [START, call("a", "ask"), FAIL, next()], []],
    ["none where no input is told", [...two, { ...START, runId: "q" }], []],
  ])("names %s", (_what, stream, ids) => {
    takes(stream, TOOLS);
    const { warnings } = readAll(stream, TOOLS);
    expect(warnings.map(({ rule, id }) => [rule, id])).toEqual(ids.map((id) => ["D7", id]));
    expect(warningsOf(stream)).toEqual([]);
  });
});
