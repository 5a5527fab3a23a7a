import { describe, expect, it } from "vitest";
import { call, contentOf, encode, FINISHED, result, session, STARTED, text } from "./support.ts";

const snapshot = (...messages: object[]) => ({ type: "MESSAGES_SNAPSHOT", messages });
const said = (id: string, content: string) => ({ id, role: "assistant", content });
const made = (id: string, name: string, args = "{}") => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

describe("12.5 a snapshot of an AG-UI agent", () => {
  it("adds what was not said yet: messages, calls, results, reasoning and activities", () => {
    const { stream, desk, agent, texts } = session();
    const messages = [
      { id: "m1", role: "user", content: "m1" },
      { id: "r", role: "reasoning", content: "hm", encryptedValue: "e" },
      {
        ...said("a", "Let me see."),
        toolCalls: [{ ...made("c1", "search"), encryptedValue: "f" }],
      },
      { id: "t1", role: "tool", toolCallId: "c1", content: "found" },
      { ...said("b", ""), toolCalls: [made("c2", "search", '{"n":2}')] },
      { id: "t2", role: "tool", toolCallId: "c2", content: "", error: "Broken." },
      { id: "act", role: "activity", activityType: "plan", content: { n: 1 } },
    ];
    expect(stream([STARTED, snapshot(...messages), FINISHED]).skipped).toEqual([]);
    agent().finish();
    expect(texts()).toEqual(["hm", "Let me see."]);
    expect(desk.call("c1")).toMatchObject({
      parentMessageId: "a",
      metadata: { encryptedValue: "f" },
      answer: { messageId: "t1", answer: { text: "found" } },
    });
    expect(desk.call("c2")).toMatchObject({
      outcome: "error",
      answer: { answer: { text: "Broken." } },
    });
    const events = [...desk.state.items.values()].flatMap((it) =>
      it.kind === "event" ? [it.event.type] : [],
    );
    expect(events).toEqual(["REASONING_ENCRYPTED_VALUE", "ACTIVITY_SNAPSHOT"]);
  });

  it("that says again what was said changes nothing", () => {
    const events = [STARTED, ...text("a", "one"), ...call("c", "t"), result("c", "r")];
    const again = snapshot(
      { ...said("a", "one"), toolCalls: [made("c", "t")] },
      { id: "r-c", role: "tool", toolCallId: "c", content: "r" },
    );
    const before = encode(events).items.length;
    expect(encode([...events, again]).items).toHaveLength(before);
  });

  it("goes on with a text that is longer there, open or closed", () => {
    const { stream, texts } = session();
    const open = { type: "TEXT_MESSAGE_START", messageId: "b", role: "assistant" };
    const end = { type: "TEXT_MESSAGE_END", messageId: "b" };
    const longer = snapshot(said("a", "one two"), said("b", "so"));
    expect(stream([STARTED, ...text("a", "one"), open, longer, end, FINISHED]).skipped).toEqual([]);
    expect(texts()).toEqual(["one two", "so"]);
  });

  it("replaces a text that nobody has built on, and leaves the rest of the round as it was", () => {
    const { stream, texts, desk, run } = session();
    const events = [
      STARTED,
      ...text("a", "wrong"),
      ...text("b", "right"),
      { type: "CUSTOM", name: "n", value: 1 },
    ];
    expect(
      stream([...events, snapshot(said("a", "better"), said("b", "right")), FINISHED]).skipped,
    ).toEqual([]);
    expect(texts()).toEqual(["better", "right"]);
    expect([...desk.state.items.values()].filter(({ kind }) => kind === "event")).toHaveLength(1);
    expect(run().round).toBe(2);
  });

  it("changes nothing that was settled: a round with calls, an earlier one, what it leaves out", () => {
    const { stream, texts, run, desk } = session();
    const events = [
      STARTED,
      ...text("a", "one"),
      ...call("c", "t"),
      result("c", "r"),
      ...text("b", "two"),
    ];
    const other = snapshot({ ...said("a", "other"), toolCalls: [made("c", "t", '{"x":1}')] });
    expect(stream([...events, other, FINISHED]).skipped).toEqual([]);
    expect([texts(), desk.call("c").arguments]).toEqual([["one", "two"], "{}"]);
    const diagnostics = JSON.stringify(run().metadata);
    expect(diagnostics).toContain("another text for the message 'a'");
    expect(diagnostics).toContain("other arguments for the call 'c'");
    expect(diagnostics).toContain("leaves out 1 messages");
  });

  it("says nothing new of the history that it was given", () => {
    const history = [
      { id: "u", role: "user" as const, content: "hi" },
      { id: "a", role: "assistant" as const, content: "one", toolCalls: [made("c", "t")] },
      { id: "t", role: "tool" as const, toolCallId: "c", content: "r" },
    ];
    const input = { threadId: "s1", runId: "run", messages: history, tools: [], context: [] };
    const events = [
      STARTED,
      snapshot(...history.map((it) => ({ ...it, content: "changed" }))),
      FINISHED,
    ];
    expect(contentOf(encode(events, { input: input as never }).items)).toEqual([]);
  });
});
