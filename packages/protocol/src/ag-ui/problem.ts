import { isObject } from "../json.ts";
import type { RecordShape, Shape } from "./shape.ts";

/** Where a value is not as it must be, as a JSON Pointer, and how it must be. */
export interface Problem {
  readonly path: string;
  readonly must: string;
  readonly is: string;
}

const POINTER = /^(\/([^/~]|~[01])*)*$/;

/** The first thing that is malformed in an object; unknown properties are none of its business. */
export function problemOf(
  value: Readonly<Record<string, unknown>>,
  { fields }: RecordShape,
): Problem | undefined {
  for (const key of Object.keys(fields)) {
    const field = fields[key];
    const member = Object.hasOwn(value, key) ? value[key] : undefined;
    if (!field || (member === undefined && field.optional)) continue;
    const problem = problemIn(member, field.shape);
    if (problem) return at(key, problem);
  }
  return undefined;
}

function problemIn(value: unknown, shape: Shape): Problem | undefined {
  if (value === undefined) return wrong(value, "be there");
  switch (shape.is) {
    case "string":
      return typeof value === "string" ? undefined : wrong(value, "be a string");
    case "pointer":
      return typeof value === "string" && POINTER.test(value)
        ? undefined
        : wrong(value, "be a JSON Pointer");
    case "boolean":
      return typeof value === "boolean" ? undefined : wrong(value, "be true or false");
    case "integer":
      return Number.isSafeInteger(value) && Number(value) >= shape.least
        ? undefined
        : wrong(value, shape.least === 0 ? "be a whole number, 0 or more" : "be a whole number");
    case "object":
      return isObject(value) ? undefined : wrong(value, "be an object");
    case "json":
      return undefined;
    case "value":
      return value === null ? wrong(value, "be left out or have a value") : undefined;
    case "choice":
      return typeof value === "string" && shape.of.includes(value)
        ? undefined
        : wrong(value, `be ${shape.of.map((it) => JSON.stringify(it)).join(" or ")}`);
    case "record":
      return isObject(value) ? problemOf(value, shape) : wrong(value, "be an object");
    case "union":
      return problemInUnion(value, shape);
    case "list":
      return Array.isArray(value) ? problemInList(value, shape) : wrong(value, "be an array");
    case "text or list":
      if (typeof value === "string") return undefined;
      return Array.isArray(value)
        ? problemIn(value, shape.list)
        : wrong(value, "be a string or an array");
    default:
      return shape satisfies never;
  }
}

function problemInUnion(value: unknown, shape: Shape & { is: "union" }): Problem | undefined {
  const names = Object.keys(shape.members);
  if (!isObject(value)) return wrong(value, "be an object");
  const tag = value[shape.by];
  const known = typeof tag === "string" && Object.hasOwn(shape.members, tag);
  const member = known ? shape.members[tag] : undefined;
  return member
    ? problemOf(value, member)
    : at(shape.by, wrong(tag, `be ${names.map((it) => JSON.stringify(it)).join(" or ")}`));
}

function problemInList(
  list: readonly unknown[],
  { of, least }: Shape & { is: "list" },
): Problem | undefined {
  if (list.length < least) return { path: "", must: "have an element", is: "empty" };
  for (let index = 0; index < list.length; index += 1) {
    const problem = problemIn(list[index], of);
    if (problem) return at(String(index), problem);
  }
  return undefined;
}

function wrong(value: unknown, must: string): Problem {
  return { path: "", must, is: wordFor(value) };
}

function at(key: string, problem: Problem): Problem {
  return { ...problem, path: `/${key}${problem.path}` };
}

/** What a value is, without the value: it may be large, or a secret. */
function wordFor(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value === "string") return value.length <= 40 ? JSON.stringify(value) : "a string";
  return typeof value === "number" || typeof value === "boolean" ? String(value) : typeof value;
}
