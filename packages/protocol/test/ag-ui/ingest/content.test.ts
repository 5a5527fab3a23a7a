import { describe, expect, it } from "vitest";
import { call, contentOf, encode, FINISHED, result, session, STARTED, text } from "./support.ts";

const activity = {
  type: "ACTIVITY_SNAPSHOT",
  messageId: "a",
  activityType: "plan",
  content: { n: 1 },
};
const WHOLE = [
  { type: "STATE_SNAPSHOT", snapshot: { a: 1 } },
  { type: "STATE_DELTA", delta: [{ op: "add", path: "/b", value: null }] },
  activity,
  { type: "ACTIVITY_DELTA", messageId: "a", activityType: "plan", patch: [] },
  { type: "REASONING_START", messageId: "s" },
  { type: "REASONING_MESSAGE_START", messageId: "rm", role: "reasoning" },
  { type: "REASONING_MESSAGE_CONTENT", messageId: "rm", delta: "hm" },
  { type: "REASONING_MESSAGE_END", messageId: "rm" },
  { type: "REASONING_END", messageId: "s" },
  { type: "REASONING_ENCRYPTED_VALUE", subtype: "message", entityId: "rm", encryptedValue: "e1" },
  { type: "SUBAGENT_STARTED", subagentRunId: "sub", name: "helper", parentMessageId: "rm" },
  { type: "TEXT_MESSAGE_START", messageId: "st", role: "assistant", subagentRunId: "sub" },
  { type: "TEXT_MESSAGE_END", messageId: "st", subagentRunId: "sub" },
  {
    type: "SUBAGENT_FINISHED",
    subagentRunId: "sub",
    result: { n: 1 },
    outcome: { type: "success" },
  },
  { type: "STEP_STARTED", stepName: "one" },
  { type: "STEP_FINISHED", stepName: "one" },
  { type: "CUSTOM", name: "note", value: null },
  {
    type: "RAW",
    event: { any: 1 },
    source: "x",
    rawEvent: { y: 1 },
    timestamp: 5,
    metadata: { k: null },
  },
];

