import fc from "fast-check";

// Random AG-UI material. Few ids, so that events meet; some of them hostile to careless tables.

const id = fc.constantFrom("a", "b", "1", "", "__proto__");
const tag = fc.option(fc.constantFrom("s", "1", "", "__proto__"), { nil: undefined, freq: 4 });
const text = fc.constantFrom("", "x", "{}");
const name = fc.constantFrom("look", "send", "constructor");
const metadata = fc.constantFrom({}, { a: 1 }, { a: null, b: [] });
const json = fc.constantFrom<unknown>(null, 0, "s", [], { a: null });

/** Builds an object without the members that are undefined, as JSON has it. */
function object(members: Readonly<Record<string, fc.Arbitrary<unknown>>>) {
  return fc.record(members).map((it): Record<string, unknown> => {
    return Object.fromEntries(Object.entries(it).filter(([, value]) => value !== undefined));
  });
}

function maybe<T>(value: fc.Arbitrary<T>, freq = 2): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined, freq });
}

function event(type: string, members: Readonly<Record<string, fc.Arbitrary<unknown>>> = {}) {
  return object({
    type: fc.constant(type),
    metadata: maybe(metadata, 1),
    rawEvent: fc.option(fc.constantFrom<unknown>({ p: 1 }, 0), { nil: undefined, freq: 1 }),
    timestamp: maybe(fc.constantFrom(0, 5), 1),
    ...members,
  });
}

const part = fc.constantFrom<unknown>(
  { type: "text", text: "hello" },
  { type: "image", source: { type: "url", value: "u" } },
  { type: "image", source: { type: "url", value: "u", mimeType: "image/png" } },
  { type: "audio", source: { type: "ftp", value: "u" } },
  { type: "document", source: { type: "data", value: "v", mimeType: "text/x" }, metadata: null },
  { type: "hologram" },
  { type: "binary", mimeType: "image/png", url: "u" },
  { type: "binary", mimeType: "audio", data: "d", filename: "f" },
  { type: "binary", mimeType: "image/png", id: "only" },
);
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }));
const call = object({
  id,
  type: fc.constant("function"),
  function: object({ name, arguments: text }),
});
export const message = fc.oneof(
  object({ role: fc.constantFrom("developer", "system"), id, content: text, subagentRunId: tag }),
  object({ role: fc.constant("user"), id, content, subagentRunId: tag }),
  object({
    role: fc.constant("assistant"),
    id,
    content: maybe(text),
    toolCalls: maybe(fc.array(call, { maxLength: 2 })),
    subagentRunId: tag,
  }),
  object({ role: fc.constant("tool"), id, toolCallId: id, content, error: maybe(text) }),
  object({ role: fc.constant("reasoning"), id, content: text, subagentRunId: tag }),
  object({
    role: fc.constant("activity"),
    id,
    activityType: name,
    content: fc.constant({}),
    subagentRunId: tag,
  }),
  object({ role: fc.constant("ghost"), id }),
);
const messages = fc.array(message, { maxLength: 3 });
const tools = fc.array(object({ name, description: text, parameters: maybe(json) }), {
  maxLength: 2,
});

const THREAD = fc.constant("t");
/** The run's ids always agree, so that a stream gets far: those that do not have tests of their own. */
const RUN = fc.constant("r");
export const runStarted = event("RUN_STARTED", {
  threadId: THREAD,
  runId: RUN,
  protocolVersion: maybe(fc.constant("1.0")),
  input: maybe(
    object({
      threadId: THREAD,
      runId: RUN,
      messages,
      tools: maybe(tools),
      state: maybe(json),
      forwardedProps: maybe(json),
      resume: maybe(
        fc.array(
          object({ interruptId: id, status: fc.constant("resolved"), payload: maybe(json) }),
          { maxLength: 2 },
        ),
      ),
    }),
    1,
  ),
});
const interrupt = object({ id, reason: text, subagentRunId: tag });
const outcome = fc.oneof(
  object({ type: fc.constant("success"), pendingToolCallIds: maybe(fc.array(id)) }),
  object({
    type: fc.constant("interrupt"),
    interrupts: fc.array(interrupt, { minLength: 1, maxLength: 2 }),
  }),
  fc.constantFrom<unknown>({ type: "cancelled" }, { type: "vanished" }, null),
);
export const runFinished = event("RUN_FINISHED", {
  threadId: THREAD,
  runId: RUN,
  outcome: maybe(outcome),
  result: maybe(json, 1),
});
export const runError = event("RUN_ERROR", { message: text, code: maybe(text) });

const owned = { subagentRunId: tag };
const role = maybe(fc.constantFrom("assistant", "user"));
const patch = fc.constantFrom<unknown>(
  [],
  [{ op: "add", path: "/a", value: null, extra: 1 }],
  [
    { op: "leap", path: "/a" },
    { op: "remove", path: "" },
  ],
);

