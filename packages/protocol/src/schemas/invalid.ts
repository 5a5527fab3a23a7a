import type { z } from "zod";
import { HoldfastError, reject } from "../errors.ts";

/** The `invalid_request` that names where: `at` is a path such as `items[3].messageId`. */
export function invalid(at: string, problem: string): HoldfastError {
  return new HoldfastError(reject("invalid_request", `${at}: ${problem}.`, { at }));
}

/** Parses with a zod schema; what does not fit is thrown as `invalid_request`, naming the first place. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const at = issue ? pathOf(issue.path) : "";
  throw invalid(at === "" ? what : `${what}.${at}`, issue?.message ?? "does not fit");
}

function pathOf(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else text += text === "" ? String(key) : `.${String(key)}`;
  }
  return text;
}
