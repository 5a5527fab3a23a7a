import { streamText, tool, toUIMessageStream } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { executionOf } from "@holdfast/sdk/agent";
import { scriptedModel } from "@holdfast/sdk/testing";
import { lastOf, startAgent } from "../support/agent.ts";
import { ended, openLab } from "../support/lab.ts";

const amount = z.object({ amount: z.number() });

test("a predicate asks by the input", async () => {
  await using lab = await openLab();
  const done: number[] = [];
  const pay = tool({
    description: "Pays",
    inputSchema: amount,
    execute: async (input) => void done.push(input.amount),
  });
  await using agent = await startAgent(lab, {
    tools: { pay },
    policies: { pay: { sideEffects: true, approval: (input) => input.amount > 10 } },
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: "paid" }]
        : [5, 50].map((each) => ({
            type: "tool-call",
            toolName: "pay",
            toolCallId: `c${each}`,
            input: { amount: each },
          })),
  });
  const session = await lab.session();
  const runId = await lab.send(session, "pay");
  const calls = await lab.until(
    session,
    (state) => state.runs.get(runId)?.status === "suspended" && state.calls,
  );
  expect(calls.get("c5")).toMatchObject({ status: "settled", outcome: "ok" });
  expect(calls.get("c50")).toMatchObject({ status: "gated" });
  expect(done).toEqual([5]);
  const { id: approvalId = "" } = calls.get("c50")?.approval ?? {};
  await lab.command(session, { type: "call.decide", callId: "c50", approvalId, approved: true });
  const { text } = await lab.until(session, ended(runId));
  expect(text).toBe("paid");
  expect(done).toEqual([5, 50]);
  expect(agent.refused).toEqual([]);
});

test("a call that is proposed again with the same id and arguments has its effect once", async () => {
  await using lab = await openLab();
  let effects = 0;
  const book = tool({
    description: "Books",
    inputSchema: amount,
    execute: async () => ({ booking: (effects += 1) }),
  });
  let asked = 0;
  await using agent = await startAgent(lab, {
    tools: { book },
    respond: () =>
      (asked += 1) <= 2
        ? [{ type: "tool-call", toolName: "book", toolCallId: "c1", input: { amount: 1 } }]
        : [{ type: "text", text: "done" }],
  });
  const session = await lab.session();
  const { run, state } = await lab.until(session, ended(await lab.send(session, "book")));
  expect(run.outcome).toBe("complete");
  expect(effects).toBe(1);
  expect([...state.calls.keys()]).toEqual(["c1"]);
  expect(agent.errors).toEqual([]);
});

test("an id that a provider uses again for another call is another call", async () => {
  await using lab = await openLab();
  const keys: string[] = [];
  const book = tool({
    description: "Books",
    inputSchema: amount,
    execute: async (input, options) => {
      keys.push(executionOf(options).idempotencyKey);
      return input.amount;
    },
  });
  let asked = 0;
  await using agent = await startAgent(lab, {
    tools: { book },
    respond: () =>
      (asked += 1) <= 2
        ? [{ type: "tool-call", toolName: "book", toolCallId: "c1", input: { amount: asked } }]
        : [{ type: "text", text: "done" }],
  });
  const session = await lab.session();
  const { state } = await lab.until(session, ended(await lab.send(session, "book")));
  expect([...state.calls.values()].map(({ answer }) => answer?.answer)).toEqual([
    { type: "json", value: 1 },
    { type: "json", value: 2 },
  ]);
  expect(new Set(keys).size).toBe(2);
  expect(keys).toEqual([...state.calls.keys()].map((id) => `${session}/${id}`));
  expect(agent.refused).toEqual([]);
});

test("a call that a person cancels is told so, and its late output does not count", async () => {
  await using lab = await openLab();
  let reason: unknown;
  const dig = tool({
    description: "Digs",
    inputSchema: z.object({}),
    execute: (_, { abortSignal }) =>
      new Promise((resolve) => {
        abortSignal?.addEventListener("abort", () => {
          reason = abortSignal.reason;
          resolve("late");
        });
      }),
  });
  await using agent = await startAgent(lab, {
    tools: { dig },
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: "well" }]
        : [{ type: "tool-call", toolName: "dig", toolCallId: "c1", input: {} }],
  });
  const session = await lab.session();
  const runId = await lab.send(session, "dig");
  await lab.until(session, (state) => state.calls.get("c1")?.status === "claimed");
  await lab.command(session, { type: "call.cancel", callId: "c1" });
  const { state, run } = await lab.until(session, ended(runId));
  expect(run.outcome).toBe("complete");
  expect(reason).toMatchObject({ code: "call_settled", details: { outcome: "cancelled" } });
  expect(state.calls.get("c1")).toMatchObject({ outcome: "cancelled" });
  expect(state.calls.get("c1")?.answer).toBeUndefined();
  expect(agent.active).toBeLessThanOrEqual(1);
});

