import { aiSdk, toModelMessages, toUIMessage } from "@holdfast/sdk/codec/ai-sdk";
import { streamText, tool, toUIMessageStream, type ModelMessage, type UIMessageChunk } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { arbitraryChunks } from "./arbitrary-chunks.ts";
import { encodeInto, json, oracle, rebuilt } from "./oracle.ts";
import { ask, call } from "./samples.ts";
import { testSession, type TestSession } from "./session.ts";
import { faultsOf } from "./valid-history.ts";

const step = (...chunks: UIMessageChunk[]): UIMessageChunk[] => [
  { type: "start-step" },
  ...chunks,
  { type: "finish-step" },
];
const history = async (session: TestSession, runId = session.runId) =>
  json(await toModelMessages(session.state, { runId }));

/** The one result the history has for a call. */
function resultOf(messages: readonly ModelMessage[], toolCallId: string): unknown {
  const results = messages.flatMap((message) =>
    message.role === "tool"
      ? message.content.flatMap((part) =>
          part.type === "tool-result" && part.toolCallId === toolCallId ? [part.output] : [],
        )
      : [],
  );
  expect(results).toHaveLength(1);
  return results[0];
}

/** A run whose call waits for a person. */
function asking(): TestSession {
  const session = testSession();
  encodeInto(session, step(call("c1"), ask("a1")));
  session.finish();
  expect(session.state.runs.get(session.runId)?.status).toBe("suspended");
  return session;
}

describe("a call that waits", () => {
  test("C03: has a placeholder for its result, made for the export alone", async () => {
    const session = asking();
    const messages = await history(session);
    expect(faultsOf(messages)).toEqual([]);
    expect(resultOf(messages, "c1")).toEqual({
      type: "error-text",
      value: "Not executed yet: the call waits for approval.",
    });
    expect(session.call("c1").status).toBe("gated");
  });

  test("C07, C08: and that a new message abandons is told as not executed; the user's words stay", async () => {
    const session = asking();
    const { runId } = session.user({
      type: "message.send",
      messageId: "m2",
      content: "Never mind.",
    });
    const messages = await history(session, runId);
    expect(faultsOf(messages)).toEqual([]);
    expect(resultOf(messages, "c1")).toEqual({
      type: "error-text",
      value: "Not executed: the user sent another message instead.",
    });
    expect(messages.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
      [{ type: "text", text: "Go." }],
      [{ type: "text", text: "Never mind." }],
    ]);
  });

  test("and that somebody executed when it was abandoned is told as unknown", async () => {
    const session = testSession();
    encodeInto(session, step(call("c1")));
    session.agent({ type: "call.claim", callId: "c1" });
    session.finish();
    const { runId } = session.user({
      type: "message.send",
      messageId: "m2",
      content: "Never mind.",
    });
    expect(resultOf(await history(session, runId), "c1")).toMatchObject({
      value: expect.stringMatching(/^Outcome unknown/) as string,
    });
  });
});

/** Runs the agent's next attempt on the history, with the real `streamText`. */
async function goOn(session: TestSession, execute: (input: { city: string }) => unknown) {
  const attempt = session.start();
  const prompts: unknown[] = [];
  const model = new MockLanguageModelV4({
    doStream: (options) => {
      prompts.push(options.prompt);
      const usage = {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      };
      return Promise.resolve({
        stream: simulateReadableStream({
          initialDelayInMs: null,
          chunkDelayInMs: null,
          chunks: [
            { type: "stream-start", warnings: [] },
            { type: "text-start", id: "0" },
            { type: "text-delta", id: "0", delta: "Done." },
            { type: "text-end", id: "0" },
            { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage },
          ],
        }),
      });
    },
  });
  const tools = { weather: tool({ inputSchema: z.object({ city: z.string() }), execute }) };
  const before = toUIMessage(session.state, session.runId);
  const result = streamText({
    model,
    tools,
    messages: await aiSdk.history(session.state, { runId: session.runId }),
    toolApproval: { weather: "user-approval" },
  });
  const chunks: UIMessageChunk[] = [];
  const stream = toUIMessageStream({ stream: result.stream, tools, originalMessages: [before] });
  for await (const chunk of stream) chunks.push(json(chunk));
  encodeInto(session, chunks, attempt);
  session.finish();
  return { chunks, before, prompts };
}

