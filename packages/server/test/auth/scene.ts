import type { CommandBody } from "@holdfast/protocol";
import { createServer, memoryStorage, type Grant, type Server } from "../../src/index.ts";

/** Session `team-a-1`: a run at work, with calls in every stage that a command needs. `team-a-9` has a run to claim. */
export interface Scene extends AsyncDisposable {
  readonly server: Server;
  readonly url: string;
  readonly runId: string;
  /** The token of the run's attempt. */
  readonly attemptToken: string;
  readonly approvalId: string;
  /** The claim on call `held`, of user:role. */
  readonly claimId: string;
  token(principal: string, grants: readonly Grant[]): Promise<string>;
  /** All that can be seen and could have changed, to compare it with later. */
  photograph(): Promise<string>;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
}

export async function openScene(): Promise<Scene> {
  const storage = memoryStorage();
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const hour = 3_600_000; // no lease ends meanwhile
  const server = createServer({ storage, secret, leaseMs: hour, claimLeaseMs: hour });
  const { url } = await server.listen();
  const all: Grant[] = [{ sessions: "*", verbs: ["admin", "agent:demo"] }];
  const root = await server.mint("user:root", all);
  const role = await server.mint("user:role", all);
  const ask = async (method: string, path: string, body?: unknown, token = root) => {
    const answered = await send(server, { method, path, token, body });
    if (answered.status >= 300) throw new Error(`${method} ${path}: ${answered.text}`);
    return answered.text === "" ? {} : JSON.parse(answered.text);
  };
  const command = (session: string, body: CommandBody, token = root) =>
    ask("POST", `/v1/sessions/${session}/commands`, { id: crypto.randomUUID(), ...body }, token);
  const begin = async (session: string) => {
    await ask("PUT", `/v1/sessions/${session}`, { agent: "demo" });
    const message = {
      type: "message.send",
      messageId: `said-${session}`,
      content: "go",
    } as const;
    return (await command(session, message)).runId as string;
  };

  const runId = await begin("team-a-1");
  const tools = [
    { name: "location", executor: "client" },
    { name: "transfer", approval: "always" },
  ];
  const { work } = await ask("POST", "/v1/work/claim", { agent: "demo", worker: "w", tools });
  const call = (id: string, name: string) =>
    [
      { type: "TOOL_CALL_START", toolCallId: id, toolCallName: name },
      { type: "TOOL_CALL_ARGS", toolCallId: id, delta: "{}" },
      { type: "TOOL_CALL_END", toolCallId: id },
    ] as const;
  const items = [
    { type: "round.open" } as const,
    ...call("open", "location"),
    ...call("held", "location"),
    ...call("gated", "transfer"),
    { type: "round.close" } as const,
  ];
  const fence = { runId, attempt: 1, producer: "main", seq: 1 };
  await command("team-a-1", { type: "run.append", ...fence, items }, work.token);
  const { claimId } = await command("team-a-1", { type: "call.claim", callId: "held" }, role);
  await begin("team-a-9");
  const { state } = await ask("GET", "/v1/sessions/team-a-1/state");
  const calls = state.calls as { id: string; approval?: { id: string } }[];

  return {
    server,
    url,
    runId,
    claimId,
    attemptToken: work.token,
    approvalId: calls.find(({ id }) => id === "gated")?.approval?.id ?? "",
    token: (principal, grants) => server.mint(principal, grants),
    async photograph() {
      const paths = ["team-a-1/state", "team-a-1/entries", "team-a-9/state", "team-a-9/entries"];
      const pictures = ["/v1/sessions", "/v1/revocations"];
      for (const path of paths) pictures.push(`/v1/sessions/${path}`);
      const texts = pictures.map((path) => send(server, { method: "GET", path, token: root }));
      return (await Promise.all(texts)).map(({ text }) => text).join("\n");
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await storage[Symbol.asyncDispose]();
    },
  };
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly token: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Asks a server in the same process. */
export async function send(server: Server, asked: Asked): Promise<Answered> {
  return answered(await server.fetch(requestOf("http://in-process", asked)));
}

/** Asks a server over a socket, where commands have a way of their own. */
export async function sendOver(url: string, asked: Asked): Promise<Answered> {
  return answered(await fetch(requestOf(url, asked)));
}

function requestOf(url: string, { method, path, token, body, headers }: Asked): Request {
  return new Request(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** A stream is cut off after its first words. */
async function answered(response: Response): Promise<Answered> {
  const { status } = response;
  if (response.headers.get("content-type") !== "text/event-stream") {
    return { status, text: await response.text() };
  }
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return { status, text: new TextDecoder().decode(value) };
}
