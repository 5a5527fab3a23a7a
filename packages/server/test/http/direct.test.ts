import { once } from "node:events";
import { connect } from "node:net";
import { createServer, memoryStorage } from "holdfast";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// Commands have a short way past the web-standard objects. It must answer as the app does, which `server.fetch` is.
const storage = memoryStorage();
const secret = crypto.getRandomValues(new Uint8Array(32));
const server = createServer({ storage, secret, dev: true, limits: { bodyBytes: 4_096 } });
let url = "";
let token = "";

beforeAll(async () => {
  ({ url } = await server.listen());
  token = await server.mint("user:ana");
  for (const session of ["s1", "s2", "a:b@c"]) {
    const put = { method: "PUT", headers: { authorization: `Bearer ${token}` }, body: "{}" };
    await server.fetch(new Request(`${url}/v1/sessions/${encodeURIComponent(session)}`, put));
  }
});

afterAll(async () => {
  await server.close();
  await storage[Symbol.asyncDispose]();
});

interface Sent {
  readonly path?: string;
  readonly body: string;
  readonly authorization?: string | null;
}

const send = (n: number) =>
  JSON.stringify({ id: `c${n}`, type: "message.send", messageId: `m${n}`, content: "x" });

const REQUESTS: Readonly<Record<string, Sent>> = {
  "an applied command": { body: send(1) },
  "the same again": { body: send(1) },
  "a rejected command": { body: JSON.stringify({ id: "r", type: "call.cancel", callId: "none" }) },
  "a batch": { body: `{"commands":[${send(2)},{"id":"x","type":"nothing"}]}` },
  "a batch that is none": { body: '{"commands":7}' },
  "an unknown command": { body: '{"id":"u","type":"fly"}' },
  "no JSON": { body: '{"id":' },
  "no body": { body: "" },
  "too deep a body": { body: "[".repeat(300) + "]".repeat(300) },
  "too large a body": { body: JSON.stringify("x".repeat(5_000)) },
  "another id": { path: "/v1/sessions/a:b@c/commands", body: send(3) },
  "an escaped id": { path: "/v1/sessions/s%31/commands", body: send(4) },
  "an escape that is none": { path: "/v1/sessions/%E0%A4/commands", body: send(5) },
  "an unknown session": { path: "/v1/sessions/none/commands", body: send(6) },
  "a query": { path: "/v1/sessions/s1/commands?x=1", body: send(7) },
  "one dot": { path: "/v1/sessions/./commands", body: send(8) },
  "two dots": { path: "/v1/sessions/../commands", body: send(9) },
  "no token": { body: send(10), authorization: null },
  "a token that is none": { body: send(11), authorization: "Bearer nonsense" },
  "another scheme": { body: send(12), authorization: "Basic YTpi" },
};

describe("a command over a socket and through fetch", () => {
  test.each(Object.entries(REQUESTS))("%s", async (_name, sent) => {
    const direct = await overSocket(sent);
    const app = await throughFetch(sent);
    expect(direct.status).toBe(app.status);
    expect(direct.type).toBe(app.type);
    expect(comparable(direct.body)).toEqual(comparable(app.body));
  });
});

test("a body that breaks off leaves nothing behind, and the server serves on", async () => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write(`${headOf({ body: "" })}content-length: 100\r\n\r\n{"id":`);
  await once(socket, "connect");
  socket.destroy();
  await once(socket, "close");
  expect((await overSocket({ body: send(20) })).status).toBe(200);
});

/** What may differ is made by chance or by the clock: a run's id, a log's epoch, that a repeat is one. */
function comparable(body: string): unknown {
  const text = body
    .replaceAll(/"(runId|offset)":"[^"]*"/g, '"$1":"…"')
    .replaceAll(',"repeated":true', "");
  return JSON.parse(text);
}

function headOf({
  path = "/v1/sessions/s1/commands",
  authorization = `Bearer ${token}`,
}: Sent): string {
  const credentials = authorization === null ? "" : `authorization: ${authorization}\r\n`;
  return `POST ${path} HTTP/1.1\r\nhost: ${new URL(url).host}\r\nconnection: close\r\ncontent-type: application/json\r\n${credentials}`;
}

/** Written by hand, since a client would tidy the path. */
async function overSocket(sent: Sent) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1").setEncoding("utf8");
  socket.write(
    `${headOf(sent)}content-length: ${Buffer.byteLength(sent.body)}\r\n\r\n${sent.body}`,
  );
  let text = "";
  for await (const piece of socket) text += piece;
  const [head = "", body = ""] = text.split(/\r\n\r\n(.*)/s);
  const type = /^content-type: (.*)$/im.exec(head)?.[1]?.trim();
  return { status: Number(head.slice(9, 12)), type, body };
}

async function throughFetch(sent: Sent) {
  const { path = "/v1/sessions/s1/commands", body, authorization = `Bearer ${token}` } = sent;
  const request = new Request(url + path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      ...(authorization !== null && { authorization }),
    },
    body,
  });
  const response = await server.fetch(request);
  return {
    status: response.status,
    type: response.headers.get("content-type") ?? undefined,
    body: await response.text(),
  };
}
