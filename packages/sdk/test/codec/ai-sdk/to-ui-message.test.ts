import { createEncoder, toUIMessage, toUIMessages } from "@holdfast/sdk/codec/ai-sdk";
import type { UIMessage, UIMessageChunk } from "ai";
import { describe, expect, test } from "vitest";
import { encodeInto, json, oracle, rebuilt, throughTheLog } from "./oracle.ts";
import { ask, call } from "./samples.ts";
import { testSession, type TestSession } from "./session.ts";

const step = (...chunks: UIMessageChunk[]): UIMessageChunk[] => [
  { type: "start-step" },
  ...chunks,
  { type: "finish-step" },
];
const output = (value: unknown, more = {}): UIMessageChunk => ({
  type: "tool-output-available",
  toolCallId: "c1",
  output: value,
  ...more,
});

/** The part of the call `c1`. */
function part(session: TestSession): Record<string, unknown> | undefined {
  const { parts } = rebuilt(session);
  return parts.find((it) => "toolCallId" in it && it.toolCallId === "c1");
}

describe("C103: falsy outputs", () => {
  test.each([0, "", false, null, undefined])("%j: is the output", async (value) => {
    const chunks = step(call("c1"), output(value));
    expect(throughTheLog(chunks)).toEqual(await oracle(chunks));
    const session = testSession();
    encodeInto(session, chunks);
    expect(part(session)).toEqual(
      json({
        type: "tool-weather",
        toolCallId: "c1",
        state: "output-available",
        input: { city: "Graz" },
        output: value,
      }),
    );
  });

  test.each([0, "", false, null, undefined])("%j: is the preliminary output", async (value) => {
    const chunks = step(call("c1"), output(value, { preliminary: true }));
    expect(throughTheLog(chunks)).toEqual(await oracle(chunks));
    const session = testSession();
    encodeInto(session, chunks);
    expect(part(session)).toMatchObject({ state: "output-available", preliminary: true });
    expect(session.call("c1").status).not.toBe("settled");
  });
});

describe("arguments", () => {
  const start = (toolCallId: string): UIMessageChunk => ({
    type: "tool-input-start",
    toolCallId,
    toolName: "weather",
  });
  const delta = (toolCallId: string, inputTextDelta: string): UIMessageChunk => ({
    type: "tool-input-delta",
    toolCallId,
    inputTextDelta,
  });

  test("C97, C98: arrive for any number of calls at once, with text between them", async () => {
    const chunks = step(
      start("c1"),
      delta("c1", '{"city":'),
      { type: "text-start", id: "0" },
      start("c2"),
      { type: "text-delta", id: "0", delta: "Looking" },
      delta("c2", '{"city":"Linz"'),
      delta("c1", '"Graz"}'),
      { type: "text-end", id: "0" },
      delta("c2", "}"),
      call("c2", { city: "Linz" }),
      call("c1"),
    );
    expect(throughTheLog(chunks)).toEqual(await oracle(chunks));
  });

  test("C96: that are empty are {}", async () => {
    const chunks = step(start("c1"), call("c1", {}));
    expect(throughTheLog(chunks)).toEqual(await oracle(chunks));
    const session = testSession();
    encodeInto(session, chunks);
    expect(part(session)).toMatchObject({ input: {} });
  });

  test("C94: that are broken end the call in an error the model can read, and nothing else", async () => {
    const error = { type: "tool-input-error", toolCallId: "c1", toolName: "weather" } as const;
    const chunks = [
      ...step(start("c1"), delta("c1", '{"a":'), {
        ...error,
        input: '{"a":',
        errorText: "no JSON",
      }),
      ...step({ type: "text-start", id: "0" }, { type: "text-end", id: "0" }),
    ];
    const session = testSession();
    encodeInto(session, chunks);
    expect(rebuilt(session)).toEqual(await oracle(chunks));
    expect(session.call("c1")).toMatchObject({
      arguments: '{"a":',
      outcome: "error",
      reason: "invalid_arguments",
    });
  });
});

test("an error in the input of a call that its provider executes is followed by its output", async () => {
  const error: UIMessageChunk = {
    type: "tool-input-error",
    toolCallId: "c1",
    toolName: "search",
    input: { q: "x" },
    errorText: "no such tool",
    providerExecuted: true,
    dynamic: true,
  };
  const executed = { providerExecuted: true, dynamic: true };
  expect(throughTheLog(step(error))).toEqual(await oracle(step(error)));
  const chunks = step(error, output({ found: 1 }, executed));
  const session = testSession();
  encodeInto(session, chunks);
  expect(rebuilt(session)).toEqual(await oracle(chunks));
  expect(session.call("c1").outcome).toBe("ok");
});

test("C33: an id that the provider uses again in a later step is another call, under an id of the session's own", async () => {
  const chunks = [
    ...step(call("c1"), output("sunny")),
    ...step(call("c1", { city: "Linz" }), output("rain")),
  ];
  const session = testSession();
  encodeInto(session, chunks);
  expect(session.refused).toEqual([]);
  const scoped = [...session.state.calls.keys()].find((id) => id !== "c1");
  const expected = await oracle(chunks);
  expect(rebuilt(session)).toEqual({
    ...expected,
    parts: expected.parts.map((it, at) => (at === 3 ? { ...it, toolCallId: scoped } : it)),
  });
});

