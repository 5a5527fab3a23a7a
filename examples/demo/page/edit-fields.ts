import type { Call } from "@holdfast/protocol";
import { argumentsOf, isObject, toObject } from "./rows.ts";

/** One argument as a form shows it. Its value is text while it is edited. */
export interface EditField {
  readonly key: string;
  readonly kind: "text" | "number" | "boolean" | "choice" | "json";
  readonly options: readonly string[];
  readonly required: boolean;
  readonly description?: string;
  /** What was proposed, as the form's text; empty where nothing was. */
  readonly proposed: string;
}

/** The form for a call's arguments: what its tool's JSON Schema names, then whatever else was proposed. */
export function editFields(call: Call): EditField[] {
  const schema = call.tool?.parameters ?? {};
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const values = argumentsOf(call) ?? {};
  const keys = [...new Set([...Object.keys(properties), ...Object.keys(values)])];
  return keys.map((key) => {
    const property = isObject(properties[key]) ? properties[key] : {};
    const kind = kindOf(property, values[key]);
    const description = property["description"];
    return {
      key,
      kind,
      options: kind === "choice" ? choices(property) : [],
      required: required.includes(key),
      ...(typeof description === "string" && { description }),
      proposed: Object.hasOwn(values, key) ? toText(kind, values[key]) : "",
    };
  });
}

/**
 * The arguments' text after editing. Fields left as they were keep the value that was proposed; an emptied optional
 * one is left out.
 *
 * @throws {Error} naming the field whose text is not of its kind
 */
export function editedArguments(
  call: Call,
  fields: readonly EditField[],
  texts: ReadonlyMap<string, string>,
): string {
  const values = new Map(Object.entries(toObject(call.arguments) ?? {}));
  for (const field of fields) {
    const text = texts.get(field.key);
    if (text === undefined || text === field.proposed) continue;
    if (text === "" && !field.required) values.delete(field.key);
    else values.set(field.key, toValue(field, text));
  }
  return JSON.stringify(Object.fromEntries(values));
}

/** The fields whose text differs from what was proposed. */
export function changedFields(
  fields: readonly EditField[],
  texts: ReadonlyMap<string, string>,
): EditField[] {
  return fields.filter(({ key, proposed }) => (texts.get(key) ?? proposed) !== proposed);
}

function kindOf(property: Record<string, unknown>, value: unknown): EditField["kind"] {
  if (choices(property).length > 0) return "choice";
  switch (property["type"] ?? typeof value) {
    case "string":
      return "text";
    case "number":
    case "integer":
      return "number";
    case "boolean":
      return "boolean";
    default:
      return "json";
  }
}

function choices(property: Record<string, unknown>): string[] {
  const options = property["enum"];
  return Array.isArray(options) && options.every((option) => typeof option === "string")
    ? options
    : [];
}

function toText(kind: EditField["kind"], value: unknown): string {
  return typeof value === "string" && kind !== "json" ? value : (JSON.stringify(value) ?? "");
}

function toValue({ key, kind }: EditField, text: string): unknown {
  switch (kind) {
    case "text":
    case "choice":
      return text;
    case "boolean":
      return text === "true";
    case "number": {
      const value = Number(text.trim().replace(",", "."));
      if (text.trim() === "" || !Number.isFinite(value))
        throw new Error(`${key} is “${text}”, which is not a number: give one, such as 12.5.`);
      return value;
    }
    case "json":
      try {
        return JSON.parse(text) as unknown;
      } catch (cause) {
        throw new Error(`${key} is not valid JSON: mind quotes and commas.`, { cause });
      }
  }
}
