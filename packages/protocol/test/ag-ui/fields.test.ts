import { RunAgentInputSchema } from "@ag-ui/core/schemas";
import { AG_UI_EVENTS, enforceAgUiEvent, enforceAgUiInput } from "@holdfast/protocol/ag-ui";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Shape } from "../../src/ag-ui/shape.ts";
import { INPUT } from "../../src/ag-ui/vocabulary.ts";
import { judgeOne } from "./oracle.ts";
import { oddValue } from "./streams.ts";

// Every field of every type, at every depth: with values that it may have, and with one that it may not.

const numRuns = Number(process.env["HOLDFAST_FUZZ_RUNS"] ?? 150);

beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

const json = fc.constantFrom<unknown>(0, "", false, [], { a: null });

/** Values of a shape, now and then without what is optional. */
function valueOf(shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.is) {
    case "string":
      return fc.constantFrom("", "x", "__proto__");
    case "pointer":
      return fc.constantFrom("", "/a", "/~0~1");
    case "boolean":
      return fc.boolean();
    case "integer": {
      const most = Number.MAX_SAFE_INTEGER;
      return fc.constantFrom(0, 1, most, ...(shape.least < 0 ? [-1, -most] : []));
    }
    case "object":
      return fc.constantFrom({}, { a: null }, { "": { b: [] } });
    case "json":
      return fc.oneof(json, fc.constant(null));
    case "value":
      return json;
    case "choice":
      return fc.constantFrom(...shape.of);
    case "list":
      return fc.array(valueOf(shape.of), { minLength: 1, maxLength: 2 });
    case "text or list":
      return fc.oneof(fc.constant("t"), valueOf(shape.list));
    case "union":
      return fc.oneof(...Object.values(shape.members).map(valueOf));
    case "record": {
      const fields = Object.entries(shape.fields);
      const required = fields.filter(([, { optional }]) => !optional).map(([name]) => name);
      return fc.record(
        Object.fromEntries(fields.map(([name, field]) => [name, valueOf(field.shape)])),
        { requiredKeys: required },
      );
    }
  }
}

const change = fc.record({
  place: fc.nat(10_000),
  value: fc.oneof(
    oddValue,
    fc.constantFrom<unknown>(
      2 ** 53 - 1,
      -(2 ** 53),
      1e300,
      "x",
      ["a"],
      [1],
      [{}],
      [[]],
      { a: 1 },
      { type: "function" },
      { op: "add", path: "/a" },
    ),
  ),
});

/** A copy with another value in one place. */
function changed(value: unknown, { place, value: odd }: { place: number; value: unknown }) {
  const copy = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
  const places: (() => void)[] = [];
  const visit = (holder: Record<string, unknown>) => {
    for (const name of Object.keys(holder)) {
      if (holder === copy && name === "type") continue;
      places.push(() => (holder[name] = odd));
      const inner = holder[name];
      if (typeof inner === "object" && inner !== null) visit(inner as Record<string, unknown>);
    }
  };
  visit(copy);
  places[place % places.length]?.();
  return copy;
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

describe("as the published client has it", () => {
  test.each(Object.entries(AG_UI_EVENTS))("%s", (type, fields) => {
    const event = valueOf({ is: "record", fields, open: false }).map((it) => {
      return { type, ...(it as object) };
    });
    fc.assert(
      fc.property(event, change, (legal, odd) => {
        const whole = plain(legal) as object;
        const taken = enforceAgUiEvent(whole);
        expect(taken.violation).toBeUndefined();
        expect(plain(taken.value)).toEqual(plain(judgeOne(whole).event));
        const mutated = changed(legal, odd);
        const theirs = judgeOne(mutated);
        const { value: ours, violation } = enforceAgUiEvent(mutated);
        expect(violation === undefined, violation?.message).toBe(theirs.message === undefined);
        if (!violation) expect(plain(ours)).toEqual(plain(theirs.event));
      }),
      { numRuns },
    );
  });

  test("an input, in what it takes", () => {
    fc.assert(
      fc.property(valueOf(INPUT), change, (legal, odd) => {
        expect(enforceAgUiInput(plain(legal)).violation).toBeUndefined();
        // What is translated and stripped first is no more malformed then.
        const { value, violation } = enforceAgUiInput(changed(legal, odd));
        if (!violation) expect(RunAgentInputSchema.safeParse(value).error).toBeUndefined();
        else expect(RunAgentInputSchema.safeParse(changed(legal, odd)).success).toBe(false);
      }),
      { numRuns: numRuns * 5 },
    );
  });
});
