import { createServer, memoryStorage } from "holdfast";
import { isStepCount, streamText, tool, toUIMessageStream } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { worker } from "@holdfast/sdk/agent";
import { createClient, createTransport, provideTool } from "@holdfast/sdk/client";
import { aiSdk } from "@holdfast/sdk/codec/ai-sdk";
import { inProcess, scriptedModel } from "@holdfast/sdk/testing";
import { lastOf } from "../support/agent.ts";
import { textOf } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

test("server, agent and client in one process need no socket", async () => {
  await using storage = memoryStorage();
  await using server = createServer({ storage });
  const tools = { where: tool({ inputSchema: z.object({}), outputSchema: z.string() }) };
  const model = scriptedModel({
    respond: (prompt) =>
      lastOf(prompt).role === "tool"
        ? [{ type: "text", text: `You are in ${lastOf(prompt).text}` }]
        : [{ type: "tool-call", toolName: "where", toolCallId: "c1", input: {} }],
  });
  const errors: unknown[] = [];
  await using agent = worker({
    ...inProcess(server, "agent:demo"),
    agent: "demo",
    codec: aiSdk,
    tools,
    onError: (error) => errors.push(error),
    async handler(run) {
      const { stream } = streamText({
        model,
        ...run.tools(),
        messages: await run.history(),
        abortSignal: run.signal,
        stopWhen: isStepCount(3),
      });
      await run.pipe(toUIMessageStream({ stream }));
    },
  });
  await using client = createClient(inProcess(server, "user:ana"));
  const session = client.open("s1", { create: { agent: "demo" } });
  using _ = provideTool(session, { name: "where", execute: () => "Bern" });
  const { runId = "" } = await session.send("where am I?");
  await waitFor(() => expect(session.state.runs.get(runId)?.outcome).toBe("complete"));
  expect(textOf(session.state, runId)).toContain("Bern");
  expect(agent.active).toBe(0);
  expect(errors).toEqual([]);
});

test("an aborted stream ends at once, and so does its reader", async () => {
  await using storage = memoryStorage();
  await using server = createServer({ storage, sseHeartbeatMs: 600_000 });
  const client = createClient(inProcess(server, "user:ana"));
  const session = client.open("s1", { create: { agent: "demo" } });
  await session.ready();
  await waitFor(() => expect(session.status.type).toBe("live"));
  await client.close();
  expect(session.status.type).toBe("closed");
});

test("one wake-up is one attempt, whoever asks how often; its worker gets it again", async () => {
  await using storage = memoryStorage();
  await using server = createServer({ storage });
  await using client = createClient(inProcess(server, "user:ana"));
  const session = client.open("s1", { create: { agent: "demo" } });
  const { runId } = await session.send("go");
  const transport = createTransport(inProcess(server, "agent:demo"));
  const claim = (worker: string, wakeId?: string) =>
    transport.json("/v1/work/claim", {
      method: "POST",
      body: JSON.stringify({ agent: "demo", worker, waitMs: 0, ...(wakeId && { wakeId }) }),
      parse: (value) => (value as { work?: Record<string, unknown> } | undefined)?.work,
    });
  const first = await Promise.all(["w1", "w2", "w3"].map((worker) => claim(worker)));
  const granted = first.findIndex((work) => work !== undefined);
  const work = first[granted];
  expect(first.filter((it) => it !== undefined)).toHaveLength(1);
  expect(work).toMatchObject({ runId, attempt: 1 });
  const wakeId = String(work?.["wakeId"]);
  const again = await Promise.allSettled(["w1", "w2", "w3"].map((it) => claim(it, wakeId)));
  expect(again).toMatchObject(
    [0, 1, 2].map((index) =>
      index === granted ? { value: { attempt: 1 } } : { reason: { code: "run_held" } },
    ),
  );
});

test("a worker that waits for work in the same process stops at once", async () => {
  await using storage = memoryStorage();
  await using server = createServer({ storage });
  const agent = worker({
    ...inProcess(server, "agent:demo"),
    agent: "demo",
    codec: aiSdk,
    handler: async () => {},
  });
  await agent.stop();
  await agent.stopped;
});
