import type { AgentItem } from "@holdfast/protocol";
import { expect, it } from "vitest";
import { applied, openDesk, proposal } from "../support/desk.ts";

const TOOLS = [
  { name: "pay", approval: "always" as const, approvalMs: 100 },
  { name: "page", executor: "client" as const, approval: "always" as const },
  { name: "look" },
];

const again = (callId: string): AgentItem => ({
  type: "call.ask",
  callId,
  approvalId: `again-${callId}`,
  again: true,
});

/** A run whose attempt was given calls that somebody approved. */
function approved() {
  const desk = openDesk({ tools: TOOLS });
  const runId = desk.send("m1");
  desk.start(runId);
  desk.agent(runId).append({ type: "round.open" }, ...proposal("p", "pay"));
  applied(desk.agent(runId).finish());
  desk.user({ type: "call.decide", callId: "p", approvalId: "approval1", approved: true });
  desk.start(runId);
  return { desk, runId, agent: desk.agent(runId) };
}

it("4.7.10 a call that was approved is asked about once more: it waits anew, and is not left", () => {
  const { desk, runId, agent } = approved();
  applied(agent.append(again("p")));
  expect(desk.call("p")).toMatchObject({
    status: "gated",
    approval: { id: "again-p", expiresAt: desk.now() + 100 },
  });
  expect(desk.call("p").approval?.decision).toBeUndefined();
  applied(agent.finish());
  expect(desk.run(runId).status).toBe("suspended");
  const decide = { type: "call.decide", callId: "p", approved: true } as const;
  // The word on the first request is none on the second.
  expect(desk.user({ ...decide, approvalId: "approval1" }).error?.code).toBe("stale_decision");
  applied(desk.user({ ...decide, approvalId: "again-p" }));
  expect(desk.run(runId).status).toBe("queued");
  desk.start(runId);
  const answer = { type: "text", text: "paid" } as const;
  applied(desk.agent(runId).append({ type: "call.answer", callId: "p", outcome: "ok", answer }));
  expect(desk.call("p")).toMatchObject({ outcome: "ok" });
});

it("4.7.10 what was not approved, or is somebody's by now, is not asked about again", () => {
  const { desk, agent } = approved();
  applied(agent.append({ type: "round.open" }, ...proposal("l", "look"), ...proposal("c", "page")));
  applied(agent.append({ type: "round.close" }));
  const skipped = (callId: string) => agent.append(again(callId)).skipped?.[0]?.error.code;
  expect(desk.call("l").status).toBe("open");
  expect(skipped("l")).toBe("sequence_violation");
  const { id: approvalId = "" } = desk.call("c").approval ?? {};
  applied(desk.user({ type: "call.decide", callId: "c", approvalId, approved: true }));
  expect(skipped("c")).toBe("sequence_violation");
  applied(agent.command({ type: "call.claim", callId: "p" }));
  expect(skipped("p")).toBe("sequence_violation");
});

it("4.7.10 without the word it is too late to ask", () => {
  const { desk, agent } = approved();
  const { skipped } = agent.append({ type: "call.ask", callId: "p" });
  expect(skipped?.[0]?.error.code).toBe("sequence_violation");
  expect(desk.call("p").status).toBe("open");
});
