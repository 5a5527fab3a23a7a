import { recordOf, type Extras } from "./extras.ts";

/**
 * Merges message metadata as the library does: objects deeply, everything else by replacement; keys that could reach
 * a prototype are skipped. What comes first is kept as it is.
 */
export function mergeMessageMetadata(base: unknown, more: unknown): unknown {
  if (more === undefined || more === null) return base;
  if (base === undefined || base === null) return more;
  const [before, after] = [recordOf(base), recordOf(more)];
  return before && after ? mergeObjects(before, after) : more;
}

function mergeObjects(base: Extras, more: Extras): Extras {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(more)) {
    if (UNSAFE.has(key) || value === undefined) continue;
    const [before, after] = [recordOf(merged[key]), recordOf(value)];
    merged[key] = before && after ? mergeObjects(before, after) : value;
  }
  return merged;
}

const UNSAFE: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
