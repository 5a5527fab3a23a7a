import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createEncoder } from "@holdfast/sdk/codec/ai-sdk";
import { uiMessageChunkSchema, type UIMessageChunk } from "ai";
import { describe, expect, test } from "vitest";
import { oracle, throughTheLog } from "./oracle.ts";
import { ask, call, samples } from "./samples.ts";

const all = Object.entries(samples) as [string, UIMessageChunk[]][];
const scope = { runId: "run-1", attempt: 1 };

/** The items of the last chunk. */
function itemsOf(chunks: readonly UIMessageChunk[], options = {}) {
  const encoder = createEncoder({ ...scope, ...options });
  return chunks.map((chunk) => encoder.encode(chunk)).at(-1) ?? [];
}

describe("every chunk type", () => {
  test("has a sample: the library's own schema names no other", () => {
    const source = fileURLToPath(import.meta.resolve("ai/package.json")).replace(
      "package.json",
      "src/ui-message-stream/ui-message-chunks.ts",
    );
    const named = new Set(
      [...readFileSync(source, "utf8").matchAll(/\bz\.literal\('([^']+)'\)/g)].map(([, it]) => it),
    );
    named.delete("text"); // a part of a steering message
    expect(new Set([...named, "data-*"])).toEqual(new Set(Object.keys(samples)));
  });

  test.each(all)("%s: its sample is what the library's schema takes", async (_, chunks) => {
    for (const chunk of chunks) {
      // The schema of citations is the library's own business.
      const { citations: _, ...plain } = chunk as UIMessageChunk & { citations?: unknown };
      const result = await uiMessageChunkSchema().validate?.(plain);
      expect(result).toMatchObject({ success: true });
    }
  });

  test.each(all)("%s: a field that the library may add survives", (_, chunks) => {
    const novel = { novel: { a: [1] } };
    const items = itemsOf([
      ...chunks.slice(0, -1),
      { ...chunks.at(-1), ...novel } as UIMessageChunk,
    ]);
    expect(JSON.stringify(items)).toContain('"novel":{"a":[1]}');
  });

  test.each(all)("%s: the message is what the library builds", async (_, chunks) => {
    expect(throughTheLog(chunks)).toEqual(await oracle(chunks));
  });

  test("that nobody knows yet is kept whole", () => {
    const chunk = { type: "hologram", url: "x" } as unknown as UIMessageChunk;
    const custom = { type: "CUSTOM", name: "ai-sdk.hologram", value: chunk };
    expect(itemsOf([chunk])).toEqual([custom]);
    expect(itemsOf([{ ...chunk, type: "constructor" } as unknown as UIMessageChunk])).toEqual([
      { type: "CUSTOM", name: "ai-sdk.constructor", value: { type: "constructor", url: "x" } },
    ]);
  });
});

test("message ids name run, attempt, round and part, since providers repeat the ids of parts", () => {
  const encoder = createEncoder({ runId: "run-1", attempt: 2 });
  const step: UIMessageChunk[] = [
    { type: "start-step" },
    { type: "text-start", id: "0" },
    { type: "text-end", id: "0" },
    call("c1"),
    { type: "finish-step" },
  ];
  const items = [...step, ...step].flatMap((chunk) => encoder.encode(chunk));
  const ids = items.flatMap((item) => (item.type === "TEXT_MESSAGE_START" ? [item.messageId] : []));
  expect(ids).toEqual(["run-1.2.1.1", "run-1.2.2.1"]);
  const parents = items.flatMap((item) =>
    item.type === "TOOL_CALL_START" ? [item.parentMessageId] : [],
  );
  expect(parents).toEqual(["run-1.2.1", "run-1.2.2"]);
});

test("a call that was never streamed is announced whole", () => {
  expect(itemsOf([{ type: "start-step" }, call("c1")])).toEqual([
    {
      type: "TOOL_CALL_START",
      toolCallId: "c1",
      toolCallName: "weather",
      parentMessageId: "run-1.1.1",
    },
    { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '{"city":"Graz"}' },
    { type: "TOOL_CALL_END", toolCallId: "c1", metadata: { "ai-sdk": { available: {} } } },
  ]);
});

describe("arguments", () => {
  const start: UIMessageChunk = { type: "tool-input-start", toolCallId: "c1", toolName: "weather" };
  const delta = (inputTextDelta: string): UIMessageChunk => ({
    type: "tool-input-delta",
    toolCallId: "c1",
    inputTextDelta,
  });
  const types = (chunks: UIMessageChunk[]) => itemsOf(chunks).map((item) => item.type);

  test("stand as they were streamed where the final input says the same", () => {
    expect(types([start, delta('{ "city":\n"Gr\\u0061z" }'), call("c1")])).toEqual([
      "TOOL_CALL_END",
    ]);
  });

  test("are replaced before END where the final input says something else", () => {
    const items = itemsOf([start, delta('{"city":"graz"}'), call("c1")]);
    expect(items.map((item) => item.type)).toEqual(["call.replace_arguments", "TOOL_CALL_END"]);
    expect(items[0]).toMatchObject({ callId: "c1", arguments: '{"city":"Graz"}' });
  });

  test("C96: empty ones mean {} and are not replaced", () => {
    expect(types([start, call("c1", {})])).toEqual(["TOOL_CALL_END"]);
  });

  test("that are text are announced as text, and never parsed", () => {
    const announced = itemsOf([{ ...start, inputEncoding: "text" } as UIMessageChunk]);
    expect(announced[0]).toMatchObject({ metadata: { holdfast: { argumentsEncoding: "text" } } });
    const text: UIMessageChunk = { ...start, inputEncoding: "text" } as UIMessageChunk;
    expect(types([text, delta("12"), call("c1", "12")])).toEqual(["TOOL_CALL_END"]);
  });

  test("C94: broken ones are kept as they are and invalidate the call", () => {
    const broken: UIMessageChunk = {
      type: "tool-input-error",
      toolCallId: "c1",
      toolName: "weather",
      input: '{"a":',
      errorText: "no JSON",
    };
    const items = itemsOf([start, delta('{"a":'), broken]);
    expect(items.map((item) => item.type)).toEqual(["TOOL_CALL_END", "call.invalidate"]);
    expect(items[1]).toMatchObject({ callId: "c1", error: { message: "no JSON" } });
    const executed = { ...broken, providerExecuted: true };
    expect(types([start, delta('{"a":'), executed])).toEqual(["TOOL_CALL_END"]);
  });
});

describe("answers", () => {
  test("carry the claim of whoever executes", () => {
    const claims = new Map([["c1", "claim-1"]]);
    const [answer] = itemsOf(samples["tool-output-available"], {
      claimOf: (callId: string) => claims.get(callId),
    });
    expect(answer).toEqual({
      type: "call.answer",
      callId: "c1",
      claimId: "claim-1",
      outcome: "ok",
      answer: { type: "json", value: { degrees: 21 } },
    });
  });

  test("of calls of an earlier attempt need no announcement", () => {
    const output: UIMessageChunk = { type: "tool-output-error", toolCallId: "old", errorText: "x" };
    expect(itemsOf([output])).toMatchObject([{ type: "call.answer", callId: "old" }]);
  });

  test("of a denied call are the agent's own refusal, or the harmless echo of a decision", () => {
    expect(itemsOf(samples["tool-output-denied"])).toMatchObject([
      {
        type: "call.answer",
        outcome: "error",
        declined: true,
        answer: { type: "text", text: "no" },
      },
    ]);
    const echo: UIMessageChunk = { type: "tool-output-denied", toolCallId: "c1" };
    expect(itemsOf([call("c1"), ask("a1"), echo])).toMatchObject([{ type: "call.annotate" }]);
  });
});

test("a request for approval keeps the framework's id and its signature", () => {
  expect(itemsOf([call("c1"), ask("a1")])).toEqual([
    {
      type: "call.ask",
      callId: "c1",
      approvalId: "a1",
      reason: "costs money",
      signed: true,
      metadata: { "ai-sdk": { signature: "sealed" } },
    },
  ]);
});

test("a call that was approved before and is announced again is the same call", () => {
  const approved = new Set(["c1"]);
  expect(itemsOf([call("c1")], { approved }).map((item) => item.type)).toEqual(["call.annotate"]);
});

test("in a round, a call with an approved one's id is that one only where its provider executes it", () => {
  const approved = new Set(["c1"]);
  const typesOf = (chunk: UIMessageChunk) =>
    itemsOf([{ type: "start-step" }, chunk], { approved }).map(({ type }) => type);
  expect(typesOf({ ...call("c1"), providerExecuted: true })).toEqual(["call.annotate"]);
  expect(typesOf(call("c1"))).toEqual(["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"]);
});

test("call ids are taken from whoever gives them", () => {
  const takeCallId = (id: string) => `s-${id}`;
  const items = itemsOf(samples["tool-output-available"], { takeCallId });
  expect(items).toMatchObject([{ callId: "s-c1" }]);
  expect(itemsOf([call("c1")], { takeCallId })[0]).toMatchObject({
    toolCallId: "s-c1",
    metadata: { holdfast: { providerCallId: "c1" } },
  });
});

test("an error in the stream is the encoder's failure", () => {
  const encoder = createEncoder(scope);
  expect(encoder.failure).toBeUndefined();
  encoder.encode({ type: "error", errorText: "overloaded" });
  expect(encoder.failure).toEqual({ code: "agent_error", message: "overloaded" });
});
