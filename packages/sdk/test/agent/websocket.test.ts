import type { AgentItem } from "@holdfast/protocol";
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { lastOf, startAgent } from "../support/agent.ts";
import { ended, openLab, textOf } from "../support/lab.ts";
import { createNetwork } from "../support/network.ts";
import { createSockets } from "../support/sockets.ts";

const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`).join(" ");

/** A worker whose attempts speak over a WebSocket, and what it said over it. */
function overSocket() {
  const network = createNetwork();
  const sockets = createSockets();
  const worker = {
    transport: "websocket",
    webSocket: sockets.webSocket,
    fetch: network.fetch,
  } as const;
  return { network, sockets, worker };
}

const note = (execute: (text: string) => unknown) =>
  tool({
    description: "Takes a note",
    inputSchema: z.object({ text: z.string() }),
    execute: async ({ text }) => execute(text),
  });

test("a worker's attempts share one socket, and send nothing of their own over HTTP", async () => {
  await using lab = await openLab();
  const { network, sockets, worker } = overSocket();
  await using agent = await startAgent(lab, {
    tools: { note: note((text) => text) },
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: "done" }]
        : [{ type: "tool-call", toolName: "note", toolCallId: "c1", input: { text: "x" } }],
    worker,
  });
  const sessions = await Promise.all([lab.session(), lab.session(), lab.session()]);
  const runs = await Promise.all(
    sessions.map(async (session) => lab.until(session, ended(await lab.send(session, "go")))),
  );
  for (const { run, text } of runs) {
    expect(run).toMatchObject({ outcome: "complete", attempt: 1 });
    expect(text).toBe("done");
  }
  expect(sockets.made).toBe(1);
  const asked = network.requests.map(({ path }) => path.replace(/.*\//, ""));
  expect(new Set(asked)).toEqual(new Set(["state"]));
  expect(sockets.sent.filter(({ type }) => type === "append").length).toBeGreaterThan(5);
  // Each is sent once its worker has heard how its run ended.
  await expect.poll(() => sockets.sent.filter(({ type }) => type === "forget")).toHaveLength(3);
  expect(agent.errors).toEqual([]);
  await agent.stop();
  await expect.poll(() => sockets.open).toBe(0);
});

test("acknowledgements lost with their socket change nothing: batches are sent again as they were", async () => {
  await using lab = await openLab();
  const { sockets, worker } = overSocket();
  let count = 0;
  let lost = 0;
  sockets.lose(({ type }) => {
    const isLost = (type === "ack" || type === "verdicts") && count++ % 3 === 0;
    if (isLost) lost += 1;
    return isLost;
  });
  let effects = 0;
  const text = words(60);
  await using agent = await startAgent(lab, {
    tools: { note: note(() => (effects += 1)) },
    delayMs: 1,
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: "done" }]
        : [
            { type: "text", text },
            { type: "tool-call", toolName: "note", toolCallId: "c1", input: { text } },
          ],
    worker,
  });
  const session = await lab.session();
  const done = await lab.until(session, ended(await lab.send(session, "note")));
  expect(done.run).toMatchObject({ outcome: "complete", attempt: 1 });
  expect(done.text).toBe(`${text}\ndone`);
  expect(effects).toBe(1);
  expect(lost).toBeGreaterThan(3);
  expect(sockets.made).toBeGreaterThanOrEqual(lost);
  expect(agent.refused).toEqual([]);
  // The request for work was lost with its socket now and then, which is told, and asked again.
  for (const error of agent.errors) expect(error).toMatchObject({ code: "unreachable" });
});

test("a server that restarts under a run loses nothing of it and doubles nothing", async () => {
  await using lab = await openLab();
  const { worker } = overSocket();
  const text = words(400);
  await using agent = await startAgent(lab, {
    delayMs: 5,
    respond: () => [{ type: "text", text }],
    worker,
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
  expect(agent.refused).toEqual([]);
});

test("two attempts of one session speak and hear over the same socket", async () => {
  await using lab = await openLab();
  const { sockets, worker } = overSocket();
  const text = words(100);
  await using agent = await startAgent(lab, {
    delayMs: 2,
    respond: () => [{ type: "text", text }],
    worker,
  });
  const session = await lab.session();
  const first = await lab.send(session, "one");
  const verdict = await lab.command(session, {
    type: "message.send",
    messageId: "m2",
    content: "two",
    whileActive: "concurrent",
  });
  for (const runId of [first, verdict.runId ?? ""]) {
    const done = await lab.until(session, ended(runId));
    expect(done.run).toMatchObject({ outcome: "complete", attempt: 1 });
    expect(done.text).toBe(text);
  }
  expect(sockets.made).toBe(1);
  expect(agent.errors).toEqual([]);
});

test("a cancel reaches the agent over the socket, and a stop hands its run back", async () => {
  await using lab = await openLab({ leaseMs: 600_000 });
  const { worker } = overSocket();
  const long = { delayMs: 5, respond: () => [{ type: "text" as const, text: words(5_000) }] };
  const agent = await startAgent(lab, { ...long, worker });
  const session = await lab.session();
  const runId = await lab.send(session, "talk");
  await lab.until(session, (state) => textOf(state, runId).length > 20);
  await lab.command(session, { type: "run.cancel", runId });
  await expect.poll(() => agent.active).toBe(0);
  const other = await lab.session();
  const next = await lab.send(other, "talk");
  await lab.until(other, (state) => textOf(state, next).length > 20);
  await agent.stop({ graceMs: 0 });
  const run = await lab.until(other, (state) => {
    const it = state.runs.get(next);
    return it?.status === "queued" && it;
  });
  expect(run).toMatchObject({ losses: 0 });
  expect(agent.errors).toEqual([]);
});

test("an item the server refuses over the socket takes nothing else down", async () => {
  await using lab = await openLab();
  const { worker } = overSocket();
  const bad = { type: "TEXT_MESSAGE_END", messageId: "none" } as AgentItem;
  await using agent = await startAgent(lab, {
    respond: () => [{ type: "text", text: "hello" }],
    worker,
    onRun: (run) => void run.append([bad]).catch(() => {}),
  });
  const session = await lab.session();
  const done = await lab.until(session, ended(await lab.send(session, "talk")));
  expect(done.text).toBe("hello");
  expect(agent.refused).toMatchObject([{ item: bad, error: { code: "sequence_violation" } }]);
});
