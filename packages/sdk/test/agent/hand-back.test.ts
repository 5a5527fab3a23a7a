import { tool, type UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { attachRun, type Run } from "@holdfast/sdk/agent";
import { aiSdk } from "@holdfast/sdk/codec/ai-sdk";
import { startAgent } from "../support/agent.ts";
import { ended, openLab, type Lab } from "../support/lab.ts";

const work = (lab: Lab, handler: (run: Run<UIMessageChunk>) => Promise<void>) =>
  startAgent(lab, { respond: () => [], worker: { handler } });

const text = (messageId: string, delta: string) =>
  [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
    { type: "TEXT_MESSAGE_END", messageId },
  ] as const;

test("a detached attempt waits for whoever attaches, longer than its lease and over a restart", async () => {
  await using lab = await openLab({ leaseMs: 400, heartbeatMs: 100 });
  const { promise, resolve } = Promise.withResolvers<Run<UIMessageChunk>>();
  await using agent = await work(lab, async (run) => {
    await run.append(text("a", "before"));
    const until = new Date(Date.now() + 60_000);
    expect(await run.detach(until)).toEqual(until);
    expect(run.signal.reason).toMatchObject({ code: "closed" });
    resolve(run);
  });
  const session = await lab.session();
  const runId = await lab.send(session, "go");
  const { attempt, token } = await promise;
  await expect.poll(() => agent.active).toBe(0);
  await lab.restart({ downMs: 500 });
  await lab.until(session, (state) => state.runs.get(runId)?.status === "active");
  await new Promise((after) => setTimeout(after, 1_000)); // more than two leases
  {
    const where = { url: lab.url, token, session, runId, attempt, codec: aiSdk };
    await using other = await attachRun(where);
    await other.append(text("b", "after"));
    await other.finish();
  }
  const done = await lab.until(session, ended(runId));
  expect(done.run).toMatchObject({ outcome: "complete", attempt: 1, losses: 0 });
  expect(done.text).toBe("before\nafter");
});

test("5.3.7 a call that is executed when its attempt is detached is answered by whoever attaches", async () => {
  await using lab = await openLab({ leaseMs: 1_500, claimLeaseMs: 1_500, heartbeatMs: 200 });
  const { promise, resolve } = Promise.withResolvers<Run<UIMessageChunk>>();
  let mine: Run<UIMessageChunk> | undefined;
  const job = tool({
    inputSchema: z.object({}),
    async execute(_, { abortSignal }) {
      await mine?.detach(Date.now() + 60_000);
      if (mine) resolve(mine);
      return new Promise((_, reject) => abortSignal?.addEventListener("abort", reject));
    },
  });
  await using agent = await startAgent(lab, {
    tools: { job },
    respond: () => [{ type: "tool-call", toolName: "job", input: {} }],
    onRun: (run) => (mine ??= run as unknown as Run<UIMessageChunk>),
  });
  const session = await lab.session();
  const runId = await lab.send(session, "go");
  const { attempt, token } = await promise;
  await expect.poll(() => agent.active).toBe(0);
  await new Promise((after) => setTimeout(after, 3_500)); // more than two leases
  const where = { url: lab.url, token, session, runId, attempt, codec: aiSdk };
  await using other = await attachRun(where);
  const [call] = other.calls({ state: "claimed" });
  await other.answer(call?.id ?? "", "done elsewhere");
  await other.finish();
  const done = await lab.until(session, ended(runId));
  expect(done.run).toMatchObject({ outcome: "complete", attempt: 1, losses: 0 });
  expect(done.state.calls.get(call?.id ?? "")).toMatchObject({
    outcome: "ok",
    answer: { answer: { value: "done elsewhere" } },
  });
  expect(agent.refused).toEqual([]);
});

test("what is released goes to another attempt at once, and is no loss", async () => {
  await using lab = await openLab();
  await using agent = await work(lab, async (run) => {
    if (run.attempt < 6) await run.release();
    else await run.append(text("a", "done"));
  });
  const session = await lab.session();
  const { run, text: said } = await lab.until(session, ended(await lab.send(session, "go")));
  expect(run).toMatchObject({ outcome: "complete", attempt: 6, losses: 0 });
  expect(said).toBe("done");
  expect(agent.errors).toEqual([]);
});

test("a worker that stops hands back what its handlers did not end in time", async () => {
  await using lab = await openLab({ leaseMs: 600_000 });
  const session = await lab.session();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const first = await work(lab, async (run) => {
    await run.append([{ type: "round.open" }, ...text("a", "half")]);
    begin();
    await new Promise((_, reject) => run.signal.addEventListener("abort", reject));
  });
  const runId = await lab.send(session, "go");
  await begun;
  await first.stop({ graceMs: 0 });
  await using second = await work(lab, (run) => run.append(text("b", "whole")));
  const { run, text: said } = await lab.until(session, ended(runId));
  expect(run).toMatchObject({ outcome: "complete", attempt: 2, losses: 0 });
  expect(said).toBe("whole");
  expect([...first.errors, ...second.errors]).toEqual([]);
});

test("a worker stops though the server is gone", async () => {
  const lab = await openLab();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const agent = await work(lab, async (run) => {
    begin();
    await new Promise((_, reject) => run.signal.addEventListener("abort", reject));
  });
  await lab.send(await lab.session(), "go");
  await begun;
  await lab[Symbol.asyncDispose]();
  await agent.stop({ graceMs: 0 });
  expect(agent.active).toBe(0);
});
