import { executionOf, worker } from "@holdfast/sdk/agent";
import { aiSdk } from "@holdfast/sdk/codec/ai-sdk";
import { scriptedModel } from "@holdfast/sdk/testing";
import { isStepCount, streamText, tool, toUIMessageStream } from "ai";
import { z } from "zod";

// An agent to be killed: `node agent-process.ts <url> <token> <name> <effects url> <pace in ms> <hangs>`.
// Its one tool has an effect on another process, then answers; one that hangs never gets to the answer.
const [url = "", token = "", name = "", effects = "", pace = "0", hangs = ""] =
  process.argv.slice(2);

const effect = (hint: "safe" | "unsafe") =>
  tool({
    description: `Has an effect (${hint})`,
    inputSchema: z.object({ note: z.string() }),
    async execute(_, options) {
      await fetch(effects, { method: "POST", body: executionOf(options).idempotencyKey });
      if (hangs === "hangs") await new Promise(() => setInterval(() => {}, 1_000));
      return { done: true };
    },
  });

const model = scriptedModel({
  delayMs: Number(pace),
  respond(prompt) {
    const last = prompt.at(-1);
    if (last?.role === "tool") return [{ type: "text", text: JSON.stringify(last.content) }];
    const said = JSON.stringify(last?.content);
    if (said.includes("talk")) return [{ type: "text", text: words("word", 100) }];
    const toolName = said.includes("unsafe") ? "unsafe" : "safe";
    const input = { note: words("note", said.includes("long") ? 100 : 1) };
    return [
      { type: "text", text: "I will." },
      { type: "tool-call", toolName, input },
    ];
  },
});

worker({
  url,
  token,
  name,
  agent: "demo",
  codec: aiSdk,
  tools: { safe: effect("safe"), unsafe: effect("unsafe") },
  policies: { safe: { retry: "safe" } },
  onError: console.error,
  async handler(run) {
    const { tools, toolApproval } = run.tools();
    const result = streamText({
      model,
      tools,
      toolApproval,
      messages: await run.history(),
      abortSignal: run.signal,
      stopWhen: isStepCount(5),
    });
    await run.pipe(toUIMessageStream({ stream: result.stream, tools }));
  },
});

function words(word: string, count: number): string {
  return Array.from({ length: count }, (_, i) => `${word}${i}`).join(" ");
}
