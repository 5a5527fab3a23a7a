import type { AgentItem, Command } from "../command.ts";
import { isId, isObject, MAX_ID } from "./fields.ts";
import { invalid, parse, tooLong } from "./invalid.ts";
import * as f from "./fields.ts";

/**
 * Reads a `run.append`. Hot path: checked by hand against two tables, and the items themselves are returned, so that
 * what a framework put beside the known fields is kept. Only what the protocol itself reads, and what AG-UI says of a
 * known field, is looked at.
 *
 * @throws HoldfastError `invalid_request`, naming the item and its field
 */
export function parseAppend(value: Record<string, unknown>): Command {
  const { id, type, runId, attempt, producer, seq, stepId, stepAttempt, items } = value;
  check(value, "runId", "id", "run.append");
  check(value, "attempt", "count", "run.append");
  check(value, "producer", "id", "run.append");
  check(value, "seq", "count", "run.append");
  const inStep = stepId !== undefined || stepAttempt !== undefined;
  if (inStep) {
    check(value, "stepId", "id", "run.append");
    check(value, "stepAttempt", "count", "run.append");
  }
  if (!Array.isArray(items)) throw invalid("run.append.items", "must be an array");
  for (let index = 0; index < items.length; index += 1) {
    if (!isTextDelta(items[index])) checkItem(items[index], index);
  }
  const append = { id, type, runId, attempt, producer, seq, items };
  return (inStep ? { ...append, stepId, stepAttempt } : append) as unknown as Command; // checked field by field above
}

/** Most of what there is, told without a table. */
function isTextDelta(item: unknown): boolean {
  if (!isObject(item) || item["type"] !== "TEXT_MESSAGE_CONTENT") return false;
  let fields = 0;
  for (const _ in item) fields += 1;
  return fields === 3 && typeof item["delta"] === "string" && isId(item["messageId"]);
}

type Kind = keyof typeof PROBLEMS;

type Fields = readonly (readonly [field: string, kind: Kind])[];

/** What each item needs, beside its type. */
const byType: Readonly<Record<AgentItem["type"], Fields>> = {
  TEXT_MESSAGE_CONTENT: [
    ["messageId", "id"],
    ["delta", "text"],
  ],
  TOOL_CALL_ARGS: [
    ["toolCallId", "id"],
    ["delta", "text"],
  ],
  REASONING_MESSAGE_CONTENT: [
    ["messageId", "id"],
    ["delta", "text"],
  ],
  TEXT_MESSAGE_START: [["messageId", "id"]],
  TEXT_MESSAGE_END: [["messageId", "id"]],
  REASONING_START: [["messageId", "id"]],
  REASONING_END: [["messageId", "id"]],
  REASONING_MESSAGE_START: [["messageId", "id"]],
  REASONING_MESSAGE_END: [["messageId", "id"]],
  REASONING_ENCRYPTED_VALUE: [
    ["subtype", "subtype"],
    ["entityId", "id"],
    ["encryptedValue", "text"],
  ],
  TOOL_CALL_START: [
    ["toolCallId", "id"],
    ["toolCallName", "id"],
  ],
  TOOL_CALL_END: [["toolCallId", "id"]],
  STATE_SNAPSHOT: [["snapshot", "any"]],
  STATE_DELTA: [["delta", "array"]],
  ACTIVITY_SNAPSHOT: [
    ["messageId", "id"],
    ["activityType", "text"],
    ["content", "object"],
  ],
  ACTIVITY_DELTA: [
    ["messageId", "id"],
    ["activityType", "text"],
    ["patch", "array"],
  ],
  SUBAGENT_STARTED: [
    ["subagentRunId", "id"],
    ["name", "text"],
  ],
  SUBAGENT_FINISHED: [["subagentRunId", "id"]],
  SUBAGENT_ERROR: [
    ["subagentRunId", "id"],
    ["message", "text"],
  ],
  STEP_STARTED: [["stepName", "text"]],
  STEP_FINISHED: [["stepName", "text"]],
  CUSTOM: [
    ["name", "text"],
    ["value", "any"],
  ],
  RAW: [["event", "any"]],
  "round.open": [],
  "round.close": [],
  "round.withdraw": [],
  "run.annotate": [["metadata", "object"]],
  "call.annotate": [
    ["callId", "id"],
    ["metadata", "object"],
  ],
  "call.replace_arguments": [
    ["callId", "id"],
    ["arguments", "text"],
  ],
  "call.invalidate": [
    ["callId", "id"],
    ["error", "invalid"],
  ],
  "call.ask": [["callId", "id"]],
  "call.progress": [
    ["callId", "id"],
    ["progress", "any"],
  ],
  "call.answer": [
    ["callId", "id"],
    ["outcome", "outcome"],
    ["answer", "answer"],
  ],
};

