import { once } from "node:events";
import { connect } from "node:net";
import { createServer, memoryStorage } from "holdfast";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// The same app answers a request that was read here and one that Node's own parser read: that one says a word beyond
// ASCII.
const storage = memoryStorage();
const secret = crypto.getRandomValues(new Uint8Array(32));
const corsOrigins = ["https://app.example"];
const server = createServer({ storage, secret, dev: true, corsOrigins });
let port = 0;
let token = "";

beforeAll(async () => {
  ({ port } = await server.listen());
  token = await server.mint("user:ana");
  await send("PUT /v1/sessions/s", { body: '{"agent":"helper"}' });
  const message = { id: "c", type: "message.send", messageId: "m", content: "ä" };
  await send("POST /v1/sessions/s/commands", { body: JSON.stringify(message) });
});

afterAll(async () => {
  await server.close();
  await storage[Symbol.asyncDispose]();
});

interface Sent {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly host?: string;
}

const APP = { origin: "https://app.example" };
const REQUESTS: readonly (readonly [line: string, sent?: Sent])[] = [
  ["GET /healthz"],
  ["HEAD /healthz"],
  ["GET /v1/sessions/s"],
  ["HEAD /v1/sessions/s/state"],
  ["GET /v1/sessions/s/state"],
  ["GET /v1/sessions/s/entries?limit=2"],
  ["HEAD /v1/sessions/s/entries", { headers: { accept: "text/event-stream" } }],
  ["GET /v1/sessions/none"],
  ["GET /v1/calls"],
  ["GET /v1/calls?status=odd"],
  ["GET /nothing"],
  ["GET //"],
  ["GET //x/y"],
  ["GET /v1/./sessions/s"],
  ["GET /v1/x/../sessions/s"],
  ["GET /v1/x/%2e%2E/sessions/s"],
  ["GET /v1\\sessions/s"],
  ["GET /v1/sessions/s#part"],
  ["GET /v1/sessions/s|{}"],
  ["GET /v1/sessions/s?after=%"],
  ["GET /v1/sessions/a%2Fb"],
  ["GET /v1/sessions/%E0%A4"],
  ["PUT /v1/sessions/s", { body: '{"agent":"helper"}' }],
  ["PUT /v1/sessions/s", { body: "{" }],
  ["PUT /v1/sessions/s"],
  ["DELETE /v1/sessions/none"],
  ["POST /v1/work/claim", { body: '{"agent":"helper","worker":"w","instance":"i","waitMs":1}' }],
  ["POST /v1/dev/token", { body: '{"name":"Ben"}', headers: { origin: "http://localhost" } }],
  ["OPTIONS /v1/sessions/s", { headers: { ...APP, "access-control-request-method": "PUT" } }],
  ["GET /v1/sessions/s", { headers: APP }],
  ["GET /v1/sessions/s", { headers: { origin: "https://other.example" } }],
  ["GET /v1/sessions/s", { host: "h:99999" }],
  ["POST /v1/sessions/s/commands", { host: "h:99999", body: "{}" }],
  ["POST /v1/sessions/s/commands", { host: "[::::]", body: "{}" }],
  ["POST /v1/sessions/s/commands", { host: "1.2.3.4.5", body: "{}" }],
  ["GET /v1/sessions/s", { host: "h/../x" }],
  ["GET /v1/sessions/s", { host: "a@h" }],
  ["GET /v1/sessions/s", { host: "h?x" }],
  ["GET /v1/sessions/s", { host: "[::1]:80" }],
  ["GET /v1/sessions/s", { host: "LOCALHOST:80" }],
  ["GET /v1/sessions/s", { body: "a body" }],
];

