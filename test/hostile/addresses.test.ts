import { once } from "node:events";
import { createServer as listen } from "node:http";
import type { CommandBody } from "@holdfast/protocol";
import { createServer, memoryStorage } from "holdfast";
import { expect, test, vi } from "vitest";
import { wire } from "../support/wire.ts";

const SECRET = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;

/** An address on loopback that counts who asks for it, and what it answers. */
async function address(answer: { status: number; headers?: Record<string, string> }) {
  const asked: string[] = [];
  const server = listen((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.resume();
    response.writeHead(answer.status, answer.headers).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  if (typeof bound !== "object" || !bound) throw new Error("It does not listen.");
  return {
    url: `http://127.0.0.1:${bound.port}/`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

test("an address that a client, an agent or a model writes anywhere is never asked", async () => {
  await using trap = await address({ status: 204 });
  await using hook = await address({ status: 204 });
  await using storage = memoryStorage();
  const target = { url: hook.url, secret: SECRET };
  await using server = createServer({
    storage,
    webhooks: { agents: { demo: target }, notify: target, absentMs: 0 },
  });
  const { url } = await server.listen();
  const it = trap.url;
  const ana = wire(url, await server.mint("user:ana"));
  const demo = wire(url, await server.mint("agent:demo"));
  const webhooks = {
    agents: { demo: { url: it, secret: SECRET }, [it]: target },
    notify: { url: it },
  };
  const everywhere = { url: it, webhook: it, webhooks, notify: it, callback: it, callbackUrl: it };

  // Sessions, whatever they are called.
  for (const [id, agent] of [
    ["s", "demo"],
    [it, "demo"],
    ["of", it],
  ] as const) {
    const body = { agent, metadata: everywhere, ...everywhere };
    await ana.call("PUT", `/v1/sessions/${encodeURIComponent(id)}`, body);
    const media = { type: "image", source: { type: "url", value: it } };
    const contents = [`look at ${it}`, [{ type: "text", text: it }, media]];
    for (const [n, content] of contents.entries()) {
      const send = { type: "message.send", messageId: `${it}${n}`, content };
      await ana.command(id, { ...send, metadata: everywhere, ...everywhere } as never);
    }
  }
  // An attempt, and what it says.
  const tool = (name: string, parameters: object) => ({ name, parameters, metadata: everywhere });
  const plain = tool("pay", { type: "object", description: it });
  const pay = { ...plain, executor: "client", approval: "always" };
  await ana.create("t");
  await ana.command("t", { type: "message.send", messageId: "m", content: it });
  const { state } = await ana.state("t");
  const { id: named, wakeId } = state.runs[0] ?? {};
  const claim = { worker: "w", session: "t", runId: named, wakeId, tools: [pay] };
  const work = await demo.claimWork(claim);
  const { runId, attempt, token } = work ?? { runId: "", attempt: 0, token: "" };
  const agent = demo.as(token);
  const fence = { runId, attempt, producer: it };
  const items = [
    { type: "round.open" },
    { type: "CUSTOM", name: it, value: everywhere },
    { type: "TOOL_CALL_START", toolCallId: it, toolCallName: "pay", metadata: everywhere },
    { type: "TOOL_CALL_ARGS", toolCallId: it, delta: JSON.stringify(everywhere) },
    { type: "TOOL_CALL_END", toolCallId: it },
    { type: "round.close" },
  ];
  await agent.command("t", { type: "run.append", ...fence, seq: 1, items } as CommandBody);
  await agent.command("t", { type: "run.finish", ...fence, seq: 2 } as CommandBody);
  // Tools, with schemas that refer elsewhere.
  const tools = [
    plain,
    tool("ref", { $ref: it }),
    tool("id", { $id: it, $schema: `${it}schema`, type: "object" }),
  ];
  for (const one of tools) {
    await ana.command("s", { type: "tools.advertise", tools: [one] } as never);
    const claim = { agent: "demo", worker: it, instance: it, tools: [one], waitMs: 0 };
    await demo.call("POST", "/v1/work/claim", { ...claim, ...everywhere });
  }
  await ana.call("GET", `/v1/webhooks/dead?after=${encodeURIComponent(it)}`);
  await ana.call("POST", `/v1/webhooks/dead/${encodeURIComponent(it)}/redeliver`, everywhere);

  // What the operator named was asked: of each run and of the call that waits.
  await vi.waitFor(async () => {
    const { body } = await ana.call("GET", "/v1/sessions/t/deliveries");
    expect(body).toMatchObject({ deliveries: [{ type: "call.waiting", status: "accepted" }] });
    expect(hook.asked.length).toBeGreaterThanOrEqual(3);
  }, 15_000);
  expect(hook.asked.every((line) => line === "POST /")).toBe(true);
  expect(trap.asked).toEqual([]);
});

test("a redirect is not followed, wherever it leads", async () => {
  await using trap = await address({ status: 204 });
  await using hook = await address({ status: 307, headers: { location: trap.url } });
  await using storage = memoryStorage();
  await using server = createServer({
    storage,
    webhooks: { agents: { demo: { url: hook.url, secret: SECRET } }, baseMs: 1 },
  });
  const { url } = await server.listen();
  const ana = wire(url, await server.mint("user:ana"));
  await ana.create("s");
  await ana.command("s", { type: "message.send", messageId: "m", content: "hi" });
  await vi.waitFor(() => expect(hook.asked.length).toBeGreaterThan(3), 15_000);
  expect(trap.asked).toEqual([]);
});
