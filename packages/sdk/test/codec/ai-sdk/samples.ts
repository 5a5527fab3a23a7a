import type { UIMessageChunk } from "ai";

type DataType = Extract<UIMessageChunk["type"], `data-${string}`>;

const google = { google: { thoughtSignature: "c2ln" } };

/** One chunk of every type, after the chunks it needs before it. `data-*` stands for all data types. */
export const samples = {
  start: [{ type: "start", messageId: "m1", messageMetadata: { model: "x" } }],
  finish: [{ type: "finish", finishReason: "stop", messageMetadata: { total: 3 } }],
  "message-metadata": [{ type: "message-metadata", messageMetadata: { deep: { a: 1 } } }],
  error: [{ type: "error", errorText: "overloaded" }],
  abort: [{ type: "abort", reason: "stopped" }],
  "start-step": [{ type: "start-step" }],
  "finish-step": [{ type: "start-step" }, { type: "finish-step" }],
  "reset-step": [{ type: "start-step" }, { type: "reset-step" }],
  "text-start": [{ type: "text-start", id: "0", providerMetadata: google }],
  "text-delta": [
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: "Hi", providerMetadata: google },
  ],
  "text-end": [
    { type: "text-start", id: "0" },
    {
      type: "text-end",
      id: "0",
      citations: [{ type: "source", sourceId: "s", sources: [] }] as never,
      providerMetadata: google,
    },
  ],
  "reasoning-start": [{ type: "reasoning-start", id: "0", providerMetadata: google }],
  "reasoning-delta": [
    { type: "reasoning-start", id: "0" },
    { type: "reasoning-delta", id: "0", delta: "Hm", providerMetadata: google },
  ],
  "reasoning-end": [
    { type: "reasoning-start", id: "0" },
    { type: "reasoning-end", id: "0", providerMetadata: google },
  ],
  custom: [{ type: "custom", kind: "openai.thing", providerMetadata: google }],
  "source-url": [{ type: "source-url", sourceId: "s", url: "https://a.invalid", title: "A" }],
  "source-document": [
    { type: "source-document", sourceId: "s", mediaType: "text/plain", title: "A" },
  ],
  file: [{ type: "file", url: "data:text/plain;base64,QQ==", mediaType: "text/plain" }],
  "reasoning-file": [
    { type: "reasoning-file", url: "data:text/plain;base64,QQ==", mediaType: "text/plain" },
  ],
  "steering-message": [
    { type: "steering-message", id: "u2", parts: [{ type: "text", text: "Faster." }] },
  ],
  "tool-input-start": [
    {
      type: "tool-input-start",
      toolCallId: "c1",
      toolName: "weather",
      inputEncoding: "json",
      providerExecuted: false,
      providerMetadata: google,
      toolMetadata: { kind: "mcp" },
      dynamic: true,
      title: "Weather",
    },
  ],
  "tool-input-delta": [
    { type: "tool-input-start", toolCallId: "c1", toolName: "weather" },
    { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: '{"city":"G' },
  ],
  "tool-input-available": [call("c1")],
  "tool-input-error": [
    {
      type: "tool-input-error",
      toolCallId: "c1",
      toolName: "weather",
      input: '{"city":',
      errorText: "no JSON",
    },
  ],
  "tool-approval-request": [call("c1"), ask("a1")],
  "tool-approval-response": [
    call("c1"),
    { ...ask("a1"), isAutomatic: true },
    { type: "tool-approval-response", approvalId: "a1", approved: true, reason: "small" },
  ],
  "tool-output-available": [
    call("c1"),
    { type: "tool-output-available", toolCallId: "c1", output: { degrees: 21 } },
  ],
  "tool-output-error": [
    call("c1"),
    { type: "tool-output-error", toolCallId: "c1", errorText: "offline" },
  ],
  "tool-output-denied": [
    call("c1"),
    { ...ask("a1"), isAutomatic: true },
    { type: "tool-approval-response", approvalId: "a1", approved: false, reason: "no" },
    { type: "tool-output-denied", toolCallId: "c1" },
  ],
  "data-*": [{ type: "data-chart", id: "d1", data: { y: 1 } }],
} satisfies Record<Exclude<UIMessageChunk["type"], DataType> | "data-*", UIMessageChunk[]>;

export function call(toolCallId: string, input: unknown = { city: "Graz" }) {
  return {
    type: "tool-input-available",
    toolCallId,
    toolName: "weather",
    input,
  } as const satisfies UIMessageChunk;
}

export function ask(approvalId: string, toolCallId = "c1") {
  return {
    type: "tool-approval-request",
    approvalId,
    toolCallId,
    reason: "costs money",
    signature: "sealed",
  } as const satisfies UIMessageChunk;
}
