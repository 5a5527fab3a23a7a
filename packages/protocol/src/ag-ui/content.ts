import type * as agui from "@ag-ui/core";
import {
  choice,
  COUNT,
  JSON_VALUE,
  listOf,
  NON_NULL,
  OBJECT,
  optional,
  POINTER,
  record,
  required,
  STRING,
  union,
  type FieldsOf,
  type RecordShape,
} from "./shape.ts";

// What events and inputs hold: messages, content parts, tools, interrupts, resume entries, patches, usage.

const DATA = {
  type: required(choice("data")),
  value: required(STRING),
  mimeType: required(STRING),
} satisfies FieldsOf<agui.DataSource>;
const URL = {
  type: required(choice("url")),
  value: required(STRING),
  mimeType: optional(STRING),
} satisfies FieldsOf<agui.UrlSource>;
const FILE = {
  type: required(choice("file")),
  value: required(STRING),
  provider: optional(STRING),
  mimeType: optional(STRING),
} satisfies FieldsOf<agui.FileSource>;
const SOURCES = {
  data: record(DATA),
  url: record(URL),
  file: record(FILE),
} satisfies Members<agui.PartSource, "type">;

const TEXT = {
  type: required(choice("text")),
  id: optional(STRING),
  text: required(STRING),
  metadata: optional(NON_NULL),
} satisfies FieldsOf<agui.TextPart>;
const media = <T extends string>(type: T) =>
  record({
    type: required(choice(type)),
    id: optional(STRING),
    source: required(union("type", SOURCES)),
    metadata: optional(NON_NULL),
  } satisfies FieldsOf<agui.ImagePart>);
const PARTS = {
  text: record(TEXT),
  image: media("image"),
  audio: media("audio"),
  video: media("video"),
  document: media("document"),
} satisfies Members<agui.ContentPart, "type">;
export const CONTENT = {
  is: "text or list",
  list: listOf(union("type", PARTS)),
} as const;

const COMMON = {
  subagentRunId: optional(STRING),
  id: required(STRING),
  metadata: optional(OBJECT),
};
const NAMED = { ...COMMON, name: optional(STRING), encryptedValue: optional(STRING) };
const CALL = {
  id: required(STRING),
  type: required(choice("function")),
  function: required(
    record({
      name: required(STRING),
      arguments: required(STRING),
    } satisfies FieldsOf<agui.FunctionCall>),
  ),
  encryptedValue: optional(STRING),
  metadata: optional(OBJECT),
} satisfies FieldsOf<agui.ToolCall>;
const DEVELOPER = {
  ...NAMED,
  role: required(choice("developer")),
  content: required(STRING),
} satisfies FieldsOf<agui.DeveloperMessage>;
const SYSTEM = {
  ...NAMED,
  role: required(choice("system")),
  content: required(STRING),
} satisfies FieldsOf<agui.SystemMessage>;
const ASSISTANT = {
  ...NAMED,
  role: required(choice("assistant")),
  content: optional(STRING),
  toolCalls: optional(listOf(record(CALL))),
} satisfies FieldsOf<agui.AssistantMessage>;
const USER = {
  ...NAMED,
  role: required(choice("user")),
  content: required(CONTENT),
} satisfies FieldsOf<agui.UserMessage>;
const TOOL_MESSAGE = {
  ...COMMON,
  role: required(choice("tool")),
  content: required(CONTENT),
  toolCallId: required(STRING),
  error: optional(STRING),
  encryptedValue: optional(STRING),
} satisfies FieldsOf<agui.ToolMessage>;
const ACTIVITY = {
  ...COMMON,
  role: required(choice("activity")),
  activityType: required(STRING),
  content: required(OBJECT),
} satisfies FieldsOf<agui.ActivityMessage>;
const REASONING = {
  ...COMMON,
  role: required(choice("reasoning")),
  content: required(STRING),
  encryptedValue: optional(STRING),
} satisfies FieldsOf<agui.ReasoningMessage>;
const MEMBERS = {
  developer: record(DEVELOPER),
  system: record(SYSTEM),
  assistant: record(ASSISTANT),
  user: record(USER),
  tool: record(TOOL_MESSAGE),
  activity: record(ACTIVITY),
  reasoning: record(REASONING),
} satisfies Members<agui.Message, "role">;
export const MESSAGES = listOf(union("role", MEMBERS));

export const TOOL = record({
  name: required(STRING),
  description: required(STRING),
  parameters: optional(NON_NULL),
  metadata: optional(OBJECT),
} satisfies FieldsOf<agui.Tool>);

export const INTERRUPT = record({
  subagentRunId: optional(STRING),
  id: required(STRING),
  reason: required(STRING),
  message: optional(STRING),
  toolCallId: optional(STRING),
  responseSchema: optional(OBJECT),
  expiresAt: optional(STRING),
  metadata: optional(OBJECT),
} satisfies FieldsOf<agui.Interrupt>);

export const RESUME_ENTRY = record({
  interruptId: required(STRING),
  status: required(choice("resolved", "cancelled")),
  payload: optional(NON_NULL),
  metadata: optional(OBJECT),
} satisfies FieldsOf<agui.ResumeEntry>);

export const CONTEXT = record({
  description: required(STRING),
  value: required(STRING),
} satisfies FieldsOf<agui.Context>);

export const USAGE = listOf(
  record({
    provider: optional(STRING),
    model: optional(STRING),
    inputTokens: optional(COUNT),
    outputTokens: optional(COUNT),
    totalTokens: optional(COUNT),
    reasoningTokens: optional(COUNT),
    cachedInputTokens: optional(COUNT),
    cacheWriteInputTokens: optional(COUNT),
  } satisfies FieldsOf<agui.TokenUsage>),
);

/** RFC 6902, 4: members that an operation does not define are ignored, so its records are open. */
const operation = (op: string, more: "value" | "from" | "none"): RecordShape =>
  record(
    {
      op: required(choice(op)),
      path: required(POINTER),
      ...(more === "value" && { value: required(JSON_VALUE) }),
      ...(more === "from" && { from: required(POINTER) }),
    },
    { open: true },
  );
const OPERATIONS = {
  add: operation("add", "value"),
  remove: operation("remove", "none"),
  replace: operation("replace", "value"),
  move: operation("move", "from"),
  copy: operation("copy", "from"),
  test: operation("test", "value"),
} satisfies Members<agui.JsonPatchOperation, "op">;
export const PATCH = listOf(union("op", OPERATIONS));

/** One record for each member of a union, by what tells them apart. */
export type Members<T, By extends keyof T> = {
  readonly [K in T[By] & string]: RecordShape;
};