describe("12.5 content of an AG-UI agent", () => {
  it("passes whole: state, activities, reasoning with encrypted values, subagents, steps, custom and raw", () => {
    const { items, encoder } = encode([STARTED, ...WHOLE, FINISHED]);
    expect(encoder.failure).toBeUndefined();
    expect(contentOf(items)).toEqual(WHOLE);
  });

  it("is taken by a session item by item", () => {
    const { stream, desk } = session();
    expect(stream([STARTED, ...WHOLE, FINISHED]).skipped).toEqual([]);
    expect(desk.state.items.get("rm")).toMatchObject({ kind: "reasoning", text: "hm" });
  });

  it("an encrypted value of a call goes with the call", () => {
    const { stream, desk } = session();
    const value = {
      type: "REASONING_ENCRYPTED_VALUE",
      subtype: "tool-call",
      entityId: "c1",
      encryptedValue: "e",
    };
    stream([STARTED, ...call("c1", "t"), value, result("c1", "r"), FINISHED]);
    expect(desk.call("c1").metadata).toMatchObject({ encryptedValue: "e" });
  });

  it("what AG-UI does not describe is kept: a property beside its event's own, anything else as RAW", () => {
    const unknown = { type: "FUTURE_EVENT", x: 1 };
    const start = { type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant", shade: "blue" };
    const end = { type: "TEXT_MESSAGE_END", messageId: "t" };
    const nested = {
      type: "SUBAGENT_FINISHED",
      subagentRunId: "sub",
      outcome: { type: "success", why: 1 },
    };
    const begun = { type: "SUBAGENT_STARTED", subagentRunId: "sub", name: "n" };
    const { items } = encode([STARTED, unknown, start, end, begun, nested, FINISHED]);
    expect(contentOf(items)).toEqual([
      { type: "RAW", source: "ag-ui", event: unknown },
      start,
      end,
      begun,
      { type: "SUBAGENT_FINISHED", subagentRunId: "sub", outcome: { type: "success" } },
      { type: "RAW", source: "ag-ui", event: nested },
    ]);
  });

  it.each([
    [{ executor: "client", deadlineAt: 5 }, undefined],
    [{ executor: 7 }, { executor: 7 }],
    [{ deadlineAt: "soon" }, { deadlineAt: "soon" }],
    [{ argumentsEncoding: "zip" }, { argumentsEncoding: "zip" }],
    [{ providerCallId: "" }, { providerCallId: "" }],
    ["x", "x"],
    [null, null],
  ])("hints to the session that are none are its agent's own: %j", (holdfast, own) => {
    const metadata = { holdfast, a: 1 };
    const { items } = encode([STARTED, ...call("c", "t", "{}", { metadata })]);
    expect(contentOf(items)[0]).toMatchObject({
      metadata: own === undefined ? metadata : { a: 1, "ag-ui": { holdfast: own } },
    });
    expect(JSON.stringify(contentOf(items)[0]).match(/"holdfast"/g)).toHaveLength(1);
  });

  it("a property that a session would read otherwise is kept as RAW", () => {
    const event = { type: "CUSTOM", name: "n", value: 1, expiresAt: "x" };
    const { items } = encode([STARTED, event, FINISHED]);
    expect(contentOf(items)).toEqual([
      { type: "CUSTOM", name: "n", value: 1 },
      { type: "RAW", source: "ag-ui", event },
    ]);
  });

  it("what amends something that is nowhere is noted, unless the session has it", () => {
    const changes = [
      { type: "ACTIVITY_DELTA", messageId: "x", activityType: "plan", patch: [] },
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "tool-call",
        entityId: "c",
        encryptedValue: "e",
      },
    ];
    const notesOf = (isUsed: (id: string, what: string) => boolean) => {
      const input = { threadId: "s1", runId: "run", messages: [], tools: [], context: [] };
      const { items } = encode([STARTED, ...changes, FINISHED], { input, isUsed });
      expect(contentOf(items)).toEqual(changes);
      return [...JSON.stringify(items).matchAll(/"rule":"(.*?)".*?"id":"(.*?)"/g)].map((it) =>
        it.slice(1),
      );
    };
    expect(notesOf(() => false)).toEqual([
      ["D11", "x"],
      ["D11", "c"],
    ]);
    expect(notesOf((id, what) => id === (what === "call" ? "c" : "x"))).toEqual([]);
  });

  it("chunks become messages, and what they close is closed before what closed it", () => {
    const chunks = [
      { type: "TEXT_MESSAGE_CHUNK", messageId: "t", delta: "a" },
      { type: "TEXT_MESSAGE_CHUNK", delta: "b" },
      { type: "CUSTOM", name: "n", value: 1 },
    ];
    const types = contentOf(encode([STARTED, ...chunks, FINISHED]).items).map(({ type }) => type);
    const content = "TEXT_MESSAGE_CONTENT";
    expect(types).toEqual(["TEXT_MESSAGE_START", content, content, "TEXT_MESSAGE_END", "CUSTOM"]);
  });
});