describe("an approval", () => {
  test("ends the history in its response, so that streamText executes the call, once", async () => {
    const session = asking();
    session.decide("a1", true, { reason: "fine" });
    expect((await history(session)).at(-1)).toMatchObject({
      role: "tool",
      content: [{ type: "tool-approval-response", approvalId: "a1", approved: true }],
    });
    expect(faultsOf(await history(session))).toEqual([]);
    const inputs: unknown[] = [];
    const { chunks, before } = await goOn(session, (input) => {
      inputs.push(input);
      return { degrees: 21 };
    });
    expect(inputs).toEqual([{ city: "Graz" }]);
    expect(session.refused).toEqual([]);
    expect(session.call("c1")).toMatchObject({
      outcome: "ok",
      answer: { answer: { type: "json", value: { degrees: 21 } } },
    });
    expect(session.state.runs.get(session.runId)).toMatchObject({ outcome: "complete" });
    expect(rebuilt(session)).toEqual(await oracle(chunks, before));
    const after = await history(session);
    expect(faultsOf(after)).toEqual([]);
    expect(resultOf(after, "c1")).toEqual({ type: "json", value: { degrees: 21 } });
  });

  test("C05: that is a denial is a result the model sees; the tool never runs", async () => {
    const session = asking();
    session.decide("a1", false, { reason: "too dear" });
    const messages = await history(session);
    expect(faultsOf(messages)).toEqual([]);
    expect(resultOf(messages, "c1")).toEqual({
      type: "error-text",
      value: "Not executed: the user denied this call: too dear",
    });
    const { prompts } = await goOn(session, () => {
      throw new Error("executed");
    });
    expect(JSON.stringify(prompts)).toContain("too dear");
    expect(session.call("c1").outcome).toBe("denied");
    expect(session.refused).toEqual([]);
  });

  test("of edited arguments runs what was approved", async () => {
    const session = testSession();
    const { signature: _, ...request } = ask("a1");
    encodeInto(session, step(call("c1"), { ...request, inputSchemaInput: { city: "Graz" } }));
    session.finish();
    session.decide("a1", true, { arguments: '{"city":"Linz"}' });
    const inputs: unknown[] = [];
    await goOn(session, (input) => inputs.push(input));
    expect(inputs).toEqual([{ city: "Linz" }]);
  });

  test("of a call that the provider executes is sent back to it", async () => {
    const session = testSession();
    encodeInto(session, step({ ...call("c1"), providerExecuted: true, dynamic: true }, ask("a1")));
    session.finish();
    session.decide("a1", true);
    const [, assistant, answer] = await history(session);
    expect(assistant?.content).toMatchObject([
      { type: "tool-call", providerExecuted: true },
      { type: "tool-approval-request", approvalId: "a1" },
    ]);
    expect(answer?.content).toMatchObject([
      { type: "tool-approval-response", approved: true, providerExecuted: true },
    ]);
  });

  test("belongs to its own run: another run's history has a placeholder", async () => {
    const session = asking();
    session.decide("a1", true);
    const { runId } = session.user({ type: "message.send", messageId: "m2", content: "And?" });
    const messages = await history(session, runId);
    expect(faultsOf(messages)).toEqual([]);
    expect(resultOf(messages, "c1")).toMatchObject({ value: "Not executed yet." });
  });
});

test("an approved call that later content follows is told as not executed: no framework would execute it", async () => {
  const session = asking();
  session.decide("a1", true);
  const attempt = session.start();
  const output: UIMessageChunk = { type: "tool-output-available", toolCallId: "c2", output: 1 };
  encodeInto(session, step(call("c2"), output), attempt);
  session.timer({ type: "lease", runId: session.runId, attempt });
  expect(session.call("c1").status).toBe("open");
  const messages = await history(session);
  expect(faultsOf(messages)).toEqual([]);
  expect(resultOf(messages, "c1")).toMatchObject({ value: "Not executed yet." });
});

test("a call that its provider never answered leaves: nobody else can have a result for it", async () => {
  const session = testSession();
  encodeInto(session, step({ ...call("c1"), providerExecuted: true }));
  session.finish();
  expect(session.call("c1").reason).toBe("unanswered");
  expect(JSON.stringify(await history(session))).not.toContain("c1");
});

