import { agUiInput, createAgUiEncoder } from "@holdfast/protocol/ag-ui";
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
    expect([texts(), desk.call("c").arguments]).toEqual([["one"], "{}"]);
    const diagnostics = JSON.stringify(run().metadata);
    expect(diagnostics).toContain("another text for the message 'a'");
    expect(diagnostics).toContain("other arguments for the call 'c'");
  });

  it("takes back what it leaves out and nobody has built on; what was settled or goes on stands", () => {
    const { stream, texts, run } = session();
    const reasoning = (id: string, delta: string) => [
      { type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId: id, delta },
      { type: "REASONING_MESSAGE_END", messageId: id },
    ];
    const open = { type: "TEXT_MESSAGE_START", messageId: "d", role: "assistant" };
    const end = { type: "TEXT_MESSAGE_END", messageId: "d" };
    const { skipped } = stream([
      STARTED,
      ...text("a", "settled"),
      ...call("c", "t"),
      result("c", "r"),
      ...reasoning("r1", "why"),
      ...text("b", "wrong"),
      ...text("e", "right"),
      open,
      snapshot(said("e", "right")),
      snapshot(said("e", "right"), { id: "r2", role: "reasoning", content: "because" }),
      // It is said again after all.
      snapshot(
        said("e", "right"),
        { id: "r2", role: "reasoning", content: "because" },
        said("b", "and"),
      ),
      end,
      FINISHED,
    ]);
    expect(skipped).toEqual([]);
    expect(texts()).toEqual(["settled", "right", "", "because", "and"]);
    expect(JSON.stringify(run().metadata)).toContain("leaves out 1 messages");
  });

  it("without any reasoning leaves that alone, and the text of a round that has a call", () => {
    const { stream, texts, run } = session({ clientTools: ["page"] });
    const { skipped } = stream([
      STARTED,
      { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "why" },
      { type: "REASONING_MESSAGE_END", messageId: "r" },
      snapshot(),
      ...text("a", "so"),
      ...call("c", "page"),
      snapshot(),
      FINISHED,
    ]);
    expect([skipped, texts()]).toEqual([[], ["why", "so"]]);
    expect(JSON.stringify(run().metadata)).toContain("leaves out 1 messages");
  });

  it("of an agent that keeps the end of a thread alone: what it says anew is not what it said before, though the words are", () => {
    const { stream, texts, desk, runId } = session();
    const before = [
      { id: "u0", role: "user" as const, content: "More?" },
      { id: "a0", role: "assistant" as const, content: "Yes." },
    ];
    const { input } = agUiInput(desk.state, { runId });
    const messages = [...before, ...input.messages];
    const { skipped } = stream(
      [
        STARTED,
        snapshot(
          said("s", "They talked."),
          { id: "U1", role: "user", content: "m1" },
          said("A1", "Yes."),
        ),
        FINISHED,
      ],
      { input: { ...input, runId: "run", messages } },
    );
    expect([skipped, texts()]).toEqual([[], ["They talked.", "Yes."]]);
  });

  it("names again what its agent called as something before: the newest is meant", () => {
    const { desk, runId, stream, agent } = session();
    stream([STARTED, ...text("m", "one"), FINISHED]);
    agent().finish();
    const next = desk.send("m2");
    desk.start(next);
    const { input } = agUiInput(desk.state, { runId: next });
    const encoder = createAgUiEncoder({
      runId: next,
      attempt: 1,
      input,
      isUsed: (id) => desk.state.items.has(id),
    });
    const events = [
      { ...STARTED, runId: input.runId },
      ...text("m", "two"),
      snapshot(said("M", "two")),
    ];
    desk.agent(next).append(...events.flatMap((event) => encoder.encode(event)));
    // What was told of names is not told again.
    expect(encoder.encode(snapshot(said("M", "two")))).toEqual([]);
    desk.agent(next).append(...encoder.encode({ ...FINISHED, runId: input.runId }));
    desk.agent(next).finish();
    const last = desk.send("m3");
    desk.start(last);
    const { messages } = agUiInput(desk.state, { runId: last }).input;
    expect(messages.map(({ id, content }) => [id, content])).toEqual([
      ["m1", "m1"],
      ["m", "one"],
      ["m2", "m2"],
      ["M", "two"],
      ["m3", "m3"],
    ]);
    expect(desk.run(runId).outcome).toBe("complete");
  });

  it("has what was said under ids of its agent's own: it is there once, and goes back under those", () => {
    const { stream, texts, desk, agent, runId } = session();
    const input = { ...agUiInput(desk.state, { runId }).input, runId: "run" };
    const { skipped } = stream(
      [
        STARTED,
        ...text("a", "one"),
        ...call("c", "t", "{}", { parentMessageId: "a" }),
        result("c", "r"),
        ...text("b", "two"),
        snapshot(
          { id: "A0", role: "user", content: "m1" },
          { ...said("A1", "one"), toolCalls: [made("c", "t")] },
          { id: "A2", role: "tool", toolCallId: "c", content: "r" },
          said("A3", "two"),
        ),
        FINISHED,
      ],
      { input },
    );
    expect([skipped, texts()]).toEqual([[], ["one", "two"]]);
    agent().finish();
    const next = desk.send("m2");
    desk.start(next);
    const { messages } = agUiInput(desk.state, { runId: next }).input;
    expect(messages.map(({ id, role, content }) => [id, role, content])).toEqual([
      ["A0", "user", "m1"],
      ["A1", "assistant", "one"],
      ["A2", "tool", "r"],
      ["A3", "assistant", "two"],
      ["m2", "user", "m2"],
    ]);
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