describe("a request that was read here and one that Node read are answered alike", () => {
  test.each(REQUESTS.map(([line, sent = {}]) => ({ line, sent })))(
    "$line $sent",
    async ({ line, sent }) => {
      const here = await send(line, sent);
      const node = await send(line, { ...sent, headers: { ...sent.headers, "x-odd": "\u00e4" } });
      expect(here.status).toBe(node.status);
      expect(here.headers).toEqual(node.headers);
      expect(here.body).toBe(node.body);
    },
  );
});

test("a stream says the same, and its reader's going is heard", async () => {
  const streams = { headers: { accept: "text/event-stream" } };
  const [here, node] = await Promise.all([
    begin("GET /v1/sessions/s/entries", streams, ": connected\n\n"),
    begin(
      "GET /v1/sessions/s/entries",
      { headers: { ...streams.headers, "x-odd": "\u00e4" } },
      ": connected\n\n",
    ),
  ]);
  expect(here).toEqual(node);
});

test("work that is waited for goes to nobody who has gone", async () => {
  const agent = await server.mint("agent:late");
  const claim = (instance: string, waitMs: number) => ({
    body: JSON.stringify({ agent: "late", worker: instance, instance, waitMs }),
    headers: { authorization: `Bearer ${agent}` },
  });
  const socket = connect(port, "127.0.0.1");
  socket.write(bytesOf("POST /v1/work/claim", claim("gone", 30_000)));
  await once(socket, "connect");
  // Its request was taken when another, which came later, was answered.
  await send("POST /v1/work/claim", claim("present", 50));
  socket.end();
  await once(socket, "close");
  await send("PUT /v1/sessions/late", { body: '{"agent":"late"}' });
  const message = { id: "c", type: "message.send", messageId: "m", content: "x" };
  await send("POST /v1/sessions/late/commands", { body: JSON.stringify(message) });
  const { status, body } = await send("POST /v1/work/claim", claim("present", 5_000));
  expect(status).toBe(200);
  expect(body).toContain('"attempt":1,');
});

function bytesOf(line: string, { body, headers = {}, host = "localhost" }: Sent): Buffer {
  const all = {
    host,
    authorization: `Bearer ${token}`,
    ...headers,
    ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  // Latin-1, so that a word beyond ASCII is one byte.
  const head = Buffer.from(`${line} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
  return Buffer.concat([head, Buffer.from(body ?? "")]);
}

/** One request on a connection of its own, its answer read whole. */
async function send(line: string, sent: Sent = {}) {
  const socket = connect(port, "127.0.0.1");
  let got = Buffer.alloc(0);
  socket.write(bytesOf(line, sent));
  for await (const chunk of socket) {
    got = Buffer.concat([got, chunk as Buffer]);
    const answer = parse(got.toString("latin1"), line.startsWith("HEAD"));
    if (!answer) continue;
    socket.destroy();
    return answer;
  }
  throw new Error(`The connection closed: ${got.toString().slice(0, 300)}`);
}

function parse(text: string, bodiless: boolean) {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map(
      (line) => [line.split(":")[0]?.toLowerCase(), line.replace(/^[^:]*: ?/, "")] as const,
    ),
  );
  const body = text.slice(end + 4);
  const status = Number(first.split(" ")[1]);
  const length = bodiless || status === 204 ? 0 : Number(headers["content-length"]);
  if (body.length < length) return undefined;
  delete headers["date"];
  return { status, headers, body: status === 401 ? "" : body.replace(/eyJ[\w.-]+/, "a token") };
}

/** Of a stream: its status and headers, and what came until `expected` did. */
async function begin(line: string, sent: Sent, expected: string) {
  const socket = connect(port, "127.0.0.1");
  let got = "";
  socket.write(bytesOf(line, sent));
  for await (const chunk of socket) {
    got += (chunk as Buffer).toString();
    if (got.includes(expected)) break;
  }
  socket.destroy();
  const [head = ""] = got.split("\r\n\r\n");
  return head
    .toLowerCase()
    .split("\r\n")
    .filter((header) => !header.startsWith("date:"))
    .toSorted();
}
