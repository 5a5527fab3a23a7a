import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { runInThisContext } from "node:vm";
import { HttpAgent } from "@ag-ui/client";
import { worker } from "@holdfast/sdk/agent";
import { expect, it } from "vitest";
import { memoryStorage } from "../../../src/storage/memory.ts";
import { createServer } from "../../../src/index.ts";
import { call, PLAIN, round, text } from "./stage.ts";

const guide = readFileSync(new URL("../../../../../docs/guides/ag-ui.md", import.meta.url), "utf8");

it("the guide's code runs as it stands there, one block after the other", async () => {
  await using storage = memoryStorage();
  await using server = createServer({ storage });
  const { url } = await server.listen();
  await using _agent = worker({
    url,
    token: await server.mint("agent:demo"),
    agent: "demo",
    codec: PLAIN,
    async handler(run) {
      const { messages, calls } = run.state;
      if (messages.size === 1) return run.append(round(...text("a1", "From where?")));
      if (!calls.has("c1")) return run.append(round(...call("c1", "location", "{}")));
      if (!calls.has("c2")) {
        return run.append(round(...call("c2", "book", "{}"), { type: "call.ask", callId: "c2" }));
      }
      await run.answer("c2", "booked");
      return run.append(round(...text("a2", "Booked.")));
    },
  });

  const blocks = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  const own = blocks.filter((code) => !code.includes("@copilotkit"));
  expect(own).toHaveLength(4);
  const code = stripTypeScriptTypes(own.join("\n"))
    .replaceAll(/^import .*$/gm, "")
    .replaceAll("http://127.0.0.1:4646", url);
  const run = runInThisContext(`(async (HttpAgent) => {${code}; return { agent, page }; })`);
  const { agent, page } = (await run(HttpAgent)) as { agent: HttpAgent; page: HttpAgent };

  expect(agent.pendingInterrupts).toEqual([]);
  for (const { messages } of [agent, page]) {
    expect(messages.at(-1)).toMatchObject({ role: "assistant", content: "Booked." });
    expect(messages.filter(({ role }) => role === "tool")).toMatchObject([
      { toolCallId: "c1", content: "Bern" },
      { toolCallId: "c2", content: '"booked"' },
    ]);
  }
});
