import { worker } from "@holdfast/sdk/agent";
import { aiSdk } from "@holdfast/sdk/codec/ai-sdk";
import { isStepCount, streamText, toUIMessageStream } from "ai";
import { chooseModel } from "./agent/model.ts";
import { policies, tools } from "./agent/tools.ts";
import { whenToStop } from "./supervisor/when-to-stop.ts";

// The demo's agent: a worker whose handler is plain `streamText`. Started by start.ts.

const url = process.env["HOLDFAST_URL"] ?? "http://127.0.0.1:4100";
const { model, name } = chooseModel(process.env);

const system = `You are the assistant of a demo of Holdfast, a server that keeps sessions with agents.
Use the tools: weather for weather, location when you need to know where the person is, transfer to send money.
A transfer is approved by a person before it runs; do not ask for permission in words first.
Call tools that do not depend on each other at the same time. When a call fails or is denied, say so, with the reason.
Be brief.`;

const agent = worker({
  url,
  token: createTokenSource(),
  agent: "demo",
  // One name, so that a restarted process takes its runs over at once.
  name: "demo-worker",
  codec: aiSdk,
  tools,
  policies,
  complete: true,
  backoff: { baseMs: 100, maxMs: 1_000 },
  async handler(run) {
    const given = run.tools();
    const result = streamText({
      model,
      ...given,
      system,
      messages: await run.history(),
      // What people send to steer the run is in the next request.
      experimental_steering: await run.steering(),
      stopWhen: isStepCount(8),
      abortSignal: run.signal,
      // Told by the stream that is piped.
      onError: () => {},
    });
    await run.pipe(
      toUIMessageStream({
        stream: result.stream,
        tools: given.tools,
        sendSources: true,
        onError: (error) => (error instanceof Error ? error.message : String(error)),
      }),
    );
  },
  onError(error) {
    if (stopping.aborted) return;
    console.error(
      `Holdfast demo: agent: ${error instanceof Error ? error.message : String(error)}`,
    );
  },
});

const stopping = whenToStop();
console.log(`Holdfast demo: the model is ${name}.`);
process.send?.("ready");
stopping.addEventListener("abort", () => void agent.stop({ graceMs: 0 }));
await agent.stopped;
if (process.connected) process.disconnect();

/** The agent's token, asked for once and again only after it was refused. */
function createTokenSource(): () => Promise<string> {
  let token: string | undefined;
  return async () => {
    token ??= await mint();
    return token;
  };
}

async function mint(): Promise<string> {
  const response = await fetch(`${url}/v1/dev/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ agent: "demo" }),
  });
  if (!response.ok) throw new Error(`${url} gave the agent no token (${response.status}).`);
  const { token } = (await response.json()) as { token: string };
  return token;
}
