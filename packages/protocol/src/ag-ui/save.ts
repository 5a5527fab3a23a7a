import { isObject, type Json } from "../json.ts";
import type { AgUiReader } from "./reader.ts";

/** A reader as plain JSON, to be kept beside the log. What is in it is nobody else's business. */
export type SavedAgUiReader = { readonly [key: string]: Json | undefined };

/** A copy of a reader that survives a restart in the middle of a run. */
export function saveAgUi(reader: AgUiReader): SavedAgUiReader {
  return pack(reader) as SavedAgUiReader;
}

/** The reader that was saved, which goes on exactly where it was. Takes what {@link saveAgUi} gave, and trusts it. */
export function restoreAgUi(saved: SavedAgUiReader): AgUiReader {
  return unpack(saved) as AgUiReader;
}

// The state has no null of its own, so null can stand for undefined: an owner that is the parent agent.

function pack(value: unknown): Json {
  if (value === undefined) return null;
  if (value instanceof Map) return { map: [...value].map(pack) };
  if (value instanceof Set) return { set: [...value].map(pack) };
  if (Array.isArray(value)) return value.map(pack);
  if (!isObject(value)) return value as Json;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, pack(member)]));
}

function unpack(value: unknown): unknown {
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.map(unpack);
  if (!isObject(value)) return value;
  const { map, set } = value;
  if (Array.isArray(map)) return new Map(map.map(unpack) as [unknown, unknown][]);
  if (Array.isArray(set)) return new Set(set.map(unpack));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unpack(member)]));
}
