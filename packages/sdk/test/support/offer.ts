import type { ToolDeclaration } from "@holdfast/protocol";
import { proposal } from "../../../protocol/test/support/desk.ts";
import type { ClientOptions } from "../../src/client/index.ts";
import { createClient } from "../../src/client/index.ts";
import type { Loopback } from "./loopback.ts";

export const TOOLS: ToolDeclaration[] = [
  { name: "location", executor: "client" },
  { name: "camera", executor: "client", retry: "safe" },
  { name: "transfer", approval: "always" },
  { name: "weather" },
];

/** Sends a message whose run proposes calls and then waits for them. @returns the run's id */
export function offer(net: Loopback, calls: Readonly<Record<string, string>>, args = "{}"): string {
  return net.act((desk) => {
    const runId = desk.send(`m-${Object.keys(calls).join("-")}`);
    desk.start(runId);
    const agent = desk.agent(runId);
    agent.append(
      { type: "round.open" },
      ...Object.entries(calls).flatMap(([id, name]) => proposal(id, name, args)),
      { type: "round.close" },
    );
    agent.finish();
    return runId;
  });
}

export function clientOf(net: Loopback, options: Partial<ClientOptions> = {}) {
  return createClient({
    url: net.url,
    fetch: net.fetch,
    backoff: { baseMs: 1, maxMs: 2 },
    ...options,
  });
}

/** The bodies of the commands of one type that reached the server, in order. */
export function commandsSent(net: Loopback, type: string): Record<string, unknown>[] {
  return net.requests.flatMap(({ body }) => {
    const commands = (body as { commands?: Record<string, unknown>[] } | undefined)?.commands ?? [];
    return commands.filter((command) => command["type"] === type);
  });
}
