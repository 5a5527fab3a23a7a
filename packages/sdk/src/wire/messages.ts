import type { Entry, Frame, Offset, Rejection, StateRows, Verdict } from "@holdfast/protocol";
import { isErrorCode, isObject, unreachable } from "./problem.ts";

/** A page of entries, as `GET …/entries` answers. */
export interface EntriesPage {
  readonly after: Offset;
  readonly entries: readonly Entry[];
  readonly offset: Offset;
  readonly upToDate: boolean;
}

/** A state and the offset it holds at. */
export interface StateAt {
  readonly offset: Offset;
  readonly state: StateRows;
  /** What its reader sees, where that is not everything; goes with every cursor. */
  readonly visibility: string | undefined;
}

// These check the outline of what the server says and trust the inside: a server that breaks the outline is not ours.

export function parseFrame(value: unknown): Frame {
  if (!isObject(value) || typeof value["after"] !== "string" || !isEntries(value["entries"]))
    throw malformed("a frame", value);
  return { after: value["after"], entries: value["entries"] };
}

export function parsePage(value: unknown): EntriesPage {
  if (!isObject(value) || typeof value["offset"] !== "string" || !isEntries(value["entries"]))
    throw malformed("a page of entries", value);
  const { offset, entries, after } = value;
  return {
    after: typeof after === "string" ? after : "",
    entries,
    offset,
    upToDate: value["upToDate"] === true,
  };
}

export function parseStateAt(value: unknown): StateAt {
  if (!isObject(value) || typeof value["offset"] !== "string" || !isStateRows(value["state"]))
    throw malformed("a state", value);
  const { offset, state, visibility } = value;
  return { offset, state, visibility: typeof visibility === "string" ? visibility : undefined };
}

export function parseVerdicts(value: unknown): readonly Verdict[] {
  const verdicts = isObject(value) ? value["verdicts"] : undefined;
  if (!Array.isArray(verdicts)) throw malformed("verdicts", value);
  return verdicts.map(parseVerdict);
}

/** A code that this version does not know reads as `invalid_request`, with the code in its details. */
function parseVerdict(value: unknown): Verdict {
  if (!isVerdict(value)) throw malformed("a verdict", value);
  const { error } = value;
  if (!error || isErrorCode(error.code)) return value;
  const details = { ...(error as Rejection).details, code: (error as Rejection).code };
  return { ...value, error: { ...(error as Rejection), code: "invalid_request", details } };
}

/** Reads JSON text of an event stream. */
export function parseText<T>(text: string, parse: (value: unknown) => T): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreachable("An event of the stream is not JSON.", error);
  }
  return parse(value);
}

function isVerdict(value: unknown): value is Verdict {
  return (
    isObject(value) &&
    typeof value["id"] === "string" &&
    typeof value["offset"] === "string" &&
    (value["status"] === "applied" ||
      (value["status"] === "rejected" && isRejection(value["error"])))
  );
}

function isRejection(value: unknown): value is Rejection {
  return (
    isObject(value) && typeof value["code"] === "string" && typeof value["message"] === "string"
  );
}

function isEntries(value: unknown): value is Entry[] {
  return Array.isArray(value) && value.every(isEntry);
}

function isEntry(value: unknown): value is Entry {
  return isObject(value) && typeof value["offset"] === "string" && isObject(value["event"]);
}

function isStateRows(value: unknown): value is StateRows {
  return (
    isObject(value) &&
    isObject(value["session"]) &&
    ["messages", "runs", "items", "calls"].every((rows) => Array.isArray(value[rows]))
  );
}

function malformed(what: string, value: unknown): Error {
  return unreachable(`The server sent no ${what}: ${JSON.stringify(value)?.slice(0, 200) ?? ""}`);
}
