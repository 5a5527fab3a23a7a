import {
  createEncoder,
  toModelMessages,
  toUIMessage,
  toUIMessages,
} from "@holdfast/sdk/codec/ai-sdk";
import type { UIMessageChunk } from "ai";
import { describe, expect, test } from "vitest";
import { encodeInto, json } from "./oracle.ts";
import { ask, call } from "./samples.ts";
import { testSession, type TestSession } from "./session.ts";
import { faultsOf } from "./valid-history.ts";

const say = (text: string, id = text): UIMessageChunk[] => [
  { type: "start-step" },
  { type: "text-start", id },
  { type: "text-delta", id, delta: text },
  { type: "text-end", id },
  { type: "finish-step" },
];

function steer(session: TestSession, messageId: string): void {
  const whileActive = "steer";
  session.user({ type: "message.send", messageId, content: `Say ${messageId}.`, whileActive });
}

/** The history in short: who speaks, and what. */
async function told(session: TestSession, runId = session.runId): Promise<string[]> {
  const messages = await toModelMessages(session.state, { runId });
  expect(faultsOf(messages)).toEqual([]);
  return messages.map(({ role, content }) => {
    const parts =
      typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    return `${role}: ${parts.map((part) => ("text" in part ? part.text : part.type)).join(" ")}`;
  });
}

describe("5.8.4 a message that steers a run", () => {
  test("is the library's part where the round begins that read it, and a user's words between the rounds", async () => {
    const session = testSession();
    const encoder = createEncoder({ runId: session.runId, attempt: 1 });
    for (const chunk of say("one")) session.append(encoder.encode(chunk));
    steer(session, "s1");
    expect(await told(session)).toEqual(["user: Go.", "assistant: one", "user: Say s1."]);
    for (const chunk of say("two")) session.append(encoder.encode(chunk));
    const { parts } = toUIMessage(session.state, session.runId);
    expect(parts.map(({ type }) => type)).toEqual([
      "step-start",
      "text",
      "step-start",
      "steering-message",
      "text",
    ]);
    expect(parts[3]).toEqual({
      type: "steering-message",
      id: "s1",
      parts: [{ type: "text", text: "Say s1." }],
    });
    expect(await told(session)).toEqual([
      "user: Go.",
      "assistant: one",
      "user: Say s1.",
      "assistant: two",
    ]);
    expect(toUIMessages(session.state).map(({ id }) => id)).toEqual(["message-1", session.runId]);
    expect(json(toUIMessages(session.reread()))).toEqual(json(toUIMessages(session.state)));
  });

  test("is there once where the framework says it too, under its id", async () => {
    const session = testSession();
    steer(session, "s1");
    const parts = [{ type: "text" as const, text: "Say s1." }];
    encodeInto(session, [{ type: "steering-message", id: "s1", parts }, ...say("one")]);
    const shown = toUIMessage(session.state, session.runId).parts;
    expect(shown.filter(({ type }) => type === "steering-message")).toHaveLength(1);
    const other = testSession();
    encodeInto(other, [{ type: "steering-message", id: "own", parts }, ...say("one")]);
    expect(toUIMessage(other.state, other.runId).parts[0]).toMatchObject({ id: "own", parts });
  });

  test("8.7 and was not read before the run ended is a user's message to the next", async () => {
    const session = testSession();
    encodeInto(session, say("one"));
    steer(session, "s1");
    session.fail();
    const { runId = "" } = session.user({
      type: "message.send",
      messageId: "m2",
      content: "And now?",
    });
    expect(await told(session, runId)).toEqual([
      "user: Go.",
      "assistant: one",
      "user: Say s1.",
      "user: And now?",
    ]);
    expect(toUIMessages(session.state).map(({ id }) => id)).toEqual([
      "message-1",
      session.runId,
      "s1",
      "m2",
    ]);
  });

  test("8.7 waits for a call that is approved: the history ends in that", async () => {
    const session = testSession();
    encodeInto(session, [{ type: "start-step" }, call("c1"), ask("a1"), { type: "finish-step" }]);
    steer(session, "s1");
    session.finish();
    session.decide("a1", true);
    session.start();
    const roles = (await toModelMessages(session.state, { runId: session.runId })).map(
      ({ role }) => role,
    );
    expect(roles).toEqual(["user", "assistant", "tool"]);
    encodeInto(session, [
      { type: "tool-output-available", toolCallId: "c1", output: 7 },
      ...say("seven"),
    ]);
    expect(await told(session)).toEqual([
      "user: Go.",
      "assistant: tool-call tool-approval-request",
      "tool: tool-approval-response tool-result",
      "user: Say s1.",
      "assistant: seven",
    ]);
  });

  test("with a file that is nowhere keeps its words", async () => {
    const session = testSession();
    const image = { type: "image", source: { type: "url", value: "not a url" } } as const;
    const content = [{ type: "text" as const, text: "Look." }, image];
    session.user({ type: "message.send", messageId: "s1", content, whileActive: "steer" });
    expect((await told(session)).at(-1)).toBe("user: Look.");
    encodeInto(session, say("one"));
    expect(await told(session)).toEqual(["user: Go.", "user: Look.", "assistant: one"]);
  });
});
