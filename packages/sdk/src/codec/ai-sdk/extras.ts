import type { Json, Metadata } from "@holdfast/protocol";

/** The codec's name, and the key of its own material in every `metadata`. */
export const NAME = "ai-sdk";

/** Fields of chunks, by name. Values come from the framework as they are and are JSON once they were on the wire. */
export type Extras = Readonly<Record<string, unknown>>;

/** A chunk's fields but for those the protocol has a word for; undefined when none is left. */
export function rest(chunk: object, known: readonly string[]): Extras | undefined {
  const left = Object.entries(chunk).filter(
    ([key, value]) => value !== undefined && key !== "type" && !known.includes(key),
  );
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

/** The codec's material as an item's `metadata` field; an empty object when there is none, so that it can be spread. */
export function own(extras: Extras | undefined): { metadata?: Metadata } {
  return extras === undefined ? {} : { metadata: { [NAME]: extras } };
}

/** The codec's material in a row's metadata. */
export function ownOf(metadata: Metadata | undefined): Extras {
  return recordOf(metadata?.[NAME]) ?? {};
}

/** The value as an object with named fields, or undefined. */
export function recordOf(value: unknown): Extras | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Extras) // an object that is no array has named fields
    : undefined;
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The library says `unknown` of what is JSON by the time anybody else sees it; absent becomes `null`. */
export function jsonOf(value: unknown): Json {
  return value === undefined ? null : (value as Json); // a chunk is JSON, see Extras
}
