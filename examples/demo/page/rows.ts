import type { Call, Item } from "@holdfast/protocol";

/** A call's arguments as an object's members; undefined where they are no JSON object. */
export function argumentsOf(call: Call): Record<string, unknown> | undefined {
  return call.argumentsEncoding === "json" ? toObject(call.arguments) : undefined;
}

/** Parses the text of a JSON object; empty means `{}`. */
export function toObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = text.trim() === "" ? {} : JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Tells a call from the other parts of a run. */
export function isCall(part: Item | Call): part is Call {
  return !("kind" in part);
}