test("a client's answer is in the history of the run that goes on", async () => {
  const session = testSession({ tools: [{ name: "weather", executor: "client" }] });
  encodeInto(session, step(call("c1")));
  session.finish();
  session.user({
    type: "call.answer",
    callId: "c1",
    outcome: "ok",
    answer: { type: "json", value: { place: "here" } },
  });
  expect(resultOf(await history(session), "c1")).toEqual({
    type: "json",
    value: { place: "here" },
  });
});

test.each(["", "null", "[1]", '"words"', '{"a":', "raw text"])(
  "C12: a call whose arguments were %j is sent with an object",
  async (text) => {
    const session = testSession();
    const error = { type: "tool-input-error", toolCallId: "c1", toolName: "weather" } as const;
    encodeInto(session, step({ ...error, input: text, errorText: "no object" }));
    const messages = await history(session);
    expect(faultsOf(messages)).toEqual([]);
    // Raw text is kept as text.
    expect(session.call("c1").arguments).toBe(text);
    expect(resultOf(messages, "c1")).toEqual({ type: "error-text", value: "no object" });
  },
);

test("a tool that takes text is sent its text", async () => {
  const session = testSession();
  encodeInto(session, step(call("c1", "SELECT 1")));
  expect(faultsOf(await history(session), ["weather"])).toEqual([]);
});

test("what a provider would look up by its id is spelled out where the step broke off", async () => {
  const item = { openai: { itemId: "msg_1", phase: "x" } };
  const chunks: UIMessageChunk[] = [
    { type: "start-step" },
    { type: "text-start", id: "0", providerMetadata: item },
    { type: "text-delta", id: "0", delta: "Well" },
    { type: "text-end", id: "0", providerMetadata: item },
    { type: "finish-step" },
  ];
  const text = async (session: TestSession) => {
    session.finish();
    const [, message] = await history(session);
    return message?.content;
  };
  const whole = testSession();
  encodeInto(whole, chunks);
  expect(await text(whole)).toEqual([{ type: "text", text: "Well", providerOptions: item }]);
  const cut = testSession();
  encodeInto(cut, chunks.slice(0, -1));
  expect(await text(cut)).toEqual([
    { type: "text", text: "Well", providerOptions: { openai: { phase: "x" } } },
  ]);
});

test("a file that says nowhere where it is does not keep the rest from being sent", async () => {
  const session = testSession();
  const text: UIMessageChunk = { type: "text-start", id: "0" };
  encodeInto(session, step(text, { type: "file", url: "nowhere", mediaType: "text/plain" }));
  expect(await history(session)).toHaveLength(2);
});

test("the history is valid wherever a stream breaks off, and however its run goes on", async () => {
  const send = (session: TestSession, more = {}) =>
    session.user({ type: "message.send", messageId: "m2", content: "So?", ...more }).runId;
  const here = (session: TestSession, act: () => unknown) => (act(), session.runId);
  /** Each ends or leaves the attempt, and says whose history is read then. */
  const ends: Record<string, (session: TestSession) => string | undefined> = {
    nothing: (session) => session.runId,
    finish: (session) => here(session, () => session.finish()),
    fail: (session) => here(session, () => session.fail()),
    cancel: (session) =>
      here(session, () => session.user({ type: "run.cancel", runId: session.runId })),
    lose: (session) =>
      here(session, () => session.timer({ type: "lease", runId: session.runId, attempt: 1 })),
    abandon(session) {
      session.finish();
      return send(session);
    },
    replace: (session) => send(session, { whileActive: "replace" }),
    concurrent: (session) => send(session, { whileActive: "concurrent" }),
  };
  await fc.assert(
    fc.asyncProperty(
      arbitraryChunks,
      fc.nat(),
      fc.constantFrom(...Object.keys(ends)),
      async (chunks, cut, end) => {
        const session = testSession();
        encodeInto(session, chunks.slice(0, 1 + (cut % chunks.length)));
        const runId = ends[end]?.(session) ?? "";
        const messages = await history(session, runId);
        expect(faultsOf(messages, ["weather", "__proto__", "a-b"])).toEqual([]);
        expect(messages[0]).toEqual({ role: "user", content: [{ type: "text", text: "Go." }] });
      },
    ),
    { numRuns: 200 },
  );
});
