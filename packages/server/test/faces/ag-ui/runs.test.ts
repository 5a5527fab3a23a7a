import { worker } from "@holdfast/sdk/agent";
import { describe, expect, it } from "vitest";
import { call, openStage, PLAIN, round, text, user } from "./stage.ts";

describe.each(["client", "client0"] as const)("a stock %s", (version) => {
  it("runs an agent with a tool of its own", async () => {
    await using stage = await openStage();
    await using _agent = worker({
      url: stage.url,
      token: stage.token("agent:demo"),
      agent: "demo",
      codec: PLAIN,
      async handler(run) {
        await run.append([{ type: "round.open" }, ...call("c1", "weather", '{"city":', '"Bern"}')]);
        await run.append([
          {
            type: "call.answer",
            callId: "c1",
            outcome: "ok",
            answer: { type: "json", value: { degrees: 21 } },
          },
          { type: "round.close" },
          ...round(...text("a1", "It is ", "21.")),
        ]);
      },
    });
    const agent = stage[version]();
    agent.messages = [user("u1", "weather?")] as never;
    const types: string[] = [];
    await agent.runAgent({ runId: "r1" }, {
      onEvent: ({ event }: { event: { type: string } }) => void types.push(event.type),
    } as never);
    expect(types).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      ...Array(types.filter((type) => type === "TOOL_CALL_ARGS").length).fill("TOOL_CALL_ARGS"),
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "TEXT_MESSAGE_START",
      ...Array(types.filter((type) => type === "TEXT_MESSAGE_CONTENT").length).fill(
        "TEXT_MESSAGE_CONTENT",
      ),
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(agent.messages).toMatchObject([
      { id: "u1", role: "user" },
      { role: "assistant", toolCalls: [{ id: "c1", function: { arguments: '{"city":"Bern"}' } }] },
      { role: "tool", toolCallId: "c1", content: '{"degrees":21}' },
      { id: "a1", role: "assistant", content: "It is 21." },
    ]);
  });
});
