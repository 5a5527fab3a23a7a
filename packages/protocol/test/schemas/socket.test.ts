import { describe, expect, test } from "vitest";
import { parseClientFrame, refOf } from "../../src/schemas/index.ts";
import type { ClientFrame } from "../../src/index.ts";

/** A whole one of each, and which of its fields may be absent. */
const samples: Record<ClientFrame["type"], readonly [frame: object, optional: readonly string[]]> =
  {
    auth: [{ type: "auth", token: "t", ref: 1 }, ["ref"]],
    attempt: [{ type: "attempt", token: "t", ref: "a" }, ["ref"]],
    forget: [{ type: "forget", session: "s", runId: "r", attempt: 1 }, []],
    subscribe: [
      { type: "subscribe", session: "s", after: "o", state: true, runId: "r", attempt: 1, ref: 1 },
      ["after", "state", "runId", "attempt", "ref"],
    ],
    unsubscribe: [
      { type: "unsubscribe", session: "s", runId: "r", attempt: 1, ref: 1 },
      ["runId", "attempt", "ref"],
    ],
    commands: [
      { type: "commands", session: "s", ref: 1, commands: [7], runId: "r", attempt: 1 },
      ["runId", "attempt"],
    ],
    append: [{ type: "append", session: "s", command: { id: "c" } }, ["command"]],
    work: [{ type: "work", ref: 1, request: {} }, []],
    cancel: [{ type: "cancel", ref: 1 }, []],
    ping: [{ type: "ping", ref: 1 }, ["ref"]],
  };

describe("a client's frame", () => {
  test.each(Object.entries(samples))(
    "%s comes through whole, without what is unknown",
    (_type, [frame]) => {
      expect(parseClientFrame({ ...frame, more: 1 })).toEqual(frame);
    },
  );

  test.each(Object.entries(samples))(
    "%s is refused without any one of what it needs",
    (type, [frame, optional]) => {
      for (const field of Object.keys(frame).filter((name) => name !== "type")) {
        const { [field]: _gone, ...rest } = frame as Record<string, unknown>;
        const parse = () => parseClientFrame(rest);
        if (optional.includes(field)) expect(parse()).toMatchObject({ type });
        else expect(parse).toThrow(`${type}.${field}`);
      }
    },
  );

  test.each([
    7,
    null,
    [],
    {},
    { type: 7 },
    { type: "fly" },
    { type: "__proto__" },
    { type: "toString" },
  ])("is none: %j", (value) => {
    expect(() => parseClientFrame(value)).toThrow(
      expect.objectContaining({ code: "invalid_request" }),
    );
  });

  test("is refused for sessions that cannot be", () => {
    for (const session of ["", "x".repeat(257), "a\u0000", "\ud800", 7, null])
      expect(() => parseClientFrame({ type: "subscribe", session })).toThrow("subscribe.session");
  });
});

test("a ref is a whole number or a string, and one of its own", () => {
  expect([1, -3, "a"].map((ref) => refOf({ ref }))).toEqual([1, -3, "a"]);
  for (const ref of [1.5, "", "x".repeat(257), {}, null, true])
    expect(refOf({ ref })).toBe(undefined);
  expect([refOf(7), refOf(null), refOf([])]).toEqual([undefined, undefined, undefined]);
  expect(refOf(Object.create({ ref: 1 }))).toBe(undefined);
});
