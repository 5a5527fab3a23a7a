import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { createClient, type Client } from "../../src/client/index.ts";
import { scriptedAgent } from "./scripted-agent.ts";

/** A real server that shares no globals with the test; the page under test is made to come from it. */
export async function serverThread() {
  const thread = new Worker(join(import.meta.dirname, "serve.ts"), {
    execArgv: ["--conditions=@holdfast/source"],
  });
  const [url] = (await once(thread, "message")) as [string];
  (globalThis as { happyDOM?: { setURL(url: string): void } }).happyDOM?.setURL(url);
  const tokenOf = async (who: object) => {
    const response = await fetch(`${url}/v1/dev/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(who),
    });
    return ((await response.json()) as { token: string }).token;
  };
  return {
    client: (name: string): Client => createClient({ url, token: () => tokenOf({ name }) }),
    agent: (tools: Parameters<typeof scriptedAgent>[2]) =>
      scriptedAgent(url, () => tokenOf({ agent: "demo" }), tools),
    stop: () => thread.terminate(),
  };
}
