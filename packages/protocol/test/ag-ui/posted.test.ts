import type { AgentItem } from "@holdfast/protocol";
import {
  agUiMessages,
  createProjection,
  isSameHistory,
  joinThread,
  type AgUiMessage,
} from "@holdfast/protocol/ag-ui";
import { describe, expect, it } from "vitest";
import { applied, openDesk } from "../support/desk.ts";
import { copy, follow } from "./client.ts";
import { atWork, TOOLS, typesOf } from "./play.ts";
import { optionsFor, watch } from "./reader.ts";

const text = (messageId: string, delta: string): AgentItem[] => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
  { type: "TEXT_MESSAGE_END", messageId },
];

describe("what a client posted", () => {
  const told = (messages: AgUiMessage[], desk: ReturnType<typeof openDesk>) =>
    watch(copy(desk.entries), { messages }).live.flat();

  it("12.3.4 is not told again", async () => {
    const desk = openDesk({ tools: TOOLS });
    desk.start(desk.send("m1"));
    const messages: AgUiMessage[] = [{ id: "m1", role: "user", content: "m1" }];
    const events = told(messages, desk);
    expect(events).toEqual([
      { type: "RUN_STARTED", threadId: "s1", runId: "run1:1", protocolVersion: "1.0" },
    ]);
    expect((await follow(events, { messages })).messages).toEqual(messages);
  });

  it("12.3.5 is put right where it was cut off from its stream", async () => {
    const { desk, agent } = atWork();
    agent.append(...text("t1", "whole"));
    const messages: AgUiMessage[] = [
      { id: "m1", role: "user", content: "m1" },
      { id: "t1", role: "assistant", content: "wh" },
    ];
    const options = { ...optionsFor(), messages };
    const { prelude } = joinThread(desk.state, { ...options, snapshot: false });
    expect(typesOf(prelude)).toBe("RUN_STARTED MESSAGES_SNAPSHOT");
    const same = await follow(prelude, { messages });
    expect(same.messages).toEqual(agUiMessages(desk.state));
    const again = { ...options, messages: same.messages };
    expect(isSameHistory(agUiMessages(desk.state), same.messages)).toBe(true);
    expect(isSameHistory(agUiMessages(desk.state), messages)).toBe(false);
    const { prelude: none } = joinThread(desk.state, { ...again, snapshot: false });
    expect(typesOf(none)).toBe("RUN_STARTED");
  });

  it("12.3.5 is put right where it says something else of the agent", async () => {
    const { desk, agent } = atWork();
    agent.append(...text("t1", "whole"));
    applied(agent.finish());
    desk.start(desk.send("m2"));
    const messages: AgUiMessage[] = [
      { id: "sys", role: "system", content: "Be brief." },
      { id: "m1", role: "user", content: "m1" },
      // It was cut off from its stream.
      { id: "t1", role: "assistant", content: "wh" },
      { id: "mine", role: "user", content: "unknown" },
    ];
    const { entries } = desk;
    const at = entries.findLastIndex(({ event }) => event.type === "attempt.started");
    const options = { ...optionsFor(), messages };
    const events = createProjection(options).project(entries[at] as never, desk.state);
    expect(typesOf(events)).toBe("RUN_STARTED MESSAGES_SNAPSHOT");
    const seen = await follow(events, { messages });
    expect(seen.messages.map(({ id, content }) => [id, content])).toEqual([
      ["sys", "Be brief."],
      ["m1", "m1"],
      ["t1", "whole"],
      ["m2", "m2"],
    ]);
  });
});
