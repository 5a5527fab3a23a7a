import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { HoldfastError } from "@holdfast/protocol";
import { lastOf, startAgent } from "../support/agent.ts";
import { ended, openLab, textOf } from "../support/lab.ts";
import { createNetwork } from "../support/network.ts";

const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`).join(" ");

test("cancelling a run aborts its model", async () => {
  await using lab = await openLab();
  let signal: AbortSignal | undefined;
  await using agent = await startAgent(lab, {
    delayMs: 5,
    respond: (prompt) => [
      { type: "text", text: lastOf(prompt).text === "on" ? "on" : words(5_000) },
    ],
    onRun: (run) => (signal ??= run.signal),
  });
  const session = await lab.session();
  const runId = await lab.send(session, "talk");
  await lab.until(session, (state) => textOf(state, runId).length > 20);
  await lab.command(session, { type: "run.cancel", runId });
  const said = await lab.until(session, ended(runId));
  expect(said.run.outcome).toBe("cancelled");
  await expect.poll(() => signal?.aborted).toBe(true);
  expect(signal?.reason).toMatchObject({ code: "run_ended" });
  await expect.poll(() => agent.active).toBe(0);
  expect(agent.errors).toEqual([]);
  // Nothing is said after the end, and the worker is free for more.
  await lab.command(session, { type: "message.send", messageId: "m2", content: "on" });
  const state = await lab.until(session, (now) => now.runs.size === 2 && now);
  expect(textOf(state, runId)).toBe(said.text);
});

test("a server that restarts under a run loses nothing of it and doubles nothing", async () => {
  await using lab = await openLab();
  const text = words(400);
  await using agent = await startAgent(lab, {
    delayMs: 5,
    respond: () => [{ type: "text", text }],
  });
  const session = await lab.session();
  const runId = await lab.send(session, "talk");
  for (const length of [100, 600]) {
    await lab.until(session, (state) => textOf(state, runId).length > length);
    await lab.restart({ downMs: 100 });
  }
  const done = await lab.until(session, ended(runId));
  expect(done.run).toMatchObject({ outcome: "complete", attempt: 1 });
  expect(done.text).toBe(text);
  // It takes work as before.
  const next = await lab.until(session, ended(await lab.send(session, "more")));
  expect(next.text).toBe(text);
  expect(agent.refused).toEqual([]);
});

test("answers lost on the way change nothing: every command is sent again as it was", async () => {
  await using lab = await openLab();
  const network = createNetwork();
  let count = 0;
  network.lose(
    ({ method, path }) => method === "POST" && path.endsWith("/commands") && count++ % 2 === 0,
  );
  let effects = 0;
  const note = tool({
    description: "Takes a note",
    inputSchema: z.object({ text: z.string() }),
    execute: async ({ text }) => ({ effects: (effects += 1), text }),
  });
  const text = words(50);
  await using agent = await startAgent(lab, {
    tools: { note },
    delayMs: 1,
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: "done" }]
        : [
            { type: "text", text },
            { type: "tool-call", toolName: "note", toolCallId: "c1", input: { text } },
          ],
    worker: { fetch: network.fetch },
  });
  const session = await lab.session();
  const done = await lab.until(session, ended(await lab.send(session, "note")));
  expect(done.run).toMatchObject({ outcome: "complete", attempt: 1 });
  expect(done.text).toBe(`${text}\ndone`);
  expect(effects).toBe(1);
  expect(network.lost).toBeGreaterThan(5);
  expect(agent.refused).toEqual([]);
});

test("a handler that throws fails its run with its words", async () => {
  await using lab = await openLab();
  await using agent = await startAgent(lab, {
    respond: () => [],
    worker: { handler: () => Promise.reject(new Error("no such model")) },
  });
  const session = await lab.session();
  const { run } = await lab.until(session, ended(await lab.send(session, "hello")));
  expect(run).toMatchObject({
    outcome: "error",
    error: { code: "agent_error", message: "no such model" },
  });
  expect(agent.errors).toMatchObject([{ message: "no such model" }]);
});

test("a model that fails ends its run in that error", async () => {
  await using lab = await openLab();
  await using agent = await startAgent(lab, {
    respond: () => [
      { type: "text", text: "One moment" },
      { type: "error", error: new Error("overloaded by somebody else") },
    ],
  });
  const session = await lab.session();
  const { run, text } = await lab.until(session, ended(await lab.send(session, "hello")));
  expect(run.outcome).toBe("error");
  expect(run.error?.message).toContain("overloaded by somebody else");
  expect(text).toBe("One moment");
  expect(agent.active).toBeLessThanOrEqual(1);
});

test("a new process under a worker's name takes its runs over, and the old one stops at once", async () => {
  await using lab = await openLab();
  let signal: AbortSignal | undefined;
  const name = "same";
  await using old = await startAgent(lab, {
    delayMs: 5,
    respond: () => [{ type: "text", text: words(5_000) }],
    onRun: (run) => (signal = run.signal),
    worker: { name },
  });
  const session = await lab.session();
  const runId = await lab.send(session, "talk");
  await lab.until(session, (state) => textOf(state, runId).length > 20);
  await old.stop({ graceMs: 0 });
  expect(signal?.reason).toMatchObject({ code: "closed" });
  await using _next = await startAgent(lab, {
    respond: () => [{ type: "text", text: "short" }],
    worker: { name },
  });
  const done = await lab.until(session, ended(runId));
  expect(done.run).toMatchObject({ outcome: "complete", attempt: 2 });
  expect(done.text).toBe("short");
});

test("an attempt that was given away stops within a request, and says nothing more", async () => {
  await using lab = await openLab({ leaseMs: 300, heartbeatMs: 100 });
  const network = createNetwork();
  let signal: AbortSignal | undefined;
  await using lost = await startAgent(lab, {
    delayMs: 5,
    respond: () => [{ type: "text", text: words(5_000) }],
    onRun: (run) => (signal = run.signal),
    worker: { fetch: network.fetch, concurrency: 1 },
  });
  const session = await lab.session();
  const runId = await lab.send(session, "talk");
  await lab.until(session, (state) => textOf(state, runId).length > 20);
  network.cut();
  await using _other = await startAgent(lab, { respond: () => [{ type: "text", text: "short" }] });
  const done = await lab.until(session, ended(runId));
  expect(done.text).toBe("short");
  expect(signal?.aborted).toBe(false);
  network.mend();
  await expect.poll(() => signal?.aborted).toBe(true);
  expect(signal?.reason).toBeInstanceOf(HoldfastError);
  await expect.poll(() => lost.active).toBe(0);
  expect(await lab.until(session, (state) => textOf(state, runId))).toBe("short");
});

test("stop lets running handlers finish", async () => {
  await using lab = await openLab();
  const text = words(60);
  await using agent = await startAgent(lab, {
    delayMs: 5,
    respond: () => [{ type: "text", text }],
  });
  const session = await lab.session();
  const runId = await lab.send(session, "talk");
  await lab.until(session, (state) => textOf(state, runId).length > 20);
  await agent.stop();
  const done = await lab.until(session, ended(runId));
  expect(done.text).toBe(text);
  await agent.stopped;
});

test("a run that goes past its budget ends visibly, and its agent is told, not refused", async () => {
  await using lab = await openLab();
  const reasons: unknown[] = [];
  await using agent = await startAgent(lab, {
    respond: () => [],
    worker: {
      async handler(run) {
        const said = (value: number) => ({ type: "CUSTOM", name: "said", value }) as const;
        const open = { type: "round.open" } as const;
        await run.append([open, open, said(1)]);
        await run.append([open, said(2)]).catch((error: unknown) => reasons.push(error));
        reasons.push(run.signal.reason);
        await run.append([said(3)]);
      },
    },
  });
  const session = await lab.session();
  const budget = { rounds: 2, repeats: 25 };
  await lab.command(session, { type: "policy.set", policy: { budget } });
  const { run, state } = await lab.until(session, ended(await lab.send(session, "go")));
  const message = expect.stringContaining("more than 2 rounds");
  expect(run).toMatchObject({ outcome: "error", error: { code: "budget_exceeded", message } });
  const kept = [...state.items.values()].filter(({ kind }) => kind === "event");
  expect(kept).toMatchObject([{ event: { value: 1 } }]);
  await expect.poll(() => agent.active).toBe(0);
  expect(reasons).toMatchObject([
    { code: "budget_exceeded", message },
    { code: "budget_exceeded", message },
  ]);
  expect(agent.errors).toMatchObject([{ code: "budget_exceeded", message }]);
  expect(agent.refused).toEqual([]);
});
