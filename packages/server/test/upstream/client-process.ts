import { HttpAgent } from "@ag-ui/client";

// A process of somebody's own that runs an agent by the stock client, again where that failed, and says what it holds.
const [url = "", token = "", runs = "1"] = process.argv.slice(2);
const agent = new HttpAgent({ url, threadId: "s1", headers: { authorization: `Bearer ${token}` } });
for (let run = 1; run <= Number(runs); run += 1) {
  agent.messages.push({ id: `u${run}`, role: "user", content: "Hi" });
  await agent.runAgent();
}
// An error that nobody caught ends the process a turn later.
setTimeout(() => console.log(JSON.stringify(agent.messages)), 100);
