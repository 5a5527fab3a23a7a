import { argumentsForModel, pathTo, resultOf, type Call } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { mergeMetadata } from "../src/metadata.ts";
import { openDesk } from "./support/desk.ts";

const base: Call = {
  id: "c1",
  runId: "r1",
  attempt: 1,
  offset: "t.1",
  upTo: "t.1",
  name: "transfer",
  executor: "agent",
  status: "open",
  rev: 1,
  arguments: "{}",
  argumentsEncoding: "json",
  history: [],
};
const approval: NonNullable<Call["approval"]> = { id: "a1", by: "agent", digest: "d" };
const decided = (approved: boolean, reason?: string): NonNullable<Call["approval"]> => ({
  ...approval,
  decision: {
    approved,
    by: "user:ana",
    at: 1,
    digest: "d",
    ...(reason !== undefined && { reason }),
  },
});
const answered = (answer: NonNullable<Call["answer"]>["answer"]): Partial<Call> => ({
  status: "settled",
  outcome: "ok",
  answer: { messageId: "m", answer, by: "agent:a", at: 1, offset: "t.1" },
});
const ended = (outcome: Call["outcome"], reason: Call["reason"], more?: Partial<Call>) =>
  ({ status: "settled", outcome, reason, ...more }) as Partial<Call>;
const held: Partial<Call> = { pastClaims: ["claim1"] };

describe("what a model is told became of a call", () => {
  test.each<[string, Partial<Call>, unknown]>([
    [
      "C103: a falsy answer is an answer",
      answered({ type: "json", value: 0 }),
      { kind: "answer", outcome: "ok", answer: { type: "json", value: 0 } },
    ],
    [
      "an error's answer",
      { ...answered({ type: "text", text: "" }), outcome: "error" },
      { kind: "answer", outcome: "error", answer: { type: "text", text: "" } },
    ],
    [
      "C05: a denial, with its reason",
      { status: "settled", outcome: "denied", approval: decided(false, "too much") },
      { kind: "denied", reason: "too much" },
    ],
    ["superseded: nothing", ended("superseded", "round_superseded"), { kind: "withdrawn" }],
    [
      "withdrawn with its round: nothing, even answered",
      { ...answered({ type: "json", value: 1 }), withdrawn: true },
      { kind: "withdrawn" },
    ],
    ["approved and open: to be executed", { approval: decided(true) }, { kind: "approved" }],
  ])("%s", (_, call, expected) => {
    expect(resultOf({ ...base, ...call }, { forRun: "r1" })).toEqual(expected);
  });

  test.each<[string, Partial<Call>, RegExp]>([
    ["streaming", { status: "streaming" }, /^Not executed: .*complete/],
    ["gated", { status: "gated", approval }, /^Not executed yet: .*approval/],
    ["open to clients", { executor: "client" }, /^No result yet: .*application/],
    ["open to the agent", {}, /^Not executed yet/],
    ["claimed", { status: "claimed" }, /^No result yet: .*being executed/],
    [
      "C08: abandoned for a new message",
      ended("abandoned", "superseded_by_new_message", { approval }),
      /^Not executed: the user sent another message/,
    ],
    [
      "abandoned while it was executed",
      ended("abandoned", "superseded_by_new_message", held),
      /^Outcome unknown: .*may have taken effect/,
    ],
    ["cancelled", ended("cancelled", "run_cancelled"), /^Not executed: the run was cancelled/],
    [
      "cancelled with words",
      ended("cancelled", "cancelled", { message: "Wrong city." }),
      /Wrong city\.$/,
    ],
    ["expired", ended("expired", "approval_expired"), /^Not executed: nobody decided in time/],
    ["executor lost", ended("error", "executor_lost", held), /^Outcome unknown/],
    ["C94: truncated", ended("error", "truncated"), /^Not executed: the arguments were cut off/],
    [
      "C94: invalid",
      ended("error", "invalid_arguments", { invalid: { message: "city is missing" } }),
      /^city is missing$/,
    ],
    ["C04: unknown", ended("error", "unknown_tool"), /no tool named "transfer"/],
    ["unanswered", ended("error", "unanswered"), /^Not executed: .*without an answer/],
    [
      "executed without approval",
      {
        ...answered({ type: "json", value: 1 }),
        outcome: "error",
        reason: "executed_without_approval",
      },
      /without the approval/,
    ],
  ])("%s: says that there is no result, and why", (_, call, text) => {
    expect(resultOf({ ...base, ...call }, { forRun: "r1" })).toEqual({
      kind: "note",
      text: expect.stringMatching(text) as string,
    });
  });

  test("only the run itself executes what was approved, and never a client's call", () => {
    const approved: Call = { ...base, approval: decided(true) };
    for (const result of [
      resultOf(approved),
      resultOf(approved, { forRun: "r2" }),
      resultOf({ ...approved, executor: "client" }, { forRun: "r1" }),
      resultOf({ ...approved, status: "claimed" }, { forRun: "r1" }),
    ]) {
      expect(result.kind).toBe("note");
    }
  });
});

test.each([
  ["", {}],
  [" \n", {}],
  ["null", {}],
  ['{"a":1}', { a: 1 }],
  ["[1]", { input: [1] }],
  ['""', { input: "" }],
  ["0", { input: 0 }],
  ['{"a":', { input: '{"a":' }],
])("C12: arguments %j are sent to a model as an object", (text, expected) => {
  expect(argumentsForModel({ arguments: text, argumentsEncoding: "json" })).toEqual(expected);
});

test("arguments that are text stay text", () => {
  const call = { arguments: "SELECT 1", argumentsEncoding: "text" } as const;
  expect(argumentsForModel(call)).toBe("SELECT 1");
});

test("metadata merges owner by owner, and within an owner key by key", () => {
  const merged = mergeMetadata(
    { a: { x: 1, y: { deep: 1 } }, b: "text" },
    { a: { y: { other: 2 }, z: null }, b: { now: "an object" }, c: 1 },
  );
  expect(merged).toEqual({ a: { x: 1, y: { other: 2 }, z: null }, b: { now: "an object" }, c: 1 });
  const hostile = JSON.parse('{"__proto__":{"polluted":true}}') as Record<string, unknown>;
  expect(Object.keys(mergeMetadata({}, hostile))).toEqual(["__proto__"]);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("a path leads from the root to its node", () => {
  const desk = openDesk();
  const first = desk.send("m1");
  const second = desk.send("m2");
  expect(pathTo(desk.state, second)).toEqual(["m1", first, "m2", second]);
  expect(pathTo(desk.state, first)).toEqual(["m1", first]);
  expect(pathTo(desk.state, "nobody")).toEqual([]);
});

test("8.5 arguments that nest too deep to be written out again are exported as their text", () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  const exported = (text: string) =>
    argumentsForModel({ arguments: text, argumentsEncoding: "json" });
  expect(exported(nested(256))).toEqual(JSON.parse(nested(256)));
  expect(exported(nested(257))).toEqual({ input: nested(257) });
  const text = nested(300_000);
  expect(JSON.parse(JSON.stringify(exported(text)))).toEqual({ input: text });
  // Brackets inside texts nest nothing.
  const words = JSON.stringify({ a: '[{"'.repeat(400) });
  expect(exported(words)).toEqual(JSON.parse(words));
});
