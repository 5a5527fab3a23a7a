import { memoryStorage } from "../../src/storage/memory.ts";
import { createServer, type ServerOptions } from "../../src/index.ts";

/** A server on a port of its own, and what a test needs to talk to it. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  /** A user's token. */
  readonly ana: string;
  /** The token of agent `demo`. */
  readonly demo: string;
  /** A token that may read everything and see no tool's data. */
  guest(): Promise<string>;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** Claims work of agent `demo`. */
  claim(worker?: string): Promise<Granted>;
}

export interface RequestOptions {
  /** Sent as JSON, or as it is where it is a string. */
  readonly body?: unknown;
  /** Default: ana's; null for none. */
  readonly token?: string | null;
  readonly headers?: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly type: string | null;
  // What a test expects of a body, it says.
  readonly body: Record<string, unknown>;
}

export interface Granted {
  readonly session: string;
  readonly runId: string;
  readonly attempt: number;
  readonly token: string;
}

export async function startServer(options: Partial<ServerOptions> = {}): Promise<TestServer> {
  const server = createServer({ storage: memoryStorage(), ...options });
  const { url } = await server.listen();
  const ana = await server.mint("user:ana");
  const demo = await server.mint("agent:demo");
  const request: TestServer["request"] = async (method, path, given = {}) => {
    const { body, token = ana, headers } = given;
    const response = await fetch(url + path, {
      method,
      headers: { ...(token !== null && { authorization: `Bearer ${token}` }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      type: response.headers.get("content-type"),
      body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
    };
  };
  return {
    url,
    ana,
    demo,
    request,
    guest: () => server.mint("user:guest", [{ sessions: "*", verbs: ["read"] }]),
    async claim(worker = "w1") {
      const claim = { agent: "demo", worker, waitMs: 1_000 };
      const { status, body } = await request("POST", "/v1/work/claim", {
        body: claim,
        token: demo,
      });
      if (status !== 200) throw new Error(`No work came: ${status} ${JSON.stringify(body)}`);
      return body["work"] as Granted;
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** A session `s` of agent demo with a message, and the attempt that answers it. */
export async function startRun(server: TestServer): Promise<Granted> {
  await server.request("PUT", "/v1/sessions/s", { body: { agent: "demo" } });
  await server.request("POST", "/v1/sessions/s/commands", {
    body: { id: "hello", type: "message.send", messageId: "m1", content: "hello" },
  });
  return server.claim();
}

/** One server-sent event. */
export interface ServerEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data: unknown;
}

/** Reads events and comments of a stream as they come; leaving the loop closes the connection. */
export async function* readEvents(
  url: string,
  token: string,
  headers: Record<string, string> = {},
): AsyncGenerator<ServerEvent | { readonly comment: string }> {
  const response = await fetch(url, {
    headers: { accept: "text/event-stream", authorization: `Bearer ${token}`, ...headers },
  });
  if (!response.ok || !response.body) throw new Error(`No stream: ${response.status}`);
  let text = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      if (block.startsWith(":")) yield { comment: block.slice(1).trim() };
      else yield parseEvent(block);
    }
  }
}

function parseEvent(block: string): ServerEvent {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const colon = line.indexOf(": ");
    fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  const event = fields.get("event");
  const id = fields.get("id");
  return {
    ...(event !== undefined && { event }),
    ...(id !== undefined && { id }),
    data: JSON.parse(fields.get("data") ?? "null"),
  };
}
