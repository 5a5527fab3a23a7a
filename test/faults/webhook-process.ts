import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { webhookHandler } from "@holdfast/sdk/agent";
import { aiSdk } from "@holdfast/sdk/codec/ai-sdk";

// A webhook's receiver to be killed: `node webhook-process.ts <server url> <token> <port> <secret> <file> <step>`.
// It kills itself when it comes to the step, as `kill -9` would; without one it goes on. Each attempt that its handler
// begins is a line of the file.
const [url = "", token = "", port = "", secret = "", file = "", step = ""] = process.argv.slice(2);

function at(reached: string): void {
  if (reached === step) process.kill(process.pid, "SIGKILL");
}

const handle = webhookHandler({
  url,
  token: async () => {
    at("verified");
    // The answer leaves first.
    if (step === "answered") await new Promise(() => {});
    return token;
  },
  agent: "demo",
  secret,
  codec: aiSdk,
  fetch: async (input, init) => {
    const response = await fetch(input, init);
    if (new Request(input).url.endsWith("/work/claim")) at("claimed");
    return response;
  },
  async handler(run) {
    appendFileSync(file, `${run.session} ${run.attempt}\n`);
    await run.append([
      { type: "round.open" },
      { type: "TEXT_MESSAGE_START", messageId: "a", role: "assistant" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "said " },
    ]);
    at("running");
    await run.append([
      { type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "once" },
      { type: "TEXT_MESSAGE_END", messageId: "a" },
      { type: "round.close" },
    ]);
  },
});

// As where a platform lets a function go on after its answer, and then does not.
const context = step === "answered" ? { waitUntil() {} } : undefined;
const listener = getRequestListener(async (request) => {
  at("reached");
  const response = await handle(request, context);
  at("finished");
  return response;
});
createServer((request, response) => {
  response.on("close", () => at("answered"));
  void listener(request, response);
}).listen(Number(port), "127.0.0.1");
