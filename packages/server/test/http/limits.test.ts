import { expect, test } from "vitest";
import { createServer, memoryStorage, type Limits } from "../../src/index.ts";
import { ManualClock } from "../support/clock.ts";
import {
  readEvents,
  startRun,
  startServer,
  type Granted,
  type TestServer,
} from "../support/http.ts";

const MB = 1 << 20;
const post = "/v1/sessions/s/commands";

/** A client's call `c1` and an agent's `c2`, both open. */
async function offer(server: TestServer): Promise<{ work: Granted; append: Append }> {
  await server.request("PUT", "/v1/sessions/s", { body: { agent: "demo" } });
  const tools = [{ name: "locate" }];
  await server.request("POST", post, { body: { id: "t", type: "tools.advertise", tools } });
  const work = await startRun(server);
  const { runId, attempt, token } = work;
  let seq = 0;
  const append: Append = (...items) => {
    seq += 1;
    const body = { id: `a${seq}`, type: "run.append", runId, attempt, producer: "p", seq, items };
    return server.request("POST", post, { body, token });
  };
  await append(
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "locate" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
    { type: "TOOL_CALL_START", toolCallId: "c2", toolCallName: "look" },
    { type: "TOOL_CALL_END", toolCallId: "c2" },
    { type: "round.close" },
  );
  return { work, append };
}

type Append = (...items: object[]) => ReturnType<TestServer["request"]>;

async function callsOf(server: TestServer) {
  const { body } = await server.request("GET", "/v1/sessions/s/state");
  return (body["state"] as { calls: Record<string, unknown>[] }).calls;
}

test("C13 a tool text of 11 MB settles its call, whoever sends it, and the session goes on", async () => {
  await using server = await startServer();
  const { append } = await offer(server);
  const answer = { type: "text", text: "r".repeat(11 * MB) };
  const said = { type: "call.answer", outcome: "ok", answer };
  const client = await server.request("POST", post, { body: { id: "x", callId: "c1", ...said } });
  const agent = await append({ callId: "c2", ...said }, { type: "CUSTOM", name: "n", value: 1 });
  expect(client.body).toMatchObject({
    status: "applied",
    resultTooLarge: { limit: 256 << 10, value: 11 * MB + 25 },
  });
  expect(agent.body).toMatchObject({ status: "applied" });
  expect(agent.body["skipped"]).toBeUndefined();
  const settled = { status: "settled", outcome: "error", reason: "result_too_large" };
  expect(await callsOf(server)).toMatchObject([settled, settled]);
  const page = await server.request("GET", "/v1/sessions/s/entries");
  expect(JSON.stringify(page.body).length).toBeLessThan(20_000);
  const more = { id: "m", type: "message.send", messageId: "m2", content: "and?" };
  expect((await server.request("POST", post, { body: more })).status).toBe(200);
});

test("C111 one event that is too large is refused, and its channel goes on", async () => {
  await using server = await startServer();
  const { append } = await offer(server);
  const large = { type: "CUSTOM", name: "n", value: "v".repeat(2 * MB) };
  const refused = await append(large, { type: "CUSTOM", name: "kept", value: 1 });
  expect(refused.body["skipped"]).toMatchObject([
    { index: 0, error: { code: "too_large", details: { limit: MB, value: 2 * MB + 39 } } },
  ]);
  expect((await append({ type: "CUSTOM", name: "next", value: 1 })).body["status"]).toBe("applied");
  const page = await server.request("GET", "/v1/sessions/s/entries");
  const names = (page.body["entries"] as { event: { name?: string } }[]).flatMap(
    ({ event }) => event.name ?? [],
  );
  expect(names).toEqual(["kept", "next"]);
});

test("a refusal for its size or rate says limit and value, and changes nothing", async () => {
  const limits = { bodyBytes: 20_000, eventBytes: 5_000, commands: { burst: 3, perSecond: 1 } };
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  await using server = await startServer({ storage, limits });
  await offer(server);
  const before = await server.request("GET", "/v1/sessions/s/entries");
  const long = "i".repeat(257);
  const message = { id: "m", type: "message.send", messageId: "m2", content: "c" };
  const send = (more: object) => server.request("POST", post, { body: { ...message, ...more } });
  const put = (path: string, body: object) =>
    server.request("PUT", `/v1/sessions/${path}`, { body });
  for (const [answered, status, code, details] of [
    [await send({ content: "c".repeat(6_000) }), 413, "too_large", { limit: 5_000, value: 6_062 }],
    [
      await send({ content: "c".repeat(30_000) }),
      413,
      "too_large",
      { limit: 20_000, value: 30_062 },
    ],
    [await send({ id: long }), 400, "invalid_request", { limit: 256, value: 257 }],
    [await send({ messageId: long }), 400, "invalid_request", { limit: 256, value: 257 }],
    [await put(long, {}), 400, "invalid_request", { limit: 256, value: 257 }],
    [await put("x", { agent: long }), 400, "invalid_request", { limit: 256, value: 257 }],
    [await put("x", { metadata: { m: "m".repeat(6_000) } }), 413, "too_large", { limit: 5_000 }],
    [await send({}), 429, "too_many_requests", { limit: 1, value: 1, retryAfterMs: 1_000 }],
  ] as const) {
    expect(answered.status).toBe(status);
    expect(answered.body).toMatchObject({ code, details });
  }
  expect(await server.request("GET", "/v1/sessions/s/entries")).toEqual(before);
  expect((await server.request("GET", "/v1/sessions/x")).status).toBe(404);
  await clock.advance(1_000);
  expect((await send({})).status).toBe(200);
});

