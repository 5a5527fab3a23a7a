import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { runInThisContext } from "node:vm";
import { HttpAgent } from "@ag-ui/client";
import { expect, it } from "vitest";
import { memoryStorage } from "../../../src/storage/memory.ts";
import { createServer } from "../../../src/index.ts";
import { startAgent } from "../../../../../examples/ag-ui-agent/agent.ts";

const guide = readFileSync(new URL("../../../../../docs/guides/ag-ui.md", import.meta.url), "utf8");

it("the guide's code runs as it stands there, one block after the other", async () => {
  await using storage = memoryStorage();
  const demo = await startAgent();
  await using server = createServer({ storage, agents: { demo: { url: demo.url } } });
  const { url } = await server.listen();

  const blocks = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  expect(blocks).toHaveLength(4);
  const code = stripTypeScriptTypes(blocks.join("\n"))
    .replaceAll(/^import .*$/gm, "")
    .replaceAll("http://127.0.0.1:4646", url);
  const run = runInThisContext(`(async (HttpAgent) => {${code}; return { agent, page }; })`);
  const { agent, page } = (await run(HttpAgent)) as { agent: HttpAgent; page: HttpAgent };

  expect(agent.pendingInterrupts).toEqual([]);
  for (const { messages } of [agent, page]) {
    expect(messages.at(-1)).toMatchObject({ role: "assistant", content: "It is paid." });
    expect(messages.filter(({ role }) => role === "tool")).toMatchObject([
      { toolCallId: "where", content: "Bern" },
      { toolCallId: "pay", content: "Paid 5." },
    ]);
  }
  demo.server.close();
});
