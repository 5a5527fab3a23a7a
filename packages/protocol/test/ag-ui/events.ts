import { createAgUiReader, readAgUi, type AgUiReading } from "@holdfast/protocol/ag-ui";
import type { VerifyOptions } from "@holdfast/protocol/ag-ui";

// Events in short, for tables of streams.

type Fields = Readonly<Record<string, unknown>>;

export const START = { type: "RUN_STARTED", threadId: "t", runId: "r" };
export const FINISH = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
export const FAIL = { type: "RUN_ERROR", message: "no" };

export const say = (messageId: string, more: Fields = {}) => ({
  type: "TEXT_MESSAGE_START",
  messageId,
  ...more,
});
export const on = (messageId: string, more: Fields = {}) => ({
  type: "TEXT_MESSAGE_CONTENT",
  messageId,
  delta: "x",
  ...more,
});
export const said = (messageId: string, more: Fields = {}) => ({
  type: "TEXT_MESSAGE_END",
  messageId,
  ...more,
});
export const call = (toolCallId: string, toolCallName = "look", more: Fields = {}) => ({
  type: "TOOL_CALL_START",
  toolCallId,
  toolCallName,
  ...more,
});
export const args = (toolCallId: string, more: Fields = {}) => ({
  type: "TOOL_CALL_ARGS",
  toolCallId,
  delta: "{}",
  ...more,
});
export const called = (toolCallId: string, more: Fields = {}) => ({
  type: "TOOL_CALL_END",
  toolCallId,
  ...more,
});
export const result = (toolCallId: string, messageId = `of ${toolCallId}`, more: Fields = {}) => ({
  type: "TOOL_CALL_RESULT",
  toolCallId,
  messageId,
  content: "done",
  ...more,
});
export const whole = (toolCallId: string, toolCallName = "look") => [
  call(toolCallId, toolCallName),
  called(toolCallId),
];
export const subagent = (subagentRunId: string, more: Fields = {}) => ({
  type: "SUBAGENT_STARTED",
  subagentRunId,
  name: "helper",
  ...more,
});
export const of = (type: string, more: Fields = {}) => ({ type, ...more });

export const reasoning = (type: string, messageId: string) => ({
  type,
  messageId,
  ...(type === "REASONING_MESSAGE_START" && { role: "reasoning" }),
});
export const step = (type: string, stepName: string, more = {}) => ({ type, stepName, ...more });
export const snapshot = (...messages: object[]) => ({ type: "MESSAGES_SNAPSHOT", messages });

/** Reads a whole stream; what came of its last event. */
export function readAll(stream: readonly unknown[], options: VerifyOptions = {}): AgUiReading {
  const reader = createAgUiReader(options);
  let last: AgUiReading = { events: [], warnings: [] };
  for (const event of stream) last = readAgUi(reader, event);
  return last;
}

/** The rules of all warnings of a stream. */
export function warningsOf(stream: readonly unknown[], options: VerifyOptions = {}): string[] {
  const reader = createAgUiReader(options);
  return stream.flatMap((event) => readAgUi(reader, event).warnings.map(({ rule }) => rule));
}
