import type * as agui from "@ag-ui/core";
import type { Plain } from "../events.ts";
import {
  CONTENT,
  CONTEXT,
  INTERRUPT,
  MESSAGES,
  PATCH,
  RESUME_ENTRY,
  TOOL,
  USAGE,
  type Members,
} from "./content.ts";
import {
  BOOLEAN,
  choice,
  INTEGER,
  JSON_VALUE,
  listOf,
  NON_NULL,
  OBJECT,
  optional,
  record,
  required,
  STRING,
  union,
  type FieldsOf,
} from "./shape.ts";

/** Any event of AG-UI 1.0, its `type` a plain string literal. */
export type AgUiEvent = Plain<agui.Event>;

export type AgUiEventType = AgUiEvent["type"];

export type AgUiEventOf<T extends AgUiEventType> = Extract<AgUiEvent, { type: T }>;

/** What an AG-UI client sends to have a run. */
export type AgUiInput = agui.RunAgentInput;

export type AgUiMessage = agui.Message;

/** What an AG-UI agent says it can do: no transport of 1.0 carries it. */
export type AgUiCapabilities = agui.AgentCapabilities;

const INPUT_FIELDS = {
  threadId: required(STRING),
  runId: required(STRING),
  protocolVersion: optional(STRING),
  parentRunId: optional(STRING),
  state: optional(JSON_VALUE),
  messages: required(MESSAGES),
  tools: optional(listOf(TOOL)),
  context: optional(listOf(CONTEXT)),
  forwardedProps: optional(NON_NULL),
  resume: optional(listOf(RESUME_ENTRY)),
} satisfies FieldsOf<Defaulted<agui.RunAgentInput, "tools" | "context">>;
export const INPUT = record(INPUT_FIELDS);

const OUTCOMES = {
  success: record({
    type: required(choice("success")),
    pendingToolCallIds: optional(listOf(STRING)),
  } satisfies FieldsOf<agui.RunFinishedSuccessOutcome>),
  interrupt: record({
    type: required(choice("interrupt")),
    interrupts: required(listOf(INTERRUPT, 1)),
  } satisfies FieldsOf<agui.RunFinishedInterruptOutcome>),
  cancelled: record({
    type: required(choice("cancelled")),
  } satisfies FieldsOf<agui.RunFinishedCancelledOutcome>),
} satisfies Members<agui.RunFinishedOutcome, "type">;
const SUBAGENT_OUTCOMES = {
  success: record({
    type: required(choice("success")),
  } satisfies FieldsOf<agui.SubagentFinishedSuccessOutcome>),
  suspended: record({
    type: required(choice("suspended")),
    interruptIds: optional(listOf(STRING)),
  } satisfies FieldsOf<agui.SubagentFinishedSuspendedOutcome>),
} satisfies Members<agui.SubagentFinishedOutcome, "type">;

const BASE = {
  timestamp: optional(INTEGER),
  rawEvent: optional(NON_NULL),
  metadata: optional(OBJECT),
};
const OWNED = { ...BASE, subagentRunId: optional(STRING) };
const MESSAGE = { ...OWNED, messageId: required(STRING) };
const CALL = { ...OWNED, toolCallId: required(STRING) };
const STEP = { ...OWNED, stepName: required(STRING) };
const RUN = { ...BASE, threadId: required(STRING), runId: required(STRING) };
const SUBAGENT = { ...BASE, subagentRunId: required(STRING) };
const TEXT_ROLE = choice("developer", "system", "assistant", "user");

/**
 * Every type of event that AG-UI 1.0 has, with all its fields beside `type`. The compiler holds it against the
 * published types: no type and no field is forgotten or invented.
 */
