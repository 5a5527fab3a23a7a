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