describe("12.5 ids that were used before", () => {
  it("are changed, with a diagnostic and the agent's own in the metadata; everything that names them follows", () => {
    const { stream, desk, runId, agent } = session();
    stream([STARTED, ...text("1", "one"), FINISHED]);
    agent().finish();
    const second = desk.send("m2");
    desk.start(second);
    const used = {
      type: "REASONING_ENCRYPTED_VALUE",
      subtype: "message",
      entityId: "1",
      encryptedValue: "e",
    };
    const events = [
      STARTED,
      ...text("1", "two"),
      ...call("c", "t", "{}", { parentMessageId: "1" }),
      used,
      FINISHED,
    ];
    const { items } = encode(events, {
      runId: second,
      isUsed: (id, what) => what === "message" && id === "1",
    });
    expect(desk.agent(second).append(...items).skipped).toBeUndefined();
    const id = `${second}.1.m1`;
    expect(desk.state.items.get("1")).toMatchObject({ text: "one", runId });
    expect(desk.state.items.get(id)).toMatchObject({
      text: "two",
      metadata: { "ag-ui": { messageId: "1" } },
    });
    expect(desk.call("c").parentMessageId).toBe(id);
    expect(contentOf(items).at(-1)).toMatchObject({ entityId: id });
    expect(JSON.stringify(desk.run(second).metadata)).toContain('"rule":"D12"');
  });

  it("a call below a message of the history that was given is below that", () => {
    const messages = [{ id: "old", role: "assistant" as const, content: "x" }];
    const input = { threadId: "s1", runId: "run", messages, tools: [], context: [] };
    const events = [STARTED, ...call("c", "t", "{}", { parentMessageId: "old" }), FINISHED];
    const { items } = encode(events, { input, isUsed: () => true });
    expect(contentOf(items)[0]).toMatchObject({ parentMessageId: "old" });
  });

  it("a call below a message that another run has is below one of its own", () => {
    const events = [STARTED, ...call("c", "t", "{}", { parentMessageId: "1" }), FINISHED];
    const [start] = contentOf(encode(events, { isUsed: (id) => id === "1" }).items);
    const metadata = { "ag-ui": { parentMessageId: "1" } };
    expect(start).toMatchObject({ parentMessageId: "r1.1.m1", metadata });
  });

  it("are a violation where that is asked for", () => {
    const { encoder, items } = encode([STARTED, ...text("1", "x")], {
      strict: true,
      isUsed: () => true,
    });
    expect(encoder.violation).toMatchObject({ rule: "D12", index: 1 });
    expect(items.some(({ type }) => type === "TEXT_MESSAGE_CONTENT")).toBe(false);
  });

  it.each(["", "round:1", "x".repeat(257), "\ud83d"])(
    "and so are those that no message may have: %j",
    (id) => {
      const { stream, texts } = session();
      const { items, skipped } = stream([STARTED, ...text(id, "x"), FINISHED]);
      expect([skipped, texts()]).toEqual([[], ["x"]]);
      const ids = items.flatMap((it) => ("messageId" in it ? it.messageId : []));
      expect(ids).toEqual(ids.map(() => "run1.1.m1"));
    },
  );

  it("nor can they name anything else: whatever is named has one id, the same each time", () => {
    const by = { subagentRunId: "" };
    const activity = { messageId: "\ud800", activityType: "plan" };
    const value = { subtype: "tool-call", entityId: "", encryptedValue: "e" };
    const [start, , end] = call("", "");
    const { items } = encode([
      STARTED,
      { type: "SUBAGENT_STARTED", ...by, name: "n" },
      {
        type: "SUBAGENT_STARTED",
        subagentRunId: "s",
        name: "n",
        parentSubagentRunId: "",
        parentToolCallId: "",
      },
      { type: "ACTIVITY_SNAPSHOT", ...activity, content: {} },
      { type: "ACTIVITY_DELTA", ...activity, patch: [] },
      start,
      end,
      { type: "REASONING_ENCRYPTED_VALUE", ...value },
      { type: "SUBAGENT_FINISHED", ...by },
    ]);
    const own = "r1.1.o1";
    expect(contentOf(items)).toMatchObject([
      { subagentRunId: own },
      { parentSubagentRunId: own, parentToolCallId: "r1.1.c1" },
      { messageId: "r1.1.o2" },
      { messageId: "r1.1.o2" },
      { toolCallId: "r1.1.c1", toolCallName: own },
      { toolCallId: "r1.1.c1" },
      { entityId: "r1.1.c1" },
      { subagentRunId: own },
    ]);
  });

  it("a message that goes on after its round does so as one of its own", () => {
    const { stream, texts } = session();
    const events = [
      STARTED,
      ...text("t", "a"),
      ...call("c", "t"),
      result("c", "r"),
      ...text("u", "b"),
    ];
    expect(stream([...events, ...text("t", "c"), FINISHED]).skipped).toEqual([]);
    expect(texts()).toEqual(["a", "b", "c"]);
  });

  it("a message that begins again in its round goes on", () => {
    const { stream, texts } = session();
    expect(stream([STARTED, ...text("t", "a"), ...text("t", "b"), FINISHED]).skipped).toEqual([]);
    expect(texts()).toEqual(["ab"]);
  });
});
