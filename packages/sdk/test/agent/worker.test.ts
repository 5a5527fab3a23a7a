import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { executionOf } from "@holdfast/sdk/agent";
import { lastOf, startAgent } from "../support/agent.ts";
import { ended, openLab } from "../support/lab.ts";

test("text streams into the log, and the run completes", async () => {
  await using lab = await openLab();
  await using agent = await startAgent(lab, {
    respond: (prompt) => [{ type: "text", text: `You said: ${lastOf(prompt).text}` }],
  });
  const session = await lab.session();
  const first = await lab.until(session, ended(await lab.send(session, "hello there")));
  expect(first.run.outcome).toBe("complete");
  expect(first.text).toBe("You said: hello there");
  const second = await lab.until(session, ended(await lab.send(session, "again")));
  expect(second.text).toBe("You said: again");
  expect(agent.refused).toEqual([]);
  expect(agent.errors).toEqual([]);
});

test("a server tool is claimed before its effect, has one, and the model reads its result", async () => {
  await using lab = await openLab();
  const seen: unknown[] = [];
  const weather = tool({
    description: "The weather of a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }, options) => {
      const { idempotencyKey } = executionOf(options);
      const call = await lab.until("s1", (state) => state.calls.get(options.toolCallId));
      seen.push({ status: call.status, claim: call.claim?.by, idempotencyKey });
      return { city, degrees: 21 };
    },
  });
  await using agent = await startAgent(lab, {
    tools: { weather },
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: `It is ${lastOf(prompt).text}` }]
        : [
            { type: "text", text: "Let me look." },
            { type: "tool-call", toolName: "weather", toolCallId: "c1", input: { city: "Bern" } },
          ],
  });
  const session = await lab.session();
  const { run, text, state } = await lab.until(session, ended(await lab.send(session, "weather?")));
  expect(run).toMatchObject({ outcome: "complete", attempt: 1 });
  expect(seen).toEqual([{ status: "claimed", claim: "agent:demo", idempotencyKey: "s1/c1" }]);
  const answer = { type: "json", value: { city: "Bern", degrees: 21 } };
  expect(state.calls.get("c1")).toMatchObject({ outcome: "ok", answer: { answer } });
  expect(state.calls.get("c1")?.history.map(({ what }) => what)).toEqual([
    "proposed",
    "ended",
    "claimed",
    "settled",
  ]);
  expect(text).toContain("Let me look.");
  expect(text).toContain('"degrees":21');
  expect(agent.refused).toEqual([]);
});

test("a client's tool suspends the run until somebody answers it", async () => {
  await using lab = await openLab();
  const location = tool({
    description: "Where the user is",
    inputSchema: z.object({}),
    outputSchema: z.object({ place: z.string() }),
  });
  const given: string[][][] = [];
  await using agent = await startAgent(lab, {
    tools: { location },
    onRun(run) {
      const some = [run.calls(), run.calls({ state: "settled" }), run.calls({ state: ["open"] })];
      given.push(some.map((calls) => calls.map(({ id }) => id)));
    },
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: `Got ${lastOf(prompt).text}` }]
        : [{ type: "tool-call", toolName: "location", toolCallId: "c1", input: {} }],
  });
  const session = await lab.session();
  const runId = await lab.send(session, "where am I?");
  const call = await lab.until(
    session,
    (state) => state.runs.get(runId)?.status === "suspended" && state.calls.get("c1"),
  );
  expect(call).toMatchObject({ status: "open", executor: "client" });
  const value = { place: "Bern" };
  await lab.command(session, {
    type: "call.answer",
    callId: "c1",
    outcome: "ok",
    answer: { type: "json", value },
  });
  const { run, text } = await lab.until(session, ended(runId));
  expect(run).toMatchObject({ outcome: "complete", attempt: 2 });
  expect(text).toContain('"place":"Bern"');
  expect(given).toEqual([
    [[], [], []],
    [["c1"], ["c1"], []],
  ]);
  expect(agent.refused).toEqual([]);
});

test.each([
  { approved: true, effects: 1, says: '"sent":100' },
  { approved: false, effects: 0, says: "too much" },
])("a gated tool waits for a person; approved: $approved", async ({ approved, effects, says }) => {
  await using lab = await openLab();
  let done = 0;
  const transfer = tool({
    description: "Sends money",
    inputSchema: z.object({ amount: z.number() }),
    execute: async ({ amount }) => {
      done += 1;
      return { sent: amount };
    },
  });
  await using agent = await startAgent(lab, {
    tools: { transfer },
    policies: { transfer: { sideEffects: true } },
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: `Result: ${lastOf(prompt).text}` }]
        : [
            {
              type: "tool-call",
              toolName: "transfer",
              toolCallId: "c1",
              input: { amount: 100 },
            },
          ],
  });
  const session = await lab.session();
  const runId = await lab.send(session, "send 100");
  const gated = await lab.until(session, (state) => {
    const call = state.calls.get("c1");
    return state.runs.get(runId)?.status === "suspended" && call?.status === "gated" && call;
  });
  expect(done).toBe(0);
  const approvalId = gated.approval?.id ?? "";
  const reason = "too much";
  await lab.command(session, { type: "call.decide", callId: "c1", approvalId, approved, reason });
  const { run, state, text } = await lab.until(session, ended(runId));
  expect(run).toMatchObject({ outcome: "complete", attempt: 2 });
  expect(done).toBe(effects);
  expect(text).toContain(says);
  expect(state.calls.get("c1")).toMatchObject({ outcome: approved ? "ok" : "denied" });
  expect(agent.refused).toEqual([]);
});
