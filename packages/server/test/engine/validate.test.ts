import { Script } from "node:vm";
import { describe, expect, test } from "vitest";
import { createValidator } from "../../src/engine/validate.ts";

const object = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  name: "tool",
  parameters: { type: "object", properties, ...more },
});

describe("validating arguments", () => {
  const { validate, check } = createValidator();

  test("what fits has no problem, and neither has a tool without a schema", () => {
    expect(validate(object({ a: { type: "number" } }), { a: 1 })).toBeUndefined();
    expect(validate({ name: "tool" }, "anything")).toBeUndefined();
  });

  test("every problem is named by its path", () => {
    const tool = object(
      { a: { type: "number" }, b: { items: { type: "string" } } },
      { required: ["c"] },
    );
    const invalid = validate(tool, { a: "1", b: ["x", 2] });
    expect(invalid?.paths?.toSorted()).toEqual(["", "/a", "/b/1"]);
    expect(invalid?.message).toContain("/b/1 must be string");
    expect(invalid?.message).toContain("required property 'c'");
  });

  test("2020-12 is understood without being named, draft-07 where it is", () => {
    const tuple2020 = { type: "array", prefixItems: [{ type: "number" }], items: false };
    expect(validate({ name: "t", parameters: tuple2020 }, [1, 2])).toBeDefined();
    const tuple07 = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "array",
      items: [{ type: "number" }],
      additionalItems: false,
    };
    expect(validate({ name: "t", parameters: tuple07 }, [1])).toBeUndefined();
    expect(validate({ name: "t", parameters: tuple07 }, [1, 2])).toBeDefined();
  });

  test("schemas that share ids, even a dialect's own, do not meet", () => {
    const $id = "https://json-schema.org/draft/2020-12/schema";
    const first = {
      name: "t",
      parameters: { $id, $defs: { x: { $id: "x", type: "number" } }, $ref: "x" },
    };
    const second = {
      name: "t",
      parameters: { $id, $defs: { x: { $id: "x", type: "string" } }, $ref: "x" },
    };
    expect(validate(first, 1)).toBeUndefined();
    expect(validate(second, 1)).toBeDefined();
    expect(validate(object({ a: { type: "number" } }), { a: 1 })).toBeUndefined();
  });

  test.each([
    ["a wrong type", { type: "nonsense" }],
    ["a reference that leads out", { $ref: "https://example.com/schema.json" }],
    ["a pattern that is none", { type: "string", pattern: "(" }],
    ["one that is too long", { description: "x".repeat(70_000) }],
  ])("%s makes a schema unusable, which is said when it is declared", (_, parameters) => {
    expect(() => check([{ name: "bad", parameters }])).toThrow(/schema of tool bad cannot be used/);
    expect(validate({ name: "bad", parameters }, {})?.message).toContain("cannot be used");
  });

  test("unknown keywords and formats are tolerated", () => {
    const tool = object({ mail: { type: "string", format: "email", "x-order": 1 } });
    expect(() => check([tool])).not.toThrow();
    expect(validate(tool, { mail: "not one" })).toBeUndefined();
  });
});

test.each([undefined, "http://json-schema.org/draft-07/schema#"])(
  "a machine that halts in the midst of a schema spoils none of those that come after it (%s)",
  ($schema) => {
    const { check, validate } = createValidator();
    const toolOf = (n: number) => {
      const { name, parameters } = object({ [`p${n}`]: { type: "number" } });
      return { name, parameters: { ...parameters, ...($schema && { $schema }) } };
    };
    const cutOff = new Script("work()");
    for (let timeout = 1; timeout <= 32; timeout *= 2) {
      Object.assign(globalThis, { work: () => check([toolOf(timeout)]) });
      try {
        cutOff.runInThisContext({ timeout });
      } catch (error) {
        expect(error).toMatchObject({ code: "ERR_SCRIPT_EXECUTION_TIMEOUT" });
      }
    }
    Reflect.deleteProperty(globalThis, "work");
    expect(validate(toolOf(0), { p0: 1 })).toBeUndefined();
    for (let n = 1; n <= 32; n *= 2) {
      expect(() => check([toolOf(n)])).not.toThrow();
      expect(validate(toolOf(n), { [`p${n}`]: "1" })?.paths).toEqual([`/p${n}`]);
    }
  },
);

test("a schema whose compiling was cut off is compiled when it is used next", () => {
  const { check, validate } = createValidator();
  let halted = true;
  let looks = 0;
  const parameters = {
    type: "object",
    get required() {
      looks += 1;
      while (halted && looks > 1); // the first look makes its text
      return ["a"];
    },
  };
  expect(() => check([{ name: "t", parameters }])).toThrow(/longer than 1000 ms/);
  halted = false;
  expect(() => check([{ name: "t", parameters }])).not.toThrow();
  expect(validate({ name: "t", parameters }, {})).toBeDefined();
});
