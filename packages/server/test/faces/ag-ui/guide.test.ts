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
  expect(blocks).toHaveLength(5);
  const code = stripTypeScriptTypes(blocks.join("\n"))
    .replaceAll(/^import .*$/gm, "")
    .replaceAll("http://127.0.0.1:4646", url);
  const { fetch: broken, cuts } = breakingFetch();
  const run = runInThisContext(
    `(async (HttpAgent, fetch) => {${code}; return { agent, page, steady }; })`,
  );
  const { agent, page, steady } = (await run(HttpAgent, broken)) as Record<string, HttpAgent>;
  if (!agent || !page || !steady) throw new Error("The guide makes three.");

  expect(agent.pendingInterrupts).toEqual([]);
  expect(cuts()).toBeGreaterThan(2);
  expect(steady.messages.at(-1)).toMatchObject({ role: "assistant", content: "You are welcome." });
  for (const { messages } of [agent, page]) {
    expect(messages.at(-1)).toMatchObject({ role: "assistant", content: "It is paid." });
    expect(messages.filter(({ role }) => role === "tool")).toMatchObject([
      { toolCallId: "where", content: "Bern" },
      { toolCallId: "pay", content: "Paid 5." },
    ]);
  }
  demo.server.close();
});

/** A network that breaks each AG-UI stream off behind its second frame with an id; behind the first, where one goes on. */
function breakingFetch() {
  let cuts = 0;
  async function* broken(response: Response, kept: number) {
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const frames = text.split("\n\n");
      const whole = frames.slice(0, -1);
      const last = whole.filter((frame) => frame.startsWith("id: "))[kept - 1];
      if (last === undefined) continue;
      cuts += 1;
      yield `${frames.slice(0, frames.indexOf(last) + 1).join("\n\n")}\n\nid: half of`;
      throw new TypeError("terminated");
    }
    yield text;
  }
  return {
    cuts: () => cuts,
    fetch: async (url: string, init: RequestInit): Promise<Response> => {
      const response = await fetch(url, init);
      if (!url.endsWith("/ag-ui") || !response.ok) return response;
      const kept = "last-event-id" in (init.headers ?? {}) ? 1 : 2;
      const parts = broken(response, kept);
      const frames = new ReadableStream<string>({
        async pull(controller) {
          const { value, done } = await parts.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      });
      return new Response(frames.pipeThrough(new TextEncoderStream()), response);
    },
  };
}
