import {
  fromRows,
  type Call,
  type CommandBody,
  type Run,
  type SessionState,
  type StateRows,
} from "@holdfast/protocol";
import {
  createServer,
  memoryStorage,
  type AgentOptions,
  type ServerOptions,
  type Storage,
} from "../../src/index.ts";
import { until } from "../support/clock.ts";

export interface SceneOptions extends Omit<ServerOptions, "storage"> {
  readonly url: string;
  readonly agent?: Partial<AgentOptions>;
  readonly storage?: Storage;
}

/** A server whose agent `demo` is an AG-UI endpoint, and somebody who talks with it. */
export function scene({ url, agent, storage = memoryStorage(), ...options }: SceneOptions) {
  const server = createServer({
    storage,
    secret: new Uint8Array(32),
    defaultAgent: "demo",
    log: (message, error) => {
      throw new Error(message, { cause: error });
    },
    agents: { demo: { url, retryMs: 1, ...agent } },
    ...options,
  });
  let ids = 0;

  async function request(method: string, path: string, body?: object) {
    const token = await server.mint("user:ana");
    const response = await server.fetch(
      new Request(`http://server.test/v1/sessions/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  }

  const scene = {
    server,
    storage,
    async command(body: CommandBody, session = "s"): Promise<{ runId?: string }> {
      const command = { id: `c${(ids += 1)}-${crypto.randomUUID()}`, ...body };
      return request("POST", `${session}/commands`, command);
    },
    /** Sends a message, in a session that is made where there is none. @returns the run that answers it */
    async say(content: string, session = "s"): Promise<string> {
      await request("PUT", session, {});
      const messageId = `u-${(ids += 1)}`;
      const { runId = "" } = await scene.command(
        { type: "message.send", messageId, content },
        session,
      );
      return runId;
    },
    async advertise(...names: string[]): Promise<void> {
      await request("PUT", "s", {});
      const tools = names.map((name) => ({
        name,
        description: `${name}.`,
        parameters: { type: "object" },
      }));
      await scene.command({ type: "tools.advertise", tools });
    },
    async state(session = "s"): Promise<SessionState> {
      const { offset, state } = await request("GET", `${session}/state`);
      return fromRows(offset as string, state as StateRows);
    },
    async run(runId: string, session = "s"): Promise<Run> {
      const run = (await scene.state(session)).runs.get(runId);
      if (!run) throw new Error(`There is no run ${runId}.`);
      return run;
    },
    async call(callId: string): Promise<Call> {
      const call = (await scene.state()).calls.get(callId);
      if (!call) throw new Error(`There is no call ${callId}.`);
      return call;
    },
    async texts(session = "s"): Promise<string[]> {
      return [...(await scene.state(session)).items.values()].flatMap((it) =>
        "text" in it ? [it.text] : [],
      );
    },
    /** Waits for a run to come to a status. */
    async reaches(runId: string, status: Run["status"], session = "s"): Promise<Run> {
      let run = await scene.run(runId, session);
      await until(`run ${runId} to be ${status}`, async () => {
        run = await scene.run(runId, session);
        return run.status === status;
      });
      return run;
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
  return scene;
}