/** Everything within a run, the frequent more frequent. */
const within = fc.oneof(
  { weight: 4, arbitrary: event("TEXT_MESSAGE_START", { messageId: id, role, ...owned }) },
  { weight: 4, arbitrary: event("TEXT_MESSAGE_CONTENT", { messageId: id, delta: text, ...owned }) },
  { weight: 3, arbitrary: event("TEXT_MESSAGE_END", { messageId: id, ...owned }) },
  {
    weight: 6,
    arbitrary: event("TEXT_MESSAGE_CHUNK", {
      messageId: maybe(id),
      role,
      name: maybe(name, 1),
      delta: maybe(text),
      ...owned,
    }),
  },
  {
    weight: 5,
    arbitrary: event("TOOL_CALL_START", {
      toolCallId: id,
      toolCallName: name,
      parentMessageId: fc.option(fc.constantFrom<unknown>("a", "b", null), {
        nil: undefined,
        freq: 2,
      }),
      ...owned,
    }),
  },
  { weight: 5, arbitrary: event("TOOL_CALL_ARGS", { toolCallId: id, delta: text, ...owned }) },
  { weight: 4, arbitrary: event("TOOL_CALL_END", { toolCallId: id, ...owned }) },
  {
    weight: 6,
    arbitrary: event("TOOL_CALL_CHUNK", {
      toolCallId: maybe(id),
      toolCallName: maybe(name),
      parentMessageId: maybe(fc.constantFrom<unknown>("a", null), 1),
      delta: maybe(text),
      ...owned,
    }),
  },
  {
    weight: 2,
    arbitrary: event("TOOL_CALL_RESULT", { messageId: id, toolCallId: id, content, ...owned }),
  },
  { weight: 2, arbitrary: event("REASONING_START", { messageId: id, ...owned }) },
  {
    weight: 2,
    arbitrary: event("REASONING_MESSAGE_START", {
      messageId: id,
      role: fc.constant("reasoning"),
      ...owned,
    }),
  },
  {
    weight: 2,
    arbitrary: event("REASONING_MESSAGE_CONTENT", { messageId: id, delta: text, ...owned }),
  },
  { weight: 2, arbitrary: event("REASONING_MESSAGE_END", { messageId: id, ...owned }) },
  { weight: 2, arbitrary: event("REASONING_END", { messageId: id, ...owned }) },
  {
    weight: 4,
    arbitrary: event("REASONING_MESSAGE_CHUNK", {
      messageId: maybe(id),
      delta: maybe(text),
      ...owned,
    }),
  },
  {
    weight: 1,
    arbitrary: event("REASONING_ENCRYPTED_VALUE", {
      subtype: fc.constantFrom("tool-call", "message"),
      entityId: id,
      encryptedValue: text,
      ...owned,
    }),
  },
  { weight: 2, arbitrary: event("STEP_STARTED", { stepName: id, ...owned }) },
  { weight: 2, arbitrary: event("STEP_FINISHED", { stepName: id, ...owned }) },
  { weight: 1, arbitrary: event("STATE_SNAPSHOT", { snapshot: json, ...owned }) },
  { weight: 1, arbitrary: event("STATE_DELTA", { delta: patch, ...owned }) },
  { weight: 1, arbitrary: event("MESSAGES_SNAPSHOT", { messages }) },
  {
    weight: 2,
    arbitrary: event("ACTIVITY_SNAPSHOT", {
      messageId: id,
      activityType: name,
      content: fc.constant({}),
      replace: maybe(fc.boolean()),
      ...owned,
    }),
  },
  {
    weight: 2,
    arbitrary: event("ACTIVITY_DELTA", { messageId: id, activityType: name, patch, ...owned }),
  },
  {
    weight: 2,
    arbitrary: event("SUBAGENT_STARTED", {
      subagentRunId: id,
      name,
      parentSubagentRunId: maybe(id, 1),
    }),
  },
  {
    weight: 2,
    arbitrary: event("SUBAGENT_FINISHED", {
      subagentRunId: id,
      result: maybe(json, 1),
      outcome: maybe(
        fc.constantFrom<unknown>(
          { type: "success" },
          { type: "suspended", interruptIds: ["i"] },
          { type: "asleep" },
        ),
      ),
    }),
  },
  { weight: 1, arbitrary: event("SUBAGENT_ERROR", { subagentRunId: id, message: text }) },
  { weight: 1, arbitrary: event("RAW", { event: json, source: maybe(text), ...owned }) },
  { weight: 1, arbitrary: event("CUSTOM", { name, value: json, ...owned }) },
  {
    weight: 2,
    arbitrary: event("THINKING_START", { title: maybe(text) }),
  },
  { weight: 1, arbitrary: event("THINKING_TEXT_MESSAGE_START") },
  { weight: 1, arbitrary: event("THINKING_TEXT_MESSAGE_CONTENT", { delta: text }) },
  { weight: 1, arbitrary: event("THINKING_TEXT_MESSAGE_END") },
  { weight: 1, arbitrary: event("THINKING_END") },
  { weight: 1, arbitrary: event("UNHEARD_OF", { anything: json }) },
);

/** Any event, most often one that may be legal. */
export const anyEvent = fc.oneof(
  { weight: 30, arbitrary: within },
  { weight: 2, arbitrary: runFinished },
  { weight: 1, arbitrary: runStarted },
  { weight: 1, arbitrary: runError },
);

/** Values that a field may hold by mistake. */
export const oddValue = fc.constantFrom<unknown>(
  null,
  0,
  1.5,
  -1,
  2 ** 53,
  true,
  "",
  "tool",
  [],
  [null],
  {},
  { type: "success", more: 1 },
  { type: "text", text: "t", toString: 1 },
  [{ op: "test", path: "a" }],
  [{ role: "user", id: "u", content: null }],
);

/** Names that a property may have by mistake, or from a later version. */
export const oddKey = fc.constantFrom("extra", "toString", "constructor", "__proto__", "role");
