import type { AgentItem } from "@holdfast/protocol";
import { agUiMessages, agUiState, type Peer } from "@holdfast/protocol/ag-ui";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { applied, openDesk, proposal } from "../support/desk.ts";
import { copy, follow } from "./client.ts";
import { TOOLS } from "./play.ts";
import { watch } from "./reader.ts";

type Desk = ReturnType<typeof openDesk>;

const start = (toolCallId: string, more: object = {}): AgentItem => ({
  type: "TOOL_CALL_START",
  toolCallId,
  toolCallName: "search",
  ...more,
});
const end = (toolCallId: string): AgentItem => ({ type: "TOOL_CALL_END", toolCallId });
const answer = (callId: string, more: object = {}): AgentItem => ({
  type: "call.answer",
  callId,
  outcome: "ok",
  answer: { type: "text", text: callId },
  ...more,
});
const said = (messageId: string, more: object = {}): AgentItem[] => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant", ...more },
  { type: "TEXT_MESSAGE_CONTENT", messageId, delta: messageId },
  { type: "TEXT_MESSAGE_END", messageId },
];

/** What a session does from where one run is at work, each going through one corner. */
const CORNERS: Record<string, (desk: Desk, runId: string) => void> = {
  "results of one message come in the order they were given": (desk, runId) => {
    const under = { parentMessageId: "p" };
    desk
      .agent(runId)
      .append(
        start("c1", under),
        end("c1"),
        start("c2", under),
        end("c2"),
        ...said("t"),
        answer("c2"),
        answer("c1"),
      );
    applied(desk.agent(runId).finish());
    desk.start(desk.send("m2"));
  },
  "a step, a span and a subagent are begun once, and ended once": (desk, runId) => {
    const by = { subagentRunId: "s1" };
    desk
      .agent(runId)
      .append(
        { type: "STEP_STARTED", stepName: "a" },
        { type: "STEP_STARTED", stepName: "a" },
        { type: "STEP_STARTED", stepName: "a", ...by },
        { type: "STEP_FINISHED", stepName: "a", ...by },
        { type: "STEP_FINISHED", stepName: "a", ...by },
        { type: "SUBAGENT_STARTED", subagentRunId: "s1", name: "one", parentSubagentRunId: "s0" },
        { type: "SUBAGENT_STARTED", subagentRunId: "s1", name: "one" },
        { type: "SUBAGENT_FINISHED", subagentRunId: "s1" },
        { type: "SUBAGENT_STARTED", subagentRunId: "s1", name: "one" },
        { type: "SUBAGENT_ERROR", subagentRunId: "s2", message: "" },
        { type: "REASONING_START", messageId: "r" },
        { type: "REASONING_START", messageId: "r" },
        { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" },
        { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "so" },
        { type: "REASONING_END", messageId: "x" },
      );
  },
  "whose something is does not change in a run": (desk, runId) => {
    desk
      .agent(runId)
      .append(
        { type: "round.open" },
        { type: "REASONING_START", messageId: "r", subagentRunId: "s1" },
        { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" },
        { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "so", subagentRunId: "s2" },
        { type: "REASONING_MESSAGE_END", messageId: "r" },
        { type: "REASONING_END", messageId: "r" },
        { type: "REASONING_START", messageId: "q" },
        { type: "REASONING_MESSAGE_START", messageId: "q", role: "reasoning", subagentRunId: "s1" },
        ...said("t", { subagentRunId: "s1" }),
        { type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant", subagentRunId: "s2" },
        start("c", { parentMessageId: "p", subagentRunId: "s1" }),
        end("c"),
        ...said("p", { subagentRunId: "s2", name: "Ann" }),
        start("d", { parentMessageId: "t", subagentRunId: "s3" }),
        end("d"),
      );
  },
  "a message that carries calls may get words, or none, later": (desk, runId) => {
    desk
      .agent(runId)
      .append(
        start("c", { parentMessageId: "p" }),
        end("c"),
        { type: "TEXT_MESSAGE_START", messageId: "p", role: "assistant" },
        { type: "TEXT_MESSAGE_END", messageId: "p" },
        start("d", { parentMessageId: "q" }),
        end("d"),
        ...said("q"),
        start("e"),
        end("e"),
      );
  },
  "ids that a session keeps apart by kind collide": (desk, runId) => {
    desk.agent(runId).append(
      ...said("m1"),
      ...said("c"),
      start("c"),
      { type: "TEXT_MESSAGE_START", messageId: "c2", role: "assistant" },
      start("c2", { parentMessageId: "m1" }),
      end("c2"),
      answer("c2", { messageId: "m1" }),
      { type: "TEXT_MESSAGE_CONTENT", messageId: "c2", delta: "on" },
      {
        type: "ACTIVITY_SNAPSHOT",
        messageId: "c2",
        activityType: "plan",
        content: { steps: [] },
      },
      {
        type: "ACTIVITY_DELTA",
        messageId: "c2",
        activityType: "plan",
        patch: [{ op: "add", path: "/steps/-", value: 1 }],
      },
      { type: "REASONING_MESSAGE_START", messageId: "r:1", role: "reasoning" },
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "message",
        entityId: "r:1",
        encryptedValue: "x",
      },
    );
    applied(desk.agent(runId).finish());
    // A user may take an id that an agent had.
    desk.start(desk.send("c2"));
  },
  "notes upon a call come at the end": (desk, runId) => {
    desk
      .agent(runId)
      .append(
        start("c", { metadata: { app: { a: 1 } } }),
        end("c"),
        { type: "call.annotate", callId: "c", metadata: { app: { b: 2 } } },
        answer("c"),
      );
  },
  "the state is that of all runs on the path, in the order they said it": (desk, runId) => {
    const other = desk.send("m2", { whileActive: "concurrent" });
    desk.start(other);
    const say = (id: string, ...items: AgentItem[]) => desk.agent(id).append(...items);
    say(other, { type: "STATE_SNAPSHOT", snapshot: { by: ["other"] } });
    say(runId, { type: "STATE_DELTA", delta: [{ op: "add", path: "/by/-", value: "run" }] });
    say(other, { type: "STATE_DELTA", delta: [{ op: "add", path: "/by/-", value: "other" }] });
    say(runId, { type: "STATE_DELTA", delta: [{ op: "add", path: "/no/where", value: 1 }] });
    say(other, ...said("o"), {
      type: "ACTIVITY_SNAPSHOT",
      messageId: "act",
      activityType: "plan",
      content: {},
    });
    applied(desk.agent(other).finish());
    say(runId, ...said("t"));
  },
  "a run of before goes on beside the one that is shown": (desk, runId) => {
    desk.agent(runId).append({ type: "round.open" }, ...proposal("p", "page"));
    applied(desk.agent(runId).finish());
    const other = desk.send("m2", { whilePending: "queue", whileActive: "concurrent" });
    desk.user({
      type: "call.answer",
      callId: "p",
      outcome: "ok",
      answer: { type: "text", text: "" },
    });
    if (desk.run(other).status === "queued" && desk.run(other).behind.length === 0)
      desk.start(other);
    const beside = desk.send("m3", { whileActive: "concurrent" });
    desk.start(beside);
    desk.agent(beside).append(...said("b"));
    desk.start(runId);
    desk.agent(runId).append(...said("a"));
    desk.user({ type: "content.erase", messageId: "m1" });
    desk.agent(beside).append(...said("b2"));
    applied(desk.agent(beside).finish());
    desk.agent(runId).append(...said("a2"));
  },
  "the state of another branch is another": (desk, runId) => {
    desk.agent(runId).append({ type: "STATE_SNAPSHOT", snapshot: { branch: 1 } }, ...said("t"));
    const edited = desk.send("m1b", { parentId: "m1", whileActive: "concurrent" });
    desk.start(edited);
    desk.agent(edited).append({ type: "STATE_SNAPSHOT", snapshot: { branch: 2 } });
    applied(desk.agent(runId).finish());
    const branch = desk.send("m2", { parentId: "m1" });
    desk.start(branch);
    desk.agent(branch).append({
      type: "STATE_DELTA",
      delta: [{ op: "add", path: "/branch", value: 3 }],
    });
    applied(desk.agent(edited).finish());
    applied(desk.agent(branch).finish());
  },
  "arguments replaced, edited, and answers given anew": (desk, runId) => {
    const agent = desk.agent(runId);
    agent.append(
      { type: "round.open" },
      start("c"),
      { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{" },
      { type: "call.replace_arguments", callId: "c", arguments: '{"a":1}' },
      end("c"),
      ...proposal("g", "gated", '{"b":1}'),
      { type: "round.close" },
    );
    agent.startStep("a");
    agent.step("a").append(...proposal("d", "search"), answer("d"));
    agent.startStep("a");
    agent.step("a").append(answer("d", { answer: { type: "text", text: "anew" } }));
    desk.user({
      type: "call.decide",
      callId: "g",
      approvalId: "approval1",
      approved: true,
      arguments: '{"b":2}',
    });
    agent.append(answer("g"));
    desk.user({ type: "content.erase", callId: "c" });
    desk.user({ type: "content.erase", messageId: "m1" });
  },
  "an answer that its step gives anew": (desk, runId) => {
    const agent = desk.agent(runId);
    agent.append(...proposal("d", "search"));
    agent.startStep("b");
    agent.step("b").append(answer("d"));
    agent.startStep("b");
    agent.step("b").append(answer("d", { answer: { type: "text", text: "anew" } }));
    expect(desk.entries.at(-1)?.event.type).toBe("call.answer_replaced");
  },
  "a call that repeats another is dropped": (desk, runId) => {
    desk
      .agent(runId)
      .append(
        ...proposal("c", "search"),
        answer("c"),
        start("c"),
        { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" },
        end("c"),
      );
  },
};

/** What needs no snapshot, however it ends: its stream says it all. */
const PLAIN = [
  "results of one message come in the order they were given",
  "a step, a span and a subagent are begun once, and ended once",
  "a message that carries calls may get words, or none, later",
  "ids that a session keeps apart by kind collide",
];

beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

it.each(Object.entries(CORNERS))("11.4 %s", async (corner, act) => {
  const desk = openDesk({ tools: TOOLS });
  const runId = desk.send("m1");
  desk.start(runId);
  act(desk, runId);
  for (const id of [...desk.state.index.live].toReversed()) {
    if (desk.run(id).status === "active") desk.agent(id).finish();
    desk.user({ type: "run.cancel", runId: id });
  }
  for (const peer of ["1.0", "0"] satisfies Peer[]) {
    const entries = copy(desk.entries);
    const cuts = entries.map((__, cut) => cut);
    const { live, joined, state } = watch(entries, { peer, cuts });
    const end = await follow(live.flat(), { peer });
    const isCorrected = live.flat().some(({ type }) => type === "MESSAGES_SNAPSHOT");
    expect(isCorrected).toBe(!PLAIN.includes(corner));
    expect(end.messages).toEqual(copy(agUiMessages(state, { peer })));
    expect(end.state).toEqual(copy(agUiState(state) ?? {}));
    for (const [cut, events] of joined)
      expect(await follow(events, { peer }), `joined at ${cut}`).toEqual(end);
  }
});
