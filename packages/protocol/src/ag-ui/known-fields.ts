import type { ContentEvent, Event } from "../events.ts";
import { isObject } from "../json.ts";

/** What AG-UI 1.0 knows of each content event beside `type`, `timestamp`, `rawEvent`, `metadata` and `subagentRunId`. */
const FIELDS: { readonly [T in ContentEvent["type"]]: readonly string[] } = {
  TEXT_MESSAGE_START: ["messageId", "role", "name"],
  TEXT_MESSAGE_CONTENT: ["messageId", "delta"],
  TEXT_MESSAGE_END: ["messageId"],
  REASONING_START: ["messageId"],
  REASONING_MESSAGE_START: ["messageId", "role"],
  REASONING_MESSAGE_CONTENT: ["messageId", "delta"],
  REASONING_MESSAGE_END: ["messageId"],
  REASONING_END: ["messageId"],
  REASONING_ENCRYPTED_VALUE: ["subtype", "entityId", "encryptedValue"],
  TOOL_CALL_START: ["toolCallId", "toolCallName"],
  TOOL_CALL_ARGS: ["toolCallId", "delta"],
  TOOL_CALL_END: ["toolCallId"],
  STATE_SNAPSHOT: ["snapshot"],
  STATE_DELTA: ["delta"],
  ACTIVITY_SNAPSHOT: ["messageId", "activityType", "content", "replace"],
  ACTIVITY_DELTA: ["messageId", "activityType", "patch"],
  SUBAGENT_STARTED: [
    "name",
    "description",
    "parentSubagentRunId",
    "parentToolCallId",
    "parentMessageId",
  ],
  SUBAGENT_FINISHED: ["result", "outcome"],
  SUBAGENT_ERROR: ["message", "code"],
  STEP_STARTED: ["stepName"],
  STEP_FINISHED: ["stepName"],
  CUSTOM: ["name", "value"],
  RAW: ["event", "source"],
};

/** Values that may be null: any JSON. Elsewhere a null says no more than that a field is absent, which is how it is sent. */
const ANY: ReadonlySet<string> = new Set(["snapshot", "value", "event"]);

/** The plain types of optional fields that a session takes as they come. */
const TEXTS: ReadonlySet<string> = new Set([
  "name",
  "description",
  "parentSubagentRunId",
  "parentToolCallId",
  "parentMessageId",
  "code",
  "source",
]);

/**
 * An event without what AG-UI does not know of it, and without its metadata; undefined for a type that it does not know. The
 * tag of its subagent is kept: an event that goes on with something drops it, since nothing but the opener's would do.
 */
export function knownFields<E extends ContentEvent>(event: E): E | undefined {
  const names = Object.hasOwn(FIELDS, event.type) ? FIELDS[event.type] : undefined;
  if (!names) return undefined;
  const raw: Readonly<Record<string, unknown>> = { ...event };
  const known: Record<string, unknown> = { type: event.type };
  const { timestamp, rawEvent, subagentRunId } = event;
  if (Number.isSafeInteger(timestamp)) known["timestamp"] = timestamp;
  if (rawEvent !== undefined && rawEvent !== null) known["rawEvent"] = rawEvent;
  if (typeof subagentRunId === "string") known["subagentRunId"] = subagentRunId;
  for (const name of names) {
    const value = raw[name] ?? (ANY.has(name) ? null : undefined);
    if (value === undefined || (TEXTS.has(name) && typeof value !== "string")) continue;
    known[name] = value;
  }
  if ("outcome" in known && !isOutcome(known["outcome"])) delete known["outcome"];
  if ("replace" in known && typeof known["replace"] !== "boolean") delete known["replace"];
  return known as E; // the fields of its type, as they were
}

const NONE: readonly string[] = [];

/** What AG-UI knows of an event that is told in words of our own. */
const RETOLD: Readonly<Record<string, readonly string[]>> = {
  TOOL_CALL_START: ["parentMessageId"],
};

/**
 * The fields of a content event that {@link knownFields} leaves out, since AG-UI does not know them, or not so; none of any
 * other event.
 */
export function unknownFields(event: Event): readonly string[] {
  // Most of any stream: a fragment's id and text, and nothing beside.
  const isFragment = "delta" in event && typeof event.delta === "string";
  if (isFragment && Object.keys(event).length === 3) return NONE;
  const fields = knownFields(event as ContentEvent); // undefined for one that is none
  if (!fields) return NONE;
  const known = { ...fields, metadata: undefined };
  const retold = RETOLD[event.type] ?? [];
  return Object.entries(event).flatMap(([name, value]) => {
    const isTold = Object.hasOwn(known, name) || retold.includes(name);
    return isTold || value === null || value === undefined ? [] : [name];
  });
}

function isOutcome(outcome: unknown): boolean {
  if (!isObject(outcome)) return false;
  if (outcome["type"] === "success") return Object.keys(outcome).length === 1;
  if (outcome["type"] !== "suspended") return false;
  const ids: unknown = outcome["interruptIds"] ?? [];
  return Array.isArray(ids) && ids.every((id) => typeof id === "string");
}
