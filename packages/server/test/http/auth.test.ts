import { afterAll, beforeAll, expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { createServer } from "../../src/index.ts";
import { startRun, startServer, type Granted, type TestServer } from "../support/http.ts";

let server: TestServer;
let work: Granted;

beforeAll(async () => {
  server = await startServer();
  work = await startRun(server);
  await server.request("PUT", "/v1/sessions/other", { body: { agent: "demo" } });
});
afterAll(() => server[Symbol.asyncDispose]());

test.each([
  ["no token", null],
  ["nonsense", "nonsense"],
  [
    "a token that is not signed by us",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c2VyOmFuYSIsImV4cCI6OTk5OTk5OTk5OX0.AAAA",
  ],
  [
    "a token that is not signed at all",
    "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1c2VyOmFuYSIsImV4cCI6OTk5OTk5OTk5OX0.",
  ],
])("%s is unauthenticated", async (_, token) => {
  const { status, body } = await server.request("GET", "/v1/sessions/s", { token });
  expect([status, body["code"]]).toEqual([401, "unauthenticated"]);
});

test("who commands is the token's principal, whatever the body says", async () => {
  await server.request("POST", "/v1/sessions/s/commands", {
    body: { id: "a", type: "message.send", messageId: "ma", content: "x", actor: "user:bob" },
  });
  const { body } = await server.request("GET", "/v1/sessions/s/state");
  const { messages } = body["state"] as { messages: { id: string; by: string }[] };
  expect(messages.find(({ id }) => id === "ma")?.by).toBe("user:ana");
});

test("reads take their token from the query, commands do not", async () => {
  const query = `?access_token=${server.ana}`;
  const read = await server.request("GET", `/v1/sessions/s${query}`, { token: null });
  expect(read.status).toBe(200);
  const written = await server.request("POST", `/v1/sessions/s/commands${query}`, {
    token: null,
    body: {},
  });
  expect(written.status).toBe(401);
});

test.each([
  ["reads another session", "GET", "/v1/sessions/other/state", undefined],
  ["lists sessions", "GET", "/v1/sessions", undefined],
  ["makes a session", "PUT", "/v1/sessions/new", {}],
  ["deletes its session", "DELETE", "/v1/sessions/s", undefined],
  ["claims work", "POST", "/v1/work/claim", { agent: "demo", worker: "w" }],
  [
    "commands another session",
    "POST",
    "/v1/sessions/other/commands",
    { id: "x", type: "call.claim", callId: "c" },
  ],
  [
    "sends a message",
    "POST",
    "/v1/sessions/s/commands",
    { id: "x", type: "message.send", messageId: "m", content: "x" },
  ],
  [
    "decides on a call",
    "POST",
    "/v1/sessions/s/commands",
    { id: "x", type: "call.decide", callId: "c", approved: true },
  ],
])("an attempt's token that %s is forbidden", async (_, method, path, body) => {
  const answered = await server.request(method, path, { body, token: work.token });
  expect([answered.status, answered.body["code"]]).toEqual([403, "forbidden"]);
});

test("an attempt's token reads its session and works on its run", async () => {
  expect((await server.request("GET", "/v1/sessions/s/state", { token: work.token })).status).toBe(
    200,
  );
  const { runId, attempt, token } = work;
  const beat = await server.request("POST", "/v1/sessions/s/commands", {
    token,
    body: { id: "b", type: "run.heartbeat", runId, attempt },
  });
  expect(beat.body).toMatchObject({ status: "applied" });
});

test("an agent does not decide on calls, by any of its tokens", async () => {
  const { body } = await server.request("POST", "/v1/sessions/s/commands", {
    token: server.demo,
    body: { id: "x", type: "call.decide", callId: "c", approved: true },
  });
  expect(body).toMatchObject({ code: "forbidden" });
});

test("a development token is for a name that was chosen, on this machine only", async () => {
  const given = await server.request("POST", "/v1/dev/token", {
    token: null,
    body: { name: " Ana " },
  });
  expect(given.body).toMatchObject({ principal: "user:Ana" });
  const token = String(given.body["token"]);
  expect((await server.request("GET", "/v1/sessions/s", { token })).status).toBe(200);

  const agent = await server.request("POST", "/v1/dev/token", {
    token: null,
    body: { agent: "demo" },
  });
  expect(agent.body).toMatchObject({ principal: "agent:demo" });

  const lured = await server.request("POST", "/v1/dev/token", {
    token: null,
    body: { name: "Eve" },
    headers: { origin: "https://evil.example" },
  });
  expect([lured.status, lured.body["code"]]).toEqual([403, "forbidden"]);
});

test("behind fetch, a server without a key gives development tokens where it was told to, and not by chance", async () => {
  for (const [options, expected] of [
    [{}, 403],
    [{ dev: true }, 200],
    [{ dev: false }, 404],
  ] as const) {
    await using server = createServer({ storage: memoryStorage(), ...options });
    // Whoever asks chooses the host that it says.
    const asked = new Request("http://localhost/v1/dev/token", {
      method: "POST",
      body: '{"name":"Eve"}',
    });
    expect([options, (await server.fetch(asked)).status]).toEqual([options, expected]);
  }
});

test("with a secret of its own, a server gives no development tokens", async () => {
  await using strict = await startServer({ secret: new Uint8Array(32).fill(7) });
  const { status } = await strict.request("POST", "/v1/dev/token", { body: { name: "Ana" } });
  expect(status).toBe(404);
});

test.each([
  ["without a secret", {}],
  ["in development", { secret: new Uint8Array(32), dev: true }],
])("%s only this machine is listened on", async (_, options) => {
  await using open = createServer({ storage: memoryStorage(), ...options });
  await expect(open.listen({ hostname: "0.0.0.0" })).rejects.toThrow(
    /Refusing to listen on 0.0.0.0/,
  );
  expect((await open.listen({ hostname: "localhost" })).port).toBeGreaterThan(0);
});

test("a short secret is refused", () => {
  expect(() => createServer({ storage: memoryStorage(), secret: new Uint8Array(8) })).toThrow(
    /32 bytes/,
  );
});

test("a token of one server is none of another's", async () => {
  await using other = await startServer();
  const { status } = await server.request("GET", "/v1/sessions/s", { token: other.ana });
  expect(status).toBe(401);
});
