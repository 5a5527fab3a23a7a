import type { z } from "zod";
import { HoldfastError, reject } from "../errors.ts";

/** The `invalid_request` that names where: `at` is a path such as `items[3].messageId`. */
export function invalid(
  at: string,
  problem: string,
  details?: Readonly<Record<string, unknown>>,
): HoldfastError {
  return new HoldfastError(reject("invalid_request", `${at}: ${problem}.`, { at, ...details }));
}

/** What `too long` means, for programs: nothing for a value that has its length within the limit, or has none. */
export function tooLong(
  value: unknown,
  limit: unknown,
): { limit: number; value: number } | undefined {
  if (typeof limit !== "number" || (typeof value !== "string" && !Array.isArray(value)))
    return undefined;
  return value.length > limit ? { limit, value: value.length } : undefined;
}

/** Parses with a zod schema; what does not fit is thrown as `invalid_request`, naming the first place. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const at = issue ? pathOf(issue.path) : "";
  throw invalid(
    at === "" ? what : `${what}.${at}`,
    issue?.message ?? "does not fit",
    issue && tooLong(valueAt(value, issue.path), limitOf(issue)),
  );
}

/** The limit an issue is about, where it is about one: zod's own, or that of a field of ours. */
function limitOf(issue: z.core.$ZodIssue): unknown {
  if (issue.code === "too_big") return issue.maximum;
  return issue.code === "custom" ? issue.params?.["limit"] : undefined;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (owner, key) =>
      typeof owner === "object" && owner !== null ? Reflect.get(owner, key) : undefined,
    value,
  );
}

function pathOf(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else text += text === "" ? String(key) : `.${String(key)}`;
  }
  return text;
}
