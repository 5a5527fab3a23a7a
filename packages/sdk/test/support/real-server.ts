import { randomBytes } from "node:crypto";
import type { ToolDeclaration } from "@holdfast/protocol";
import { createServer, type Grant, type Server } from "holdfast";
import { memoryStorage } from "../../../server/src/storage/memory.ts";
import { createClient, type Client, type ClientOptions } from "../../src/client/index.ts";
import { scriptedAgent } from "./scripted-agent.ts";

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
    mint: (principal: string, grants?: readonly Grant[]) => server.mint(principal, grants),
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