test("one who sends too much is told when to come again, and keeps nobody else out", async () => {
  const limits = { commands: { burst: 1, perSecond: 0.1 } };
  const clock = new ManualClock();
  const options = { storage: memoryStorage({ now: clock.now }), dev: true, limits };
  await using server = createServer(options);
  const { url } = await server.listen();
  const send = async (principal: string, id: string) =>
    fetch(`${url}${post}`, {
      method: "POST",
      headers: { authorization: `Bearer ${await server.mint(principal)}` },
      body: JSON.stringify({ id, type: "message.send", messageId: id, content: "c" }),
    });
  await fetch(`${url}/v1/sessions/s`, {
    method: "PUT",
    headers: { authorization: `Bearer ${await server.mint("user:ana")}` },
  });
  expect((await send("user:ana", "1")).status).toBe(200);
  const refused = await send("user:ana", "2");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"]);
  expect((await send("user:bo", "3")).status).toBe(200);
});

test("a principal makes so many sessions, and finds those that are there", async () => {
  const limits = { sessions: { burst: 2, perSecond: 1 } };
  const clock = new ManualClock();
  await using server = await startServer({ storage: memoryStorage({ now: clock.now }), limits });
  const put = async (id: string) => (await server.request("PUT", `/v1/sessions/${id}`)).status;
  expect([await put("a"), await put("b"), await put("c")]).toEqual([201, 201, 429]);
  expect([await put("a"), await put("b")]).toEqual([200, 200]);
  await clock.advance(1_000);
  expect(await put("c")).toBe(201);
});

test.each([
  ["a session", { subscribersPerSession: 2 } as Partial<Limits>],
  ["a principal", { subscribersPerPrincipal: 2 } as Partial<Limits>],
])("%s has so many readers, and one that leaves makes room", async (_, limits) => {
  await using server = await startServer({ limits });
  await server.request("PUT", "/v1/sessions/s", { body: { agent: "demo" } });
  const url = `${server.url}/v1/sessions/s/entries`;
  const open = async () => {
    const stream = readEvents(url, server.ana);
    await stream.next();
    return stream;
  };
  const [first, second] = [await open(), await open()];
  const headers = { accept: "text/event-stream" };
  const refused = await server.request("GET", "/v1/sessions/s/entries", { headers });
  expect(refused.status).toBe(429);
  expect(refused.body).toMatchObject({
    code: "too_many_requests",
    details: { limit: 2, value: 2, retryAfterMs: 5_000 },
  });
  await first.return(undefined);
  await expect
    .poll(async () => {
      const third = await open().catch(() => undefined);
      await third?.return(undefined);
      return third !== undefined;
    })
    .toBe(true);
  await second.return(undefined);
});

test("whoever watches the inbox is a reader like others", async () => {
  await using server = await startServer({ limits: { subscribersPerPrincipal: 2 } });
  const watch = () => readEvents(`${server.url}/v1/calls`, server.ana);
  const [first, second] = [watch(), watch()];
  expect((await first.next()).done).toBe(false);
  expect((await second.next()).done).toBe(false);
  const headers = { accept: "text/event-stream" };
  const refused = await server.request("GET", "/v1/calls", { headers });
  expect(refused.status).toBe(429);
  expect(refused.body).toMatchObject({ details: { limit: 2, value: 2, retryAfterMs: 5_000 } });
  expect((await server.request("GET", "/v1/calls")).status).toBe(200);
  await first.return(undefined);
  await expect
    .poll(async () => {
      const third = watch();
      const opened = await third.next().then(
        () => true,
        () => false,
      );
      await third.return(undefined);
      return opened;
    })
    .toBe(true);
  await second.return(undefined);
});

test("limits that nothing could keep within are refused at once", () => {
  const limits = { commands: { burst: 1, perSecond: 0 } };
  expect(() => createServer({ storage: memoryStorage(), limits })).toThrow(
    "limits.commands must be above 0, not 0.",
  );
});
