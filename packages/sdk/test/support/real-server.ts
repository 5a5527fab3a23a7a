import { randomBytes } from "node:crypto";
import type { AgentItem, ToolDeclaration, Verdict } from "@holdfast/protocol";
import { createServer, type Server } from "holdfast";
import { memoryStorage } from "../../../server/src/storage/memory.ts";
import { createClient, type Client, type ClientOptions } from "../../src/client/index.ts";

/** A real server on a real port, in memory; it can be restarted where it was. */
export async function realServer(options: { claimLeaseMs?: number; sseHeartbeatMs?: number } = {}) {
  const storage = memoryStorage();
  const secret = randomBytes(32);
  const start = () => createServer({ storage, secret, dev: true, ...options });
  let server: Server = start();
  const { url, port } = await server.listen();
  const clients: Client[] = [];

  return {
    url,
    mint: (principal: string) => server.mint(principal),
    /** A client of a person by name. */
    client(name: string, more: Partial<ClientOptions> = {}): Client {
      const client = createClient({
        url,
        token: () => server.mint(`user:${name}`),
        backoff: { baseMs: 5, maxMs: 50 },
        ...more,
      });
      clients.push(client);
      return client;
    },
    agent: (tools: ToolDeclaration[]) => scriptedAgent(url, () => server.mint("agent:demo"), tools),
    stop: () => server.close(),
    async restart(): Promise<void> {
      server = start();
      await server.listen({ port });
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(clients.map((client) => client.close()));
      await server.close();
      await storage[Symbol.asyncDispose]();
    },
  };
}

export type RealServer = Awaited<ReturnType<typeof realServer>>;

/** An agent of agent `demo` that does what it is told, over HTTP. */
function scriptedAgent(url: string, mint: () => Promise<string>, tools: ToolDeclaration[]) {
  async function post<T>(path: string, token: string, body: unknown): Promise<T | undefined> {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text === "" ? undefined : (JSON.parse(text) as T);
  }

  return {
    /** Takes the next run. */
    async take() {
      const claimed = await post<{
        work: { session: string; runId: string; attempt: number; token: string };
      }>("/v1/work/claim", await mint(), {
        agent: "demo",
        worker: "scripted",
        waitMs: 5_000,
        claims: true,
        tools,
      });
      if (!claimed) throw new Error("No work came.");
      const { session, runId, attempt, token } = claimed.work;
      let seq = 0;
      const command = (body: object) =>
        post<Verdict>(`/v1/sessions/${session}/commands`, token, {
          id: crypto.randomUUID(),
          ...body,
        });
      const fenced = (body: object) =>
        command({ runId, attempt, producer: "main", seq: (seq += 1), ...body });
      return {
        runId,
        command,
        append: (...items: AgentItem[]) => fenced({ type: "run.append", items }),
        finish: () => fenced({ type: "run.finish" }),
      };
    },
  };
}
