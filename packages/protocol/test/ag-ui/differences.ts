import { createAgUiReader, readAgUi, type VerifyOptions } from "@holdfast/protocol/ag-ui";
import { expect } from "vitest";
import { FINISH } from "./events.ts";
import { judge } from "./oracle.ts";

// What the tests of the differences to the published client share.

export const IDS = { threadId: "t", runId: "r" };
export const TOOLS = { frontendTools: ["ask"] };
export const success = (...pendingToolCallIds: string[]) => ({
  ...FINISH,
  outcome: { type: "success", pendingToolCallIds },
});
export const interrupted = (...ids: string[]) => ({
  ...FINISH,
  outcome: { type: "interrupt", interrupts: ids.map((id) => ({ id, reason: "ask" })) },
});
export const assistant = (id: string, ...calls: string[]) => ({
  role: "assistant",
  id,
  toolCalls: calls.map((it) => ({
    id: it,
    type: "function",
    function: { name: "ask", arguments: "{}" },
  })),
});
export const answer = (toolCallId: string) => ({
  role: "tool",
  id: `of ${toolCallId}`,
  toolCallId,
  content: "yes",
});

/** The client takes the stream; its last event is refused here, by this rule, in words that have these among them. */
export function refuses(
  rule: string,
  stream: readonly object[],
  options: VerifyOptions = {},
  words = "",
): void {
  expect(judge(stream).failed).toBeUndefined();
  const reader = createAgUiReader(options);
  const violations = stream.map((event) => readAgUi(reader, event).violation);
  const message = expect.stringContaining(words);
  expect(violations.pop()).toMatchObject({ rule, index: stream.length - 1, message });
  expect(violations.filter((it) => it !== undefined)).toEqual([]);
}

export function takes(stream: readonly object[], options: VerifyOptions = {}): void {
  expect(judge(stream).failed).toBeUndefined();
  const reader = createAgUiReader(options);
  for (const event of stream) expect(readAgUi(reader, event).violation).toBeUndefined();
}
