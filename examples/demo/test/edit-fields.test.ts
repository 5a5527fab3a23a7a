import { expect, test } from "vitest";
import { changedFields, editedArguments, editFields } from "../page/edit-fields.ts";
import { transfer } from "../page/gallery/fixtures.ts";

const call = transfer({ status: "gated" });

function edit(changes: Record<string, string>): { text: string; changed: string[] } {
  const fields = editFields(call);
  const texts = new Map(Object.entries(changes));
  return {
    text: editedArguments(call, fields, texts),
    changed: changedFields(fields, texts).map(({ key }) => key),
  };
}

test("the form has a field for each property of the schema, of its kind", () => {
  expect(editFields(call).map(({ key, kind, required }) => [key, kind, required])).toEqual([
    ["from", "text", false],
    ["to", "text", true],
    ["amount", "number", true],
    ["currency", "choice", true],
    ["reference", "text", false],
  ]);
});

test("only what changed is replaced, as the kind it is", () => {
  const { text, changed } = edit({ amount: "45,5", to: "Ben Ortiz" });
  expect(changed).toEqual(["amount"]);
  expect(JSON.parse(text)).toEqual({ ...JSON.parse(call.arguments), amount: 45.5 });
});

test("an emptied optional field is left out, an emptied required one is not", () => {
  const { text } = edit({ reference: "", to: "" });
  expect(JSON.parse(text)).not.toHaveProperty("reference");
  expect(JSON.parse(text)).toHaveProperty("to", "");
});

test("text that is no number names the field and what to give", () => {
  expect(() => edit({ amount: "fifty" })).toThrow("amount is “fifty”, which is not a number");
});

test("a member named __proto__ is an argument like any other", () => {
  const odd = transfer({ arguments: '{"__proto__":"x","amount":1}' });
  const fields = editFields(odd);
  expect(fields.map(({ key }) => key)).toContain("__proto__");
  const text = editedArguments(odd, fields, new Map([["__proto__", "y"]]));
  expect(text).toContain('"__proto__":"y"');
});