test("a step that is reset leaves nothing but its beginning", async () => {
  const chunks: UIMessageChunk[] = [
    { type: "start-step" },
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: "No" },
    call("c1"),
    { type: "reset-step" },
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: "Yes" },
    { type: "text-end", id: "0" },
    { type: "finish-step" },
  ];
  expect(throughTheLog(chunks)).toEqual(await oracle(chunks));
  const session = testSession();
  encodeInto(session, chunks);
  expect(session.call("c1").outcome).toBe("superseded");
});

describe("what the session knows better than the stream", () => {
  function asked(): TestSession {
    const session = testSession();
    encodeInto(session, step(call("c1"), ask("a1")));
    session.finish();
    return session;
  }

  test("a person approved", () => {
    const session = asked();
    expect(part(session)).toMatchObject({ state: "approval-requested" });
    session.decide("a1", true, { reason: "fine" });
    expect(part(session)).toMatchObject({
      state: "approval-responded",
      approval: {
        id: "a1",
        requestReason: "costs money",
        signature: "sealed",
        approved: true,
        reason: "fine",
      },
    });
  });

  test("a person denied", () => {
    const session = asked();
    session.decide("a1", false);
    expect(part(session)).toMatchObject({ state: "output-denied", approval: { approved: false } });
  });

  test("the server asks for an approval of its own", () => {
    const session = testSession({ tools: [{ name: "weather", approval: "always" }] });
    encodeInto(session, step(call("c1")));
    expect(part(session)).toMatchObject({
      state: "approval-requested",
      approval: { id: session.call("c1").approval?.id },
    });
  });

  test("what an agent says of a decision decides nothing", () => {
    const session = testSession();
    const response = { type: "tool-approval-response", approvalId: "a1", approved: true } as const;
    encodeInto(session, [...step(call("c1"), ask("a1")), response]);
    expect(part(session)).toMatchObject({ state: "approval-requested" });
    expect(session.call("c1").status).toBe("gated");
  });

  test("an application answered", () => {
    const session = testSession({ tools: [{ name: "weather", executor: "client" }] });
    encodeInto(session, step(call("c1")));
    session.user({
      type: "call.answer",
      callId: "c1",
      outcome: "ok",
      answer: { type: "text", text: "sunny" },
    });
    expect(part(session)).toMatchObject({ state: "output-available", output: "sunny" });
  });

  test("the call was cancelled: the part says so, without a request nobody will answer", () => {
    const session = asked();
    session.user({ type: "call.cancel", callId: "c1", reason: "Wrong city." });
    expect(part(session)).toMatchObject({
      state: "output-error",
      errorText: expect.stringMatching(/^Not executed: .*cancelled.*Wrong city\.$/) as string,
    });
    expect(part(session)).not.toHaveProperty("approval");
  });

  test("the run ended: nothing in it streams any more", () => {
    const session = testSession();
    encodeInto(session, [
      { type: "start-step" },
      { type: "text-start", id: "0" },
      { type: "tool-input-start", toolCallId: "c1", toolName: "weather" },
    ]);
    session.user({ type: "run.cancel", runId: session.runId });
    expect(rebuilt(session).parts).toMatchObject([
      { type: "step-start" },
      { type: "text", state: "done" },
      { type: "tool-weather", state: "output-error" },
    ]);
  });
});

test("an attempt's metadata comes after that of the attempts before it; the message's id stays", () => {
  const session = testSession();
  const encode = (attempt: number, stream: number, chunks: UIMessageChunk[]) => {
    const encoder = createEncoder({ runId: session.runId, attempt, stream });
    for (const chunk of chunks) session.append(encoder.encode(chunk));
  };
  const start = (messageId: string, messageMetadata: unknown): UIMessageChunk => ({
    type: "start",
    messageId,
    messageMetadata,
  });
  encode(1, 0, [start("m1", { a: { x: 1 }, b: 1 })]);
  encode(1, 1, [start("m2", { a: { y: 1 } }), { type: "finish", messageMetadata: { b: 2 } }]);
  expect(rebuilt(session)).toMatchObject({ id: "m1", metadata: { a: { x: 1, y: 1 }, b: 2 } });
});

test("a session's messages come in the order of the log; a run that said nothing has none", () => {
  const session = testSession();
  expect(toUIMessages(session.state)).toHaveLength(1);
  encodeInto(session, step({ type: "text-start", id: "0" }, { type: "text-end", id: "0" }));
  session.finish();
  const image = {
    type: "image",
    source: { type: "data", value: "QQ==", mimeType: "image/png" },
  } as const;
  session.user({
    type: "message.send",
    messageId: "m2",
    content: [{ type: "text", text: "See:" }, image],
    metadata: { "ai-sdk": { metadata: { from: "page" } } },
  });
  const expected: UIMessage[] = [
    { id: "message-1", role: "user", parts: [{ type: "text", text: "Go." }] },
    {
      id: "run-1",
      role: "assistant",
      parts: [{ type: "step-start" }, { type: "text", text: "", state: "done" }],
    },
    {
      id: "m2",
      role: "user",
      metadata: { from: "page" },
      parts: [
        { type: "text", text: "See:" },
        { type: "file", mediaType: "image/png", url: "data:image/png;base64,QQ==" },
      ],
    },
  ];
  expect(json(toUIMessages(session.reread()))).toEqual(json(expected));
});

test("a run the state does not hold is refused by name", () => {
  expect(() => toUIMessage(testSession().state, "run-9")).toThrow(/"run-9"/);
});