const ITEMS: ReadonlyMap<string, Fields> = new Map(Object.entries(byType));

/** Fields that may be absent, and what they must be where they are not. */
const optional: Readonly<Record<string, Kind>> = {
  again: "flag",
  approvalId: "id",
  claimId: "id",
  code: "text",
  declined: "flag",
  description: "text",
  expiresAt: "time",
  messageId: "id",
  metadata: "metadata",
  name: "text",
  parentMessageId: "id",
  parentSubagentRunId: "id",
  parentToolCallId: "id",
  reason: "text",
  replace: "flag",
  role: "role",
  signed: "flag",
  source: "text",
  steers: "ids",
  subagentRunId: "id",
  timestamp: "time",
};

const OPTIONAL: ReadonlyMap<string, Kind> = new Map(Object.entries(optional));

function checkItem(item: unknown, index: number): void {
  if (!isObject(item)) throw invalid(`run.append.items[${index}]`, "must be an object");
  const { type } = item;
  const fields = typeof type === "string" ? ITEMS.get(type) : undefined;
  if (!fields) {
    throw invalid(
      `run.append.items[${index}].type`,
      typeof type === "string"
        ? `${JSON.stringify(type.slice(0, 64))} is nothing an attempt may append`
        : "must be a string",
    );
  }
  for (const [field, kind] of fields) check(item, field, kind, "run.append.items", index);
  for (const field of Object.keys(item)) {
    const kind = OPTIONAL.get(field);
    if (kind) check(item, field, kind, "run.append.items", index);
  }
}

const PROBLEMS = {
  id: `must be a non-empty string of at most ${MAX_ID} characters`,
  ids: `must be an array of non-empty strings of at most ${MAX_ID} characters`,
  text: "must be a string",
  count: "must be a whole number of at least 1",
  any: "is missing",
  object: "must be an object",
  array: "must be an array",
  subtype: "must be tool-call or message",
  outcome: "must be ok or error",
  answer: "must be an answer",
  flag: "must be true or false",
  role: "must be developer, system, assistant, user or reasoning",
  time: "must be a whole number of milliseconds",
  invalid: "must be {message, paths?}: text, and an array of texts",
  metadata:
    "must be an object; its own `holdfast`, an object with executor client or provider, argumentsEncoding json or text, providerCallId an id, and deadlineAt a time",
} as const;

function check(
  owner: Record<string, unknown>,
  field: string,
  kind: Kind,
  where: string,
  index?: number,
): void {
  const value = owner[field];
  if (fits(value, kind)) return;
  const at = `${where}${index === undefined ? "" : `[${index}]`}.${field}`;
  if (kind === "answer") parse(f.answer, value, at);
  throw invalid(at, PROBLEMS[kind], kind === "id" ? tooLong(value, MAX_ID) : undefined);
}

function fits(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case "id":
      return isId(value);
    case "ids":
      return Array.isArray(value) && value.every((it) => isId(it));
    case "text":
      return typeof value === "string";
    case "count":
      return typeof value === "number" && Number.isSafeInteger(value) && value >= 1;
    case "any":
      return value !== undefined;
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "subtype":
      return value === "tool-call" || value === "message";
    case "outcome":
      return value === "ok" || value === "error";
    case "answer":
      return f.answer.safeParse(value).success;
    case "flag":
      return typeof value === "boolean";
    case "role":
      return ROLES.has(value);
    case "time":
      return Number.isSafeInteger(value);
    case "invalid":
      return isInvalidArguments(value);
    case "metadata":
      return isObject(value) && hasGoodHints(value);
  }
}

const ROLES: ReadonlySet<unknown> = new Set([
  "developer",
  "system",
  "assistant",
  "user",
  "reasoning",
]);

function isInvalidArguments(value: unknown): boolean {
  if (!isObject(value) || typeof value["message"] !== "string") return false;
  const { paths } = value;
  return paths === undefined || (Array.isArray(paths) && paths.every((it) => fits(it, "text")));
}

/** Metadata belongs to codecs, but for the hints that the protocol itself reads. */
function hasGoodHints(metadata: Record<string, unknown>): boolean {
  const hints = Object.hasOwn(metadata, "holdfast") ? metadata["holdfast"] : undefined;
  if (hints === undefined) return true;
  if (!isObject(hints)) return false;
  const { executor, argumentsEncoding: encoding, providerCallId, deadlineAt } = hints;
  return (
    (executor === undefined || executor === "client" || executor === "provider") &&
    (encoding === undefined || encoding === "json" || encoding === "text") &&
    (providerCallId === undefined || isId(providerCallId)) &&
    (deadlineAt === undefined || Number.isSafeInteger(deadlineAt))
  );
}
