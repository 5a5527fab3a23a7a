import type { AgentItem, ToolDeclaration } from "@holdfast/protocol";
import { parseCommand } from "@holdfast/protocol/schemas";
import { describe, expect, it } from "vitest";
import { applied, openDesk, proposal } from "../support/desk.ts";

const ASKED: AgentItem = { type: "call.ask", callId: "c1", expiresAt: 1_500 };

function atWork(tool: ToolDeclaration) {
  const desk = openDesk({ tools: [tool] });
  const runId = desk.send("m1");
  desk.start(runId);
  const agent = desk.agent(runId);
  applied(agent.append({ type: "round.open" }));
  return { desk, agent };
}

function due(callId: string, deadlineAt: number): AgentItem {
  return {
    type: "TOOL_CALL_START",
    toolCallId: callId,
    toolCallName: "job",
    metadata: { holdfast: { deadlineAt } },
  };
}

describe("4.7.6 a request with an expiry of its own", () => {
  it.each([
    ["alone", undefined, 1_500],
    ["sooner than the tool's", 10_000, 1_500],
    ["later than the tool's", 100, 1_100],
  ])("%s", (_, approvalMs, expiresAt) => {
    const { desk, agent } = atWork({ name: "job", ...(approvalMs && { approvalMs }) });
    applied(agent.append(...proposal("c1", "job"), ASKED, { type: "round.close" }));
    expect(desk.call("c1")).toMatchObject({ status: "gated", approval: { expiresAt } });
    desk.tick(expiresAt - 1_000 - 1);
    desk.timer({ type: "approval", callId: "c1" });
    expect(desk.call("c1").status).toBe("gated");
    desk.tick(1);
    desk.timer({ type: "approval", callId: "c1" });
    expect(desk.call("c1")).toMatchObject({ outcome: "expired", reason: "approval_expired" });
  });

  it("keeps it where it is asked anew", () => {
    const { desk, agent } = atWork({ name: "job" });
    applied(agent.append(...proposal("c1", "job", "{"), ASKED));
    const more: AgentItem[] = [
      { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "job" },
      { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "}" },
      { type: "TOOL_CALL_END", toolCallId: "c1" },
    ];
    applied(agent.append(...more, { type: "round.close" }));
    expect(desk.call("c1")).toMatchObject({ status: "gated", approval: { expiresAt: 1_500 } });
  });
});

describe("4.3.10 a call with a deadline of its own", () => {
  it.each([
    ["alone", undefined, 1_500],
    ["sooner than the tool's", 10_000, 1_500],
    ["later than the tool's", 100, 1_100],
  ])("%s", (_, deadlineMs, deadlineAt) => {
    const { desk, agent } = atWork({
      name: "job",
      executor: "client",
      ...(deadlineMs && { deadlineMs }),
    });
    applied(
      agent.append(
        due("c1", 1_500),
        { type: "TOOL_CALL_END", toolCallId: "c1" },
        { type: "round.close" },
      ),
    );
    expect(desk.call("c1")).toMatchObject({ status: "open", deadlineAt });
    desk.tick(deadlineAt - 1_000);
    desk.timer({ type: "deadline", callId: "c1" });
    expect(desk.call("c1")).toMatchObject({ outcome: "expired", reason: "deadline" });
  });
});

it.each([
  [{ type: "call.ask", callId: "c1", expiresAt: 1.5 }, "expiresAt"],
  [due("c1", 1.5), "metadata"],
])("2.3.1 times are whole milliseconds", (item, field) => {
  const command = { id: "c", type: "run.append", runId: "r", attempt: 1, producer: "p", seq: 1 };
  expect(() => parseCommand({ ...command, items: [item] })).toThrow(field);
});
