import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { createClient, provideTool } from "@holdfast/sdk/client";
import { lastOf, startAgent } from "../support/agent.ts";
import { AGENT, ended, openLab, type Lab } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

async function openSession(lab: Lab, principal: string) {
  const client = createClient({ url: lab.url, token: await lab.mint(principal) });
  const session = client.open("s1", { create: { agent: AGENT } });
  await session.ready();
  return Object.assign(session, { [Symbol.asyncDispose]: () => client.close() });
}

/** An agent that calls one tool for every message, and says what came of it. */
function startCaller(lab: Lab, execute: () => Promise<string>) {
  const transfer = tool({ inputSchema: z.object({}), execute });
  let calls = 0;
  return startAgent(lab, {
    tools: { transfer },
    policies: { transfer: { sideEffects: true } },
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: lastOf(prompt).text }]
        : [{ type: "tool-call", toolName: "transfer", toolCallId: `c${(calls += 1)}`, input: {} }],
  });
}

test("approving always lets later calls of the tool run, in the name of who said so, until it is taken back", async () => {
  await using lab = await openLab();
  await using session = await openSession(lab, "user:ana");
  await using agent = await startCaller(lab, async () => "sent");
  const statusOf = (id: string) => session.state.calls.get(id)?.status;

  const first = await session.send("one");
  await waitFor(() => expect(statusOf("c1")).toBe("gated"));
  await session.decide("c1", { approved: true, always: true });
  await lab.until("s1", ended(first.runId ?? ""));

  const second = await session.send("two");
  const { state } = await lab.until("s1", ended(second.runId ?? ""));
  expect(state.session.grants).toMatchObject([{ tool: "transfer", by: "user:ana" }]);
  expect(state.calls.get("c2")).toMatchObject({
    outcome: "ok",
    approval: { decision: { approved: true, automatic: true, onBehalfOf: "user:ana" } },
  });

  await session.revokeApproval("transfer");
  await waitFor(() => expect(session.state.session.grants ?? []).toEqual([]));
  await session.send("three");
  await waitFor(() => expect(statusOf("c3")).toBe("gated"));
  expect(agent.errors).toEqual([]);
});

test("a result that the tool's own schema does not take is answered as the tool's error", async () => {
  await using lab = await openLab();
  await using session = await openSession(lab, "user:ana");
  const errors: unknown[] = [];
  using _ = provideTool(
    session,
    {
      name: "transfer",
      parameters: z.object({}),
      result: z.object({ ok: z.boolean() }),
      execute: () => ({ ok: "maybe" }),
    },
    { onError: (error) => errors.push(error) },
  );
  await waitFor(() => expect(session.state.session.advertised).toHaveLength(1));
  await using agent = await startAgent(lab, {
    respond: () => [],
    worker: {
      async handler(run) {
        if (run.attempt > 1) return;
        await run.append([
          { type: "round.open" },
          { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "transfer" },
          { type: "TOOL_CALL_END", toolCallId: "c1" },
          { type: "round.close" },
        ]);
      },
    },
  });
  const { runId = "" } = await session.send("one");
  const { state, run } = await lab.until("s1", ended(runId));
  expect(run.outcome).toBe("complete");
  expect(state.calls.get("c1")).toMatchObject({ outcome: "error" });
  expect(JSON.stringify(state.calls.get("c1")?.answer?.answer)).toContain("/ok");
  expect(errors).toEqual([]);
  expect(agent.errors).toEqual([]);
});

test("a message says for itself what it does to a run that is at work", async () => {
  await using lab = await openLab();
  await using session = await openSession(lab, "user:ana");
  await using agent = await startAgent(lab, {
    delayMs: 20,
    respond: () => [{ type: "text", text: Array.from({ length: 200 }, () => "word").join(" ") }],
  });
  const { runId = "" } = await session.send("go");
  await waitFor(() => expect(session.state.runs.get(runId)?.status).toBe("active"));
  const steered = await session.send("shorter", { whileActive: "steer" });
  expect(steered.runId).toBe(runId);
  await expect(session.send("no", { whileActive: "refuse" })).rejects.toMatchObject({
    code: "run_active",
  });
  const next = await session.send("instead", { whileActive: "replace" });
  expect(next.runId).not.toBe(runId);
  const { run } = await lab.until("s1", ended(runId));
  expect(run).toMatchObject({ outcome: "cancelled", reason: "replaced" });
  expect(run.steers).toMatchObject([{ consumed: false }]);
  expect(agent.errors).toEqual([]);
});