export const AG_UI_EVENTS = {
  RUN_STARTED: {
    ...RUN,
    protocolVersion: optional(STRING),
    parentRunId: optional(STRING),
    input: optional(INPUT),
  },
  RUN_FINISHED: {
    ...RUN,
    result: optional(NON_NULL),
    outcome: optional(union("type", OUTCOMES)),
    usage: optional(USAGE),
  },
  RUN_ERROR: {
    ...BASE,
    message: required(STRING),
    code: optional(STRING),
    usage: optional(USAGE),
  },
  STEP_STARTED: STEP,
  STEP_FINISHED: STEP,
  TEXT_MESSAGE_START: { ...MESSAGE, role: optional(TEXT_ROLE), name: optional(STRING) },
  TEXT_MESSAGE_CONTENT: { ...MESSAGE, delta: required(STRING) },
  TEXT_MESSAGE_END: MESSAGE,
  TEXT_MESSAGE_CHUNK: {
    ...OWNED,
    messageId: optional(STRING),
    role: optional(TEXT_ROLE),
    delta: optional(STRING),
    name: optional(STRING),
  },
  TOOL_CALL_START: {
    ...CALL,
    toolCallName: required(STRING),
    parentMessageId: optional(STRING),
  },
  TOOL_CALL_ARGS: { ...CALL, delta: required(STRING) },
  TOOL_CALL_END: CALL,
  TOOL_CALL_CHUNK: {
    ...OWNED,
    toolCallId: optional(STRING),
    toolCallName: optional(STRING),
    parentMessageId: optional(STRING),
    delta: optional(STRING),
  },
  TOOL_CALL_RESULT: {
    ...CALL,
    messageId: required(STRING),
    content: required(CONTENT),
    role: optional(choice("tool")),
  },
  REASONING_START: MESSAGE,
  REASONING_MESSAGE_START: { ...MESSAGE, role: required(choice("reasoning")) },
  REASONING_MESSAGE_CONTENT: { ...MESSAGE, delta: required(STRING) },
  REASONING_MESSAGE_END: MESSAGE,
  REASONING_MESSAGE_CHUNK: { ...OWNED, messageId: optional(STRING), delta: optional(STRING) },
  REASONING_END: MESSAGE,
  REASONING_ENCRYPTED_VALUE: {
    ...OWNED,
    subtype: required(choice("tool-call", "message")),
    entityId: required(STRING),
    encryptedValue: required(STRING),
  },
  STATE_SNAPSHOT: { ...OWNED, snapshot: required(JSON_VALUE) },
  STATE_DELTA: { ...OWNED, delta: required(PATCH) },
  MESSAGES_SNAPSHOT: { ...BASE, messages: required(MESSAGES) },
  ACTIVITY_SNAPSHOT: {
    ...MESSAGE,
    activityType: required(STRING),
    content: required(OBJECT),
    replace: optional(BOOLEAN),
  },
  ACTIVITY_DELTA: { ...MESSAGE, activityType: required(STRING), patch: required(PATCH) },
  SUBAGENT_STARTED: {
    ...SUBAGENT,
    name: required(STRING),
    description: optional(STRING),
    parentSubagentRunId: optional(STRING),
    parentToolCallId: optional(STRING),
    parentMessageId: optional(STRING),
  },
  SUBAGENT_FINISHED: {
    ...SUBAGENT,
    result: optional(NON_NULL),
    outcome: optional(union("type", SUBAGENT_OUTCOMES)),
  },
  SUBAGENT_ERROR: { ...SUBAGENT, message: required(STRING), code: optional(STRING) },
  RAW: { ...OWNED, event: required(JSON_VALUE), source: optional(STRING) },
  CUSTOM: { ...OWNED, name: required(STRING), value: required(JSON_VALUE) },
} satisfies { readonly [T in AgUiEventType]: FieldsOf<Omit<AgUiEventOf<T>, "type">> };

/** A type whose members `K` may be absent on the wire, where a default takes their place. */
type Defaulted<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>;

/** Whether a type is one of AG-UI 1.0. */
export function isAgUiType(type: string): type is AgUiEventType {
  return Object.hasOwn(AG_UI_EVENTS, type);
}
