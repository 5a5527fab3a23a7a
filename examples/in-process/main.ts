import { createServer, memoryStorage } from "holdfast";
import { worker } from "@holdfast/sdk/agent";
import { createClient } from "@holdfast/sdk/client";
import { aiSdk } from "@holdfast/sdk/codec/ai-sdk";
import { scriptedModel } from "@holdfast/sdk/testing";
import { isStepCount, streamText, tool, toUIMessageStream } from "ai";
import { z } from "zod";

// Server, agent and a person's client in one process. Nothing listens on a port; everything else is as over the
// network: the call is claimed before it runs, and it waits for a decision where its policy says so.

await using storage = memoryStorage();
await using server = createServer({ storage });

/** How agent and client reach the server: its own `fetch`, in place of the platform's. */
const here = {
  url: "http://in-process",
  fetch: async (input: RequestInfo | URL, init?: RequestInit) =>
    server.fetch(new Request(input, init)),
};

const tools = {
  transfer: tool({
    description: "Sends money",
    inputSchema: z.object({ amount: z.number() }),
    execute: async ({ amount }) => ({ sent: amount }),
  }),
};

/** Stands for a real model, so that the example needs no key. */
const model = scriptedModel({
  respond: (prompt) =>
    prompt.at(-1)?.role === "tool"
      ? [{ type: "text", text: "The money is on its way." }]
      : [{ type: "tool-call", toolName: "transfer", input: { amount: 100 } }],
});

await using agent = worker({
  ...here,
  token: () => server.mint("agent:demo"),
  agent: "demo",
  codec: aiSdk,
  tools,
  policies: { transfer: { sideEffects: true } },
  async handler(run) {
    const { stream } = streamText({
      model,
      ...run.tools(),
      messages: await run.history(),
      abortSignal: run.signal,
      stopWhen: isStepCount(5),
    });
    await run.pipe(toUIMessageStream({ stream }));
  },
});

await using client = createClient({ ...here, token: () => server.mint("user:ana") });
const session = client.open("s1", { create: { agent: "demo" } });
const { runId = "" } = await session.send("Send 100.");

const [call] = await seen(() => {
  const gated = [...session.state.calls.values()].filter(({ status }) => status === "gated");
  return gated.length > 0 && gated;
});
if (!call) throw new Error("There is no call to decide upon.");
console.log(`${call.name} ${call.arguments} waits for a decision; Ana approves it.`);
await session.decide(call.id, { approved: true });

const run = await seen(() => {
  const now = session.state.runs.get(runId);
  return now?.status === "ended" && now;
});
const { outcome, answer } = session.state.calls.get(call.id) ?? {};
console.log(`The call ended ${outcome} with ${JSON.stringify(answer?.answer)}.`);
console.log(`The run is ${run.outcome}, worked on by ${agent.name}.`);
if (outcome !== "ok" || run.outcome !== "complete") process.exitCode = 1;

/** What `find` gives, as soon as the session's state has it. */
async function seen<T>(find: () => T | false): Promise<T> {
  for (;;) {
    const found = find();
    if (found !== false) return found;
    await new Promise<void>((resolve) => {
      const stop = session.subscribe(() => {
        stop();
        resolve();
      });
    });
  }
}
