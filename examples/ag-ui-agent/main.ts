import { createServer, memoryStorage } from "holdfast";
import { createClient } from "@holdfast/sdk/client";
import { startAgent } from "./agent.ts";

// An AG-UI agent becomes a session's by its URL. Its question to the application and its question to a person are two
// calls of the session: whoever answers them, and whenever, the agent goes on. It is the one in agent.ts, or at a URL that
// is given: agent.py's, say.

const [given] = process.argv.slice(2);
const agent = given === undefined ? await startAgent() : undefined;
await using storage = memoryStorage();
await using server = createServer({
  storage,
  agents: { default: { url: given ?? agent?.url ?? "" } },
});

await using client = createClient({
  url: "http://in-process",
  fetch: async (input: RequestInfo | URL, init?: RequestInit) =>
    server.fetch(new Request(input, init)),
  token: () => server.mint("user:ana"),
});
const session = client.open("parking", { create: { agent: "default" } });
await session.ready();
await session.advertise([{ name: "where_am_i", description: "Where the user is." }]);
const { runId = "" } = await session.send("I need to park.");

await seen(() => session.state.calls.get("where")?.status === "open");
console.log("The agent asks where the user is; the application answers.");
await session.answer("where", "Harbour Street");

await seen(() => session.state.calls.get("pay")?.status === "gated");
const { arguments: amount, approval } = session.state.calls.get("pay") ?? {};
console.log(`${approval?.reason} ${amount} waits for a decision; Ana approves it.`);
await session.decide("pay", { approved: true });

await seen(() => session.state.runs.get(runId)?.status === "ended");
const run = session.state.runs.get(runId);
const pay = session.state.calls.get("pay");
console.log(`The call ended ${pay?.outcome}, approved by ${pay?.approval?.decision?.by}.`);
console.log(`The run is ${run?.outcome}, after ${run?.attempt} runs of the agent.`);
if (pay?.outcome !== "ok" || run?.outcome !== "complete") process.exitCode = 1;
agent?.server.close();

/** Waits for the session's state to have something. */
async function seen(isThere: () => boolean): Promise<void> {
  while (!isThere()) {
    await new Promise<void>((resolve) => {
      const stop = session.subscribe(() => {
        stop();
        resolve();
      });
    });
  }
}
