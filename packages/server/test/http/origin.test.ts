import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createServer, memoryStorage } from "../../src/index.ts";

const LISTED = "https://app.example";
const storage = memoryStorage();
const server = createServer({ storage, corsOrigins: [LISTED, "http://127.0.0.1:5173"] });
let url = "";
let token = "";

beforeAll(async () => {
  ({ url } = await server.listen());
  token = await server.mint("user:ana");
  expect((await ask("PUT", "/v1/sessions/s")).status).toBe(201);
});
afterAll(() => server.close());

/** By hand, since `fetch` sets none of these headers. */
function ask(method: string, path: string, headers: Record<string, string> = {}, body = "{}") {
  const { port, host } = new URL(url);
  const authorization = `Bearer ${token}`;
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>(
    (resolve, reject) => {
      const all = { host, authorization, ...headers };
      const sent = request({ port, method, path, headers: all }, (response) => {
        const done = (text: string) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        if (response.headers["content-type"] === "text/event-stream") {
          response.destroy();
          return done("");
        }
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => done(text));
      });
      sent.on("error", reject);
      sent.end(method === "GET" || method === "OPTIONS" ? "" : body);
    },
  );
}

const COMMANDS = "/v1/sessions/s/commands";
const STREAM = { accept: "text/event-stream" };
const ASKS = [
  ["POST", COMMANDS, {}],
  ["PUT", "/v1/sessions/s", {}],
  ["GET", "/v1/sessions/s", {}],
  ["GET", "/v1/sessions/s/entries", STREAM],
  ["POST", "/v1/dev/token", {}],
] as const;
const command = (id: string) =>
  JSON.stringify({ id, type: "message.send", messageId: id, content: "x" });

test.each([
  ["another site", { origin: "https://evil.example" }],
  ["a page without an origin", { origin: "null" }],
  ["a file", { origin: "file://" }],
  ["a name that begins like a listed one", { origin: `${LISTED}.evil.example` }],
  ["a listed name over another scheme", { origin: "http://app.example" }],
  ["a listed name at another port", { origin: `${LISTED}:8443` }],
  ["this host at another port", { origin: "http://127.0.0.1:1" }],
  [
    "what the browser calls another site, whatever the host says",
    { host: "evil.example", origin: "http://evil.example", "sec-fetch-site": "cross-site" },
  ],
  ["a neighbour", { origin: "https://x.example", "sec-fetch-site": "same-site" }],
] as [string, Record<string, string>][])("%s is refused, and changes nothing", async (_, from) => {
  const before = (await ask("GET", "/v1/sessions/s/entries")).text;
  for (const [method, path, headers] of ASKS) {
    const answer = await ask(method, path, { ...headers, ...from }, command("evil"));
    expect([path, answer.status, JSON.parse(answer.text).code]).toEqual([path, 403, "forbidden"]);
    expect(Object.keys(answer.headers).filter((it) => it.startsWith("access-control"))).toEqual([]);
  }
  const preflight = { ...from, "access-control-request-method": "POST" };
  expect((await ask("OPTIONS", COMMANDS, preflight)).status).toBe(403);
  expect((await ask("GET", "/v1/sessions/s/entries")).text).toBe(before);
});

test.each([
  ["no page", {}],
  ["a page of this server", () => ({ origin: url })],
  [
    "a page of this server behind a proxy that ends TLS",
    { host: "chat.example", origin: "https://chat.example" },
  ],
  [
    "a page of this server behind a proxy that changes the host",
    { host: "10.0.0.1:4646", origin: "https://chat.example", "sec-fetch-site": "same-origin" },
  ],
] as [string, Record<string, string> | (() => Record<string, string>)][])(
  "%s may ask",
  async (label, given) => {
    const from = typeof given === "function" ? given() : given;
    const answer = await ask("POST", COMMANDS, from, command(label));
    expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([
      200,
      undefined,
    ]);
    for (const [method, path, headers] of ASKS.slice(1, 4)) {
      expect((await ask(method, path, { ...headers, ...from })).status).toBe(200);
    }
  },
);

test("a page of a listed origin may ask and read, refusals and streams too", async () => {
  const from = { origin: LISTED, "sec-fetch-site": "cross-site" };
  const preflight = await ask("OPTIONS", COMMANDS, {
    ...from,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type",
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers).toMatchObject({
    "access-control-allow-origin": LISTED,
    "access-control-allow-methods": "GET,HEAD,POST,PUT,DELETE",
    "access-control-allow-headers": "authorization,content-type,last-event-id",
  });
  expect(preflight.headers["access-control-allow-credentials"]).toBeUndefined();
  for (const [method, path, headers] of [
    ...ASKS.slice(0, 4),
    ["GET", "/v1/sessions/none", {}] as const,
    ["GET", "/v1/sessions/s", { authorization: "Bearer none" }] as const,
  ]) {
    const answer = await ask(method, path, { ...headers, ...from }, command("listed"));
    expect([path, answer.headers["access-control-allow-origin"]]).toEqual([path, LISTED]);
    expect(String(answer.headers["vary"]).toLowerCase()).toContain("origin");
  }
});

test("without a list, a browser is told nothing that would let another page read", async () => {
  await using closed = createServer({ storage });
  const path = "http://127.0.0.1/v1/sessions";
  const headers = { authorization: `Bearer ${await closed.mint("user:ana")}` };
  const answer = await closed.fetch(new Request(path, { headers }));
  expect(answer.status).toBe(200);
  expect([...answer.headers.keys()].filter((it) => it.startsWith("access-control"))).toEqual([]);
});

test.each(["*", "app.example", "https://app.example/", "https://app.example/x", "null", "ftp://x"])(
  "%s is no origin to list",
  (origin) => {
    expect(() => createServer({ storage, corsOrigins: [origin] })).toThrow(/origin/);
  },
);
