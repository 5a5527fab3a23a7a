import { EventType } from "@ag-ui/core";
import { AgentCapabilitiesSchema, EventSchema, RunAgentInputSchema } from "@ag-ui/core/schemas";
import {
  AG_UI_CAPABILITIES,
  AG_UI_EVENTS,
  enforceAgUiInput,
  isAgUiType,
} from "@holdfast/protocol/ag-ui";
import { expect, it } from "vitest";
import { INPUT } from "../../src/ag-ui/vocabulary.ts";
import type { Shape } from "../../src/ag-ui/shape.ts";

it("has every type of event of the published library, and no other", () => {
  expect(Object.keys(AG_UI_EVENTS).toSorted()).toEqual(Object.values(EventType).toSorted());
  expect(Object.keys(AG_UI_EVENTS)).toHaveLength(31);
  for (const type of ["THINKING_START", "toString", "__proto__", ""]) {
    expect(isAgUiType(type)).toBe(false);
  }
});

it.each(EventSchema.options.map((option) => [String(option.shape.type.def.values[0]), option]))(
  "%s has the published schema's fields, at every depth",
  (type, option) => {
    const fields = AG_UI_EVENTS[type as keyof typeof AG_UI_EVENTS];
    const shape: Shape = { is: "record", fields, open: false };
    expect(fieldsOfShape(shape)).toEqual(fieldsOfSchema(option).filter((it) => it !== "/type"));
  },
);

it("has the fields of a run's input and of capabilities, at every depth", () => {
  expect(fieldsOfShape(INPUT)).toEqual(fieldsOfSchema(RunAgentInputSchema));
  expect(fieldsOfShape(AG_UI_CAPABILITIES)).toEqual(fieldsOfSchema(AgentCapabilitiesSchema));
});

it("enforces a run's input: unknown members are stripped with a warning, malformed ones refused", () => {
  const input = { threadId: "t", runId: "r", messages: [] };
  expect(
    enforceAgUiInput({ ...input, more: 1, state: null, messages: [{ role: "ghost" }] }),
  ).toEqual({
    value: { ...input, tools: [], context: [] },
    warnings: [
      expect.objectContaining({ rule: "E5", path: "/state" }),
      expect.objectContaining({ rule: "E4", path: "/messages/0" }),
      expect.objectContaining({ rule: "E3", path: "/more" }),
    ],
  });
  for (const bad of [null, [], {}, { ...input, tools: [{ name: "look" }] }]) {
    expect(enforceAgUiInput(bad)).toMatchObject({ violation: { rule: "E1" } });
  }
});

/** Every path of a shape; a `?` after those that need not be there. */
function fieldsOfShape(shape: Shape): string[] {
  const paths = new Set<string>();
  const visit = (it: Shape, path: string): void => {
    if (it.is === "list") visit(it.of, path);
    if (it.is === "text or list") visit(it.list, path);
    if (it.is === "union") for (const member of Object.values(it.members)) visit(member, path);
    if (it.is !== "record") return;
    for (const [name, field] of Object.entries(it.fields)) {
      paths.add(`${path}/${name}${field.optional ? "?" : ""}`);
      visit(field.shape, `${path}/${name}`);
    }
  };
  visit(shape, "");
  return [...paths].toSorted();
}

/** What this test reads of a zod schema. */
interface Schema {
  readonly def: {
    readonly type: string;
    readonly innerType?: Schema;
    readonly in?: Schema;
    readonly element?: Schema;
    readonly options?: readonly Schema[];
    readonly shape?: Readonly<Record<string, Schema>>;
  };
  safeParse(value: unknown): { readonly success: boolean };
}

function fieldsOfSchema(schema: unknown): string[] {
  const paths = new Set<string>();
  const visit = ({ def }: Schema, path: string): void => {
    const { innerType, element, options = [], shape = {} } = def;
    for (const inner of [innerType, def.in, element, ...options]) if (inner) visit(inner, path);
    for (const [name, field] of Object.entries(shape)) {
      paths.add(`${path}/${name}${field.safeParse(undefined).success ? "?" : ""}`);
      visit(field, `${path}/${name}`);
    }
  };
  visit(schema as Schema, "");
  return [...paths].toSorted();
}
