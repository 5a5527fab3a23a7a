import { reduce, reduceAll, type AgentItem } from "@holdfast/protocol";
import {
  agUiMessages,
  createProjection,
  joinThread,
  type AgUiMessage,
} from "@holdfast/protocol/ag-ui";
import { afterEach, describe, expect, it, vi } from "vitest";
import { applied, proposal } from "../support/desk.ts";
import { copy, follow } from "./client.ts";
import { atWork, held, ofType, played, TOOLS, typesOf } from "./play.ts";
import { emptyReader, optionsFor, watch } from "./reader.ts";

afterEach(() => void vi.restoreAllMocks());

const GATED_PAGE = { name: "gated-page", executor: "client", approval: "always" } as const;

const text = (messageId: string, delta: string): AgentItem[] => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
  { type: "TEXT_MESSAGE_END", messageId },
];

describe("activations", () => {
  it("12.3.1 an attempt that is lost does not end its AG-UI run, and what was taken back leaves", async () => {
    const { desk, runId, agent } = atWork();
    agent.append(
      { type: "STEP_STARTED", stepName: "plan" },
      { type: "SUBAGENT_STARTED", subagentRunId: "s1", name: "one" },
      { type: "round.open" },
      { type: "TEXT_MESSAGE_START", messageId: "t1", role: "assistant" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: "I wi" },
      { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "search" },
    );
    desk.timer({ type: "lease", runId, attempt: 1 });
    desk.start(runId);
    desk.agent(runId).append({ type: "round.open" }, ...text("t2", "I will."));
    applied(desk.agent(runId).finish());
    const events = played(desk);
    expect(typesOf(events)).toBe(
      [
        "RUN_STARTED STEP_STARTED SUBAGENT_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TOOL_CALL_START",
        "STEP_FINISHED SUBAGENT_ERROR TOOL_CALL_END TEXT_MESSAGE_END MESSAGES_SNAPSHOT",
        "TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END RUN_FINISHED",
      ].join(" "),
    );
    expect((await held(desk)).messages.map(({ content }) => content)).toEqual(["m1", "I will."]);
    // Whoever joins the second attempt finds nothing open that the first left.
    const at = desk.entries.findLastIndex(({ event }) => event.type === "attempt.started") + 1;
    const { joined } = watch(copy(desk.entries.slice(0, at)), { cuts: [at] });
    expect(typesOf(joined.get(at) ?? [])).toBe("RUN_STARTED MESSAGES_SNAPSHOT");
  });

  it("12.3.1 a run that goes on by itself is another AG-UI run", () => {
    const { desk, runId, agent } = atWork();
    agent.append({ type: "round.open" }, ...proposal("c1", "page"));
    const answer = { type: "text", text: "yes" } as const;
    applied(desk.user({ type: "call.answer", callId: "c1", outcome: "ok", answer }));
    applied(agent.finish());
    desk.start(runId);
    const events = played(desk);
    expect(typesOf(events.slice(-3))).toBe("MESSAGES_SNAPSHOT RUN_FINISHED RUN_STARTED");
    expect(ofType(events, "RUN_STARTED").map((it) => it.runId)).toEqual(["run1:1", "run1:2"]);
  });

  it("12.3.1 runs beside each other are shown one after the other", async () => {
    const { desk, agent } = atWork();
    const other = desk.send("m2", { whileActive: "concurrent" });
    desk.start(other);
    desk.agent(other).append({ type: "TEXT_MESSAGE_START", messageId: "b", role: "assistant" });
    desk.agent(other).append({ type: "TEXT_MESSAGE_CONTENT", messageId: "b", delta: "bee" });
    agent.append(...text("a", "ay"));
    applied(agent.finish());
    const events = played(desk);
    expect(typesOf(events)).toBe(
      [
        "RUN_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END RUN_FINISHED",
        "RUN_STARTED MESSAGES_SNAPSHOT TEXT_MESSAGE_START",
      ].join(" "),
    );
    applied(desk.agent(other).finish());
    expect((await held(desk)).messages).toEqual(agUiMessages(desk.state));
  });

  it("12.3.3 what runs beside the run that is shown is left out, wherever it stands", () => {
    const { desk, runId, agent } = atWork();
    agent.append({ type: "round.open" }, ...proposal("p", "page"));
    applied(agent.finish());
    const fork = { parentId: runId, whilePending: "queue", whileActive: "concurrent" };
    const other = desk.send("m2", fork);
    expect(desk.run(other).behind).toEqual([runId]);
    const answer = { type: "text", text: "yes" } as const;
    applied(desk.user({ type: "call.answer", callId: "p", outcome: "ok", answer }));
    const beside = desk.send("m3", { parentId: runId, whileActive: "concurrent" });
    desk.start(beside);
    desk.start(runId);
    desk.agent(runId).append(...text("a", "ay"));
    const { joined } = watch(copy(desk.entries), { cuts: [desk.entries.length] });
    const [snapshot] = ofType(joined.get(desk.entries.length) ?? [], "MESSAGES_SNAPSHOT");
    expect(snapshot?.messages.map(({ id }) => id)).toEqual(["m1", "m3"]);
  });

  it("12.3.14 a reader of one run is told what others made of the state meanwhile", () => {
    const { desk, runId, agent } = atWork();
    agent.append({ type: "STATE_SNAPSHOT", snapshot: { n: 1 } }, ...proposal("p", "page"));
    const other = desk.send("m2", { whileActive: "concurrent" });
    applied(agent.finish());
    desk.start(other);
    desk.agent(other).append({ type: "STATE_SNAPSHOT", snapshot: { n: 2 } });
    applied(desk.agent(other).finish());
    const answer = { type: "text", text: "yes" } as const;
    applied(desk.user({ type: "call.answer", callId: "p", outcome: "ok", answer }));
    desk.start(runId);
    const state = emptyReader();
    const live = createProjection({ ...optionsFor(), runId });
    const events = desk.entries.flatMap((entry) => {
      reduce(state, entry);
      return live.project(entry, state);
    });
    expect(ofType(events, "STATE_SNAPSHOT").map(({ snapshot }) => snapshot)).toEqual([
      { n: 1 },
      { n: 2 },
    ]);
  });

  it("12.3.1 a reader may be shown one run alone, whatever else is active", () => {
    const { desk } = atWork();
    const runId = desk.send("m2", { whileActive: "concurrent" });
    desk.start(runId);
    desk.agent(runId).append(...text("b", "bee"));
    applied(desk.agent("run1").finish());
    applied(desk.agent(runId).finish());
    const state = emptyReader();
    const live = createProjection({ ...optionsFor(), runId });
    const events = desk.entries.flatMap((entry) => {
      reduce(state, entry);
      return live.project(entry, state);
    });
    expect(typesOf(events)).toBe(
      "RUN_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END RUN_FINISHED",
    );
    expect(events[0]).toMatchObject({ runId: `${runId}:1` });
  });
});