test("a tool whose claim ended is told so at its next heartbeat, and its late output does not count", async () => {
  await using lab = await openLab({ heartbeatMs: 50 });
  let reason: unknown;
  let token = "";
  const dig = tool({
    description: "Digs",
    inputSchema: z.object({}),
    execute: (_, { abortSignal }) =>
      new Promise((resolve) => {
        abortSignal?.addEventListener("abort", () => {
          reason = abortSignal.reason;
          resolve("late");
        });
      }),
  });
  await using agent = await startAgent(lab, {
    tools: { dig },
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: "well" }]
        : [{ type: "tool-call", toolName: "dig", toolCallId: "c1", input: {} }],
    onRun: (run) => (token = run.token),
  });
  const session = await lab.session();
  const runId = await lab.send(session, "dig");
  const claim = await lab.until(session, (state) => state.calls.get("c1")?.claim);
  // Another process of the attempt lets the call go.
  const release = { id: "r", type: "call.release", callId: "c1", claimId: claim.id };
  const { status } = await fetch(`${lab.url}/v1/sessions/${session}/commands`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(release),
  });
  expect(status).toBe(200);
  const { state, run } = await lab.until(session, ended(runId));
  expect(run.outcome).toBe("complete");
  expect(reason).toMatchObject({ code: "claim_lost" });
  expect(state.calls.get("c1")).toMatchObject({ outcome: "error", reason: "unanswered" });
  expect(agent.errors).toEqual([]);
});

test("a tool stops when the framework is told to, and is reported as lost", async () => {
  await using lab = await openLab({ claimLeaseMs: 500, heartbeatMs: 100 });
  const own = new AbortController();
  const heard: unknown[] = [];
  const dig = tool({
    description: "Digs",
    inputSchema: z.object({}),
    execute: (_, options) =>
      new Promise((resolve) => {
        const { abortSignal } = executionOf(options);
        abortSignal.addEventListener("abort", () => resolve(heard.push(abortSignal.reason)));
        own.abort(new Error("enough"));
      }),
  });
  const model = scriptedModel({
    respond: () => [{ type: "tool-call", toolName: "dig", toolCallId: "c1", input: {} }],
  });
  await using agent = await startAgent(lab, {
    tools: { dig },
    respond: () => [],
    worker: {
      async handler(run) {
        const { stream } = streamText({
          model,
          ...run.tools(),
          messages: await run.history(),
          abortSignal: own.signal,
          onError: () => {},
        });
        await run.pipe(toUIMessageStream({ stream }));
      },
    },
  });
  const session = await lab.session();
  const { run, state } = await lab.until(session, ended(await lab.send(session, "dig")));
  expect(run.outcome).toBe("complete");
  expect(state.calls.get("c1")).toMatchObject({ outcome: "error", reason: "executor_lost" });
  expect(heard).toEqual([own.signal.reason]);
  expect(agent.errors).toEqual([]);
});

test("a generator's outputs on the way are the call's progress", async () => {
  await using lab = await openLab();
  const count = tool({
    description: "Counts",
    inputSchema: z.object({}),
    async *execute() {
      yield { at: 1 };
      yield { at: 2 };
    },
  });
  await using agent = await startAgent(lab, {
    tools: { count },
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: "counted" }]
        : [{ type: "tool-call", toolName: "count", toolCallId: "c1", input: {} }],
  });
  const session = await lab.session();
  const { state } = await lab.until(session, ended(await lab.send(session, "count")));
  expect(state.calls.get("c1")).toMatchObject({
    outcome: "ok",
    progress: { at: 2 },
    answer: { answer: { type: "json", value: { at: 2 } } },
  });
  expect(agent.refused).toEqual([]);
});

test("a tool that throws, an unknown tool and broken arguments are errors the model reads", async () => {
  await using lab = await openLab();
  const fail = tool({
    description: "Fails",
    inputSchema: amount,
    execute: (): Promise<string> => Promise.reject(new Error("no money")),
  });
  await using agent = await startAgent(lab, {
    tools: { fail },
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: "sorry" }]
        : [
            { type: "tool-call", toolName: "fail", toolCallId: "c1", input: { amount: 1 } },
            { type: "tool-call", toolName: "nope", toolCallId: "c2", input: {} },
            { type: "tool-call", toolName: "fail", toolCallId: "c3", input: '{"amount":' },
          ],
  });
  const session = await lab.session();
  const { state, run } = await lab.until(session, ended(await lab.send(session, "fail")));
  expect(run.outcome).toBe("complete");
  expect(state.calls.get("c1")).toMatchObject({ outcome: "error" });
  expect(JSON.stringify(state.calls.get("c1")?.answer)).toContain("no money");
  expect(state.calls.get("c2")).toMatchObject({ outcome: "error" });
  expect(state.calls.get("c3")).toMatchObject({ outcome: "error" });
  expect(agent.errors).toEqual([]);
});

test("a server that is stricter than the agent wins: the call waits, then runs once", async () => {
  await using lab = await openLab();
  let effects = 0;
  const pay = tool({
    description: "Pays",
    inputSchema: amount,
    execute: async () => ({ paid: (effects += 1) }),
  });
  await using agent = await startAgent(lab, {
    tools: { pay },
    policies: { pay: { approval: "always" } },
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: "It waits." }]
        : JSON.stringify(prompt).includes("It waits.")
          ? [{ type: "text", text: JSON.stringify(prompt) }]
          : [{ type: "tool-call", toolName: "pay", toolCallId: "c1", input: { amount: 1 } }],
    milder: true,
  });
  const session = await lab.session();
  const runId = await lab.send(session, "pay");
  const call = await lab.until(session, (state) => {
    const gated = state.calls.get("c1");
    return state.runs.get(runId)?.status === "suspended" && gated?.status === "gated" && gated;
  });
  expect(effects).toBe(0);
  const approvalId = call.approval?.id ?? "";
  await lab.command(session, { type: "call.decide", callId: "c1", approvalId, approved: true });
  const { state, text } = await lab.until(session, ended(runId));
  expect(effects).toBe(1);
  expect(state.calls.get("c1")).toMatchObject({
    outcome: "ok",
    answer: { answer: { type: "json", value: { paid: 1 } } },
  });
  expect(text).toContain("It waits.");
  expect(agent.refused).toEqual([]);
});
