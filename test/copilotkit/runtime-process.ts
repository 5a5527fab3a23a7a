import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { Socket, type AddressInfo } from "node:net";
import { EventType, HttpAgent, type BaseEvent } from "@ag-ui/client";
import {
  CopilotRuntime as FormerRuntime,
  copilotRuntimeNodeHttpEndpoint,
  ExperimentalEmptyAdapter,
} from "@copilotkit/runtime";
import {
  BuiltInAgent,
  CopilotRuntime,
  type CopilotSseRuntimeOptions,
} from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";
import { createHoldfastRunner } from "@holdfast/sdk/copilotkit";
import type { Setup, Told } from "./messages.ts";
import { OwnAgent } from "./own-agent.ts";
import { textOf } from "./words.ts";

// CopilotKit's runtime as people deploy it, in a process that a test may kill.

const tell = (told: Told) => void process.send?.(told);

// Every socket, those of TLS too, says here where it goes.
const connect = Reflect.get(Socket.prototype, "connect") as (...args: unknown[]) => Socket;
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  this.on("lookup", (_error, _address, _family, host: string) => notHere(host));
  this.on("connectionAttempt", (address: string) => notHere(address));
  return connect.apply(this, args);
};

function notHere(address: string): void {
  if (address !== "127.0.0.1" && address !== "localhost") tell({ type: "outside", address });
}

const setup = JSON.parse(process.env["SETUP"] ?? "") as Setup;
const { mode, server, token, agentTokens, name, mount = "multi-route" } = setup;
const headers = { authorization: `Bearer ${token}` };
const url = `${server}/v1/agents/demo/ag-ui`;

/** Pointed at Holdfast by its URL. What the runtime stops is a request: the run, whoever works on it. */
class HoldfastAgent extends HttpAgent {
  override abortRun(): void {
    const body = JSON.stringify({ threadId: this.threadId });
    const type = { "content-type": "application/json" };
    void fetch(`${this.url}/stop`, { method: "POST", headers: { ...this.headers, ...type }, body });
    super.abortRun();
  }
}

const go = async () => void (await once(process, "message"));
const own = new OwnAgent({ tell, go });

/** An agent as CopilotKit builds them. */
const built = new BuiltInAgent({
  type: "custom",
  async *factory({ input, abortSignal }): AsyncGenerator<BaseEvent> {
    const messageId = crypto.randomUUID();
    const said = textOf(input.messages.at(-1));
    yield { type: EventType.TEXT_MESSAGE_START, messageId, role: "assistant" };
    yield { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: `Built for ${said}.` };
    if (said === "ever") {
      if (!abortSignal.aborted) await once(abortSignal, "abort");
      tell({ type: "stopped" });
    }
    yield { type: EventType.TEXT_MESSAGE_END, messageId };
  },
});

const shared = { url: server, token, backoff: { baseMs: 10, maxMs: 200 } };

function optionsOf(): Pick<CopilotSseRuntimeOptions, "agents" | "runner"> {
  switch (mode) {
    case "url":
      return { agents: { demo: new HoldfastAgent({ url, headers }) } };
    case "runner":
      return { agents: { demo: new HttpAgent({ url }) }, runner: createHoldfastRunner(shared) };
    case "own": {
      const named = name !== undefined && { name };
      const agents = { demo: own, built };
      const token = (agent: string) => agentTokens[agent] ?? "";
      return {
        agents,
        runner: createHoldfastRunner({ ...shared, own: { agents, token, ...named } }),
      };
    }
  }
}

function listenerOf(): RequestListener {
  const options = optionsOf();
  if (mount !== "v1") {
    const runtime = new CopilotRuntime(options);
    const listen = createCopilotNodeListener({ runtime, mode: mount, cors: true });
    return (request, response) => void listen(request, response);
  }
  const endpoint = copilotRuntimeNodeHttpEndpoint({
    runtime: new FormerRuntime(options),
    serviceAdapter: new ExperimentalEmptyAdapter(),
    endpoint: "/",
  });
  return (request, response) => void endpoint(request, response);
}

const listener = createServer(listenerOf());
listener.listen(0, "127.0.0.1", () => {
  const { port } = listener.address() as AddressInfo;
  tell({ type: "listening", url: `http://127.0.0.1:${port}` });
});
process.once("disconnect", () => process.exit());