describe("outcomes", () => {
  it("12.3.12 names a failure and its code", () => {
    const { desk, agent } = atWork();
    agent.append({ type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" });
    applied(agent.fail("no_quota"));
    expect(played(desk).slice(-2)).toEqual([
      { type: "TEXT_MESSAGE_END", messageId: "t" },
      { type: "RUN_ERROR", message: "no_quota", code: "no_quota" },
    ]);
  });

  it("12.3.15 spells a cancelled run for peers of before 1.0 as what is no success", async () => {
    const { desk, runId } = atWork();
    applied(desk.user({ type: "run.cancel", runId }));
    expect(played(desk).at(-1)).toMatchObject({ outcome: { type: "cancelled" } });
    expect(played(desk, "0").at(-1)).toMatchObject({ type: "RUN_ERROR", code: "cancelled" });
    await held(desk, "0");
  });

  it("12.3.12 a client's call that waits for a decision is no pending call yet", () => {
    const { desk, agent } = atWork({ tools: [...TOOLS, GATED_PAGE] });
    agent.append(
      { type: "round.open" },
      ...proposal("c1", "gated-page"),
      ...proposal("c2", "page"),
    );
    applied(agent.finish());
    expect(played(desk).at(-1)).toMatchObject({ outcome: { pendingToolCallIds: ["c2"] } });
  });

  it("12.3.12 tells interrupts where nothing else waits, and first the calls where something does", async () => {
    const { desk, runId, agent } = atWork();
    agent.append({ type: "round.open" }, ...proposal("c1", "gated"), ...proposal("c2", "page"));
    applied(agent.finish());
    expect(played(desk).at(-1)).toMatchObject({
      outcome: { type: "success", pendingToolCallIds: ["c2"] },
    });
    const answer = { type: "text", text: "done" } as const;
    applied(desk.user({ type: "call.answer", callId: "c2", outcome: "ok", answer }));
    // Nothing began since, so nothing was sent; who comes now is told what is left.
    const { joined } = watch(copy(desk.entries), { cuts: [desk.entries.length] });
    const prelude = joined.get(desk.entries.length) ?? [];
    expect(typesOf(prelude)).toBe("RUN_STARTED MESSAGES_SNAPSHOT RUN_FINISHED");
    expect(prelude.at(-1)).toMatchObject({
      runId: `${runId}:1`,
      outcome: {
        type: "interrupt",
        interrupts: [
          {
            id: "approval1",
            reason: "tool_call",
            toolCallId: "c1",
            message: "Approve gated?",
            expiresAt: new Date(desk.now() + 60_000).toISOString(),
            responseSchema: { required: ["approved"] },
          },
        ],
      },
    });
    expect((await follow(prelude)).interrupts).toHaveLength(1);
  });

  it("12.3.13 a call that stands for an interrupt is that, and no call", () => {
    const { desk, agent } = atWork();
    const interrupt = { id: "i1", reason: "choose", message: "Which?", unknown: 1 };
    agent.append(
      {
        type: "TOOL_CALL_START",
        toolCallId: "c1",
        toolCallName: "ag-ui:interrupt",
        metadata: { holdfast: { executor: "client" }, "ag-ui": { interrupt } },
      },
      { type: "TOOL_CALL_END", toolCallId: "c1" },
    );
    applied(agent.finish());
    expect(played(desk).slice(1)).toEqual([
      {
        type: "RUN_FINISHED",
        threadId: "s1",
        runId: "run1:1",
        outcome: {
          type: "interrupt",
          interrupts: [{ id: "i1", reason: "choose", message: "Which?" }],
        },
      },
    ]);
    expect(agUiMessages(desk.state)).toHaveLength(1);
  });

  it("12.3.12 a subagent of a run that waits is suspended, not finished", () => {
    const { desk, agent } = atWork();
    agent.append(
      { type: "SUBAGENT_STARTED", subagentRunId: "s1", name: "one" },
      ...proposal("c1", "page"),
    );
    applied(agent.finish());
    const ends = (peer: "1.0" | "0") => ofType(played(desk, peer), "SUBAGENT_FINISHED");
    expect(ends("1.0")).toMatchObject([{ outcome: { type: "suspended" } }]);
    expect(ends("0")[0]).not.toHaveProperty("outcome");
  });
});

describe("content", () => {
  it("12.3.2 takes out what AG-UI does not know: a stock client finds nothing to strip", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const { desk, agent } = atWork();
    agent.append(
      {
        type: "TEXT_MESSAGE_START",
        messageId: "t",
        role: "assistant",
        odd: 1,
        metadata: { holdfast: { a: 1 }, app: { b: 2 } },
      } as AgentItem,
      { type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "x", odd: 1 } as AgentItem,
      { type: "CUSTOM", name: "n", value: null, odd: null } as AgentItem,
      { type: "STEP_STARTED", stepName: "s", subagentRunId: null } as never,
      { type: "TEXT_MESSAGE_END", messageId: "t", timestamp: 1.5 },
    );
    applied(agent.finish());
    const { messages } = await held(desk);
    expect(warn).not.toHaveBeenCalled();
    expect(messages[1]).toEqual({
      id: "t",
      role: "assistant",
      content: "x",
      metadata: { app: { b: 2 } },
    });
  });

  it("12.3.2 a message id that another kind has gets its kind before it", async () => {
    const { desk, agent } = atWork();
    agent.append(...text("m1", "not mine"));
    applied(agent.finish());
    const { messages } = await held(desk);
    expect(messages.map(({ id, content }) => [id, content])).toEqual([
      ["m1", "m1"],
      ["text:m1", "not mine"],
    ]);
  });

  it("12.3.11 a message that steers is not said again to who sent it", async () => {
    const { desk, agent } = atWork();
    agent.append({ type: "round.open" }, ...text("t1", "one"));
    desk.send("m2", { whileActive: "steer" });
    const messages: AgUiMessage[] = [
      { id: "m1", role: "user", content: "m1" },
      { id: "t1", role: "assistant", content: "one" },
      { id: "m2", role: "user", content: "m2" },
    ];
    const state = emptyReader();
    reduceAll(state, desk.entries);
    const before = desk.entries.length;
    const { prelude, projection } = joinThread(state, { ...optionsFor(), messages });
    expect((await follow(prelude, { messages })).messages).toEqual(messages);
    agent.append(...text("t2", "two"), { type: "round.open" }, ...text("t3", "three"));
    applied(agent.finish());
    const events = desk.entries.slice(before).flatMap((entry) => {
      reduce(state, entry);
      return projection.project(entry, state);
    });
    const seen = await follow([...prelude, ...events], { messages });
    expect(seen.messages).toEqual(copy(agUiMessages(desk.state)));
    expect(seen.messages.map(({ id }) => id)).toEqual(["m1", "t1", "t2", "m2", "t3"]);
  });

  it("12.3.11 a message that steers is said where it was read", async () => {
    const { desk, agent } = atWork();
    agent.append({ type: "round.open" }, ...text("t1", "one"));
    desk.send("m2", { whileActive: "steer" });
    agent.append({ type: "round.open" }, ...text("t2", "two"));
    applied(agent.finish());
    expect(ofType(played(desk), "TEXT_MESSAGE_START").map(({ role }) => role)).toEqual([
      "assistant",
      "user",
      "assistant",
    ]);
    const { messages } = await held(desk);
    expect(messages.map(({ id }) => id)).toEqual(["m1", "t1", "m2", "t2"]);
  });

  it("12.3.16 a delta looks at its own item alone", () => {
    const { desk, agent } = atWork();
    agent.append({ type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" });
    agent.append({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "search" });
    const state = emptyReader();
    const projection = createProjection(optionsFor());
    const { live } = watch(desk.entries);
    expect(live.flat()).toHaveLength(3);
    for (const entry of desk.entries) projection.project(entry, desk.state);
    const closed = new Proxy(state, {
      get(_, name) {
        throw new Error(`It looked at ${String(name)}`);
      },
    });
    const [entry] = desk.entries;
    if (!entry) throw new Error("no entry");
    const delta = (event: object) =>
      projection.project({ ...entry, runId: "run1", event: event as never }, closed);
    expect(delta({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "x" })).toHaveLength(1);
    expect(delta({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{" })).toHaveLength(1);
  });
});
