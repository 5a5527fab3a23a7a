import { isObject } from "../json.ts";
import type { AgUiWarning } from "./rules.ts";
import type { RecordShape, Shape } from "./shape.ts";

/** What the protocol does not describe, so that its place has to be empty. */
const DROP = Symbol("drop");

/**
 * An object without what the protocol does not describe: unknown properties at any depth, and unknown members of
 * unions, which take the smallest optional thing or list element around them along. The same object where there is
 * none. What is malformed stays: it is for {@link problemOf} to find, and never repaired.
 */
export function strip(
  value: Readonly<Record<string, unknown>>,
  shape: RecordShape,
  warnings: AgUiWarning[],
): Record<string, unknown> {
  const stripped = stripRecord(value, shape, "", warnings);
  // Nothing at the top is a union, so nothing takes all of it along.
  return stripped === DROP ? value : stripped;
}

function stripValue(value: unknown, shape: Shape, path: string, warnings: AgUiWarning[]): unknown {
  switch (shape.is) {
    case "record":
      return isObject(value) ? stripRecord(value, shape, path, warnings) : value;
    case "union": {
      if (!isObject(value)) return value;
      const tag = value[shape.by];
      const known = typeof tag === "string" && Object.hasOwn(shape.members, tag);
      const member = known ? shape.members[tag] : undefined;
      return member ? stripRecord(value, member, path, warnings) : DROP;
    }
    case "list":
      return Array.isArray(value) ? stripList(value, shape.of, path, warnings) : value;
    case "text or list":
      return stripValue(value, shape.list, path, warnings);
    default:
      return value;
  }
}

function stripRecord(
  value: Record<string, unknown>,
  { fields, open }: RecordShape,
  path: string,
  warnings: AgUiWarning[],
): Record<string, unknown> | typeof DROP {
  let kept = value;
  for (const key of Object.keys(value)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (!field) {
      if (open) continue;
      kept = without(kept, value, key);
      warnings.push(propertyGone(`${path}/${key}`));
      continue;
    }
    if (isLeaf(field.shape)) continue;
    const before = warnings.length;
    const child = stripValue(value[key], field.shape, `${path}/${key}`, warnings);
    if (child === value[key]) continue;
    if (child !== DROP) {
      if (kept === value) kept = { ...value };
      kept[key] = child;
      continue;
    }
    // It goes whole: what was found inside never mattered.
    warnings.length = before;
    if (!field.optional) return DROP;
    kept = without(kept, value, key);
    warnings.push(memberGone(`${path}/${key}`));
  }
  return kept;
}

function stripList(
  list: readonly unknown[],
  of: Shape,
  path: string,
  warnings: AgUiWarning[],
): readonly unknown[] {
  let kept: unknown[] | undefined;
  list.forEach((value, at) => {
    const before = warnings.length;
    const child = stripValue(value, of, `${path}/${at}`, warnings);
    if (child === DROP) {
      warnings.length = before;
      warnings.push(memberGone(`${path}/${at}`));
    }
    if (child !== value) kept ??= list.slice(0, at);
    if (child !== DROP) kept?.push(child);
  });
  return kept ?? list;
}

function isLeaf({ is }: Shape): boolean {
  return is !== "record" && is !== "union" && is !== "list" && is !== "text or list";
}

function without(
  kept: Record<string, unknown>,
  value: Record<string, unknown>,
  key: string,
): Record<string, unknown> {
  const copy = kept === value ? { ...value } : kept;
  delete copy[key];
  return copy;
}

function propertyGone(path: string): AgUiWarning {
  return { rule: "E3", path, message: `Removed ${path}, which the protocol does not describe.` };
}

function memberGone(path: string): AgUiWarning {
  return { rule: "E4", path, message: `Removed ${path}: it is of no kind that the protocol has.` };
}
