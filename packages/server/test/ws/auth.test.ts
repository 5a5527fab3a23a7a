import { once } from "node:events";
import { connect } from "node:net";
import { SOCKET_CLOSES } from "@holdfast/protocol";
import { SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { createServer } from "../../src/index.ts";
import { memoryStorage } from "../../src/storage/memory.ts";
import { bareSocket, textFrame } from "../support/bare-socket.ts";
import { ManualClock } from "../support/clock.ts";
import { startRun, startServer, type TestServer } from "../support/http.ts";
import { openSocket, rawSocket } from "../support/socket.ts";

const secret = crypto.getRandomValues(new Uint8Array(32));

/** A token as this server signs them, that ends when the test says. */
function tokenOf(principal: string, endsAt: number, claims: Record<string, unknown> = {}) {
  const seconds = Math.floor(endsAt / 1000);
  return new SignJWT({ grants: [{ sessions: "*", verbs: ["read"] }], ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(principal)
    .setIssuedAt(seconds - 3_600)
    .setExpirationTime(seconds)
    .sign(secret);
}

/** So that nobody has to answer a ping in time that the test makes up. */
const HOUR = 3_600_000;

async function clockedServer() {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  return {
    clock,
    server: await startServer({ storage, schedule: clock.schedule, secret, sseHeartbeatMs: HOUR }),
  };
}

describe("the first frame", () => {
  const early: readonly (readonly [string, unknown])[] = [
    ["a subscription", { type: "subscribe", session: "s", ref: 1 }],
    ["commands", { type: "commands", session: "s", ref: 1, commands: [] }],
    ["an attempt's token", { type: "attempt", token: "x", ref: 1 }],
    ["a ping", { type: "ping", ref: 1 }],
    ["a token that is none", { type: "auth", token: "nonsense", ref: 1 }],
    ["no token", { type: "auth", ref: 1 }],
    ["no JSON", "hello"],
  ];
  test.each(early)(
    "must be a good token: %s is refused, and the socket closed",
    async (_name, frame) => {
      await using server = await startServer();
      await using socket = await rawSocket(server.url);
      socket.send(frame);
      expect(await socket.closed).toMatchObject({ code: SOCKET_CLOSES.unauthenticated });
      expect(socket.heard.map(({ type }) => type)).toEqual(["error"]);
      if (typeof frame === "object") expect(socket.heard[0]).toMatchObject({ ref: 1 });
    },
  );

  test("may be followed at once by others, which wait for it", async () => {
    await using server = await startServer();
    await startRun(server);
    await using socket = await rawSocket(server.url);
    socket.send({ type: "auth", token: server.ana });
    socket.send({ type: "subscribe", session: "s", ref: 2 });
    expect(await socket.find(({ ref }) => ref === 2)).toMatchObject({ type: "subscribed" });
    expect(socket.heard[0]).toMatchObject({ type: "ready", principal: "user:ana" });
  });

  test("must come in time", async () => {
    const { clock, server } = await clockedServer();
    await using _ = server;
    await using socket = await rawSocket(server.url);
    await clock.advance(10_000);
    expect(await socket.closed).toMatchObject({ code: SOCKET_CLOSES.unauthenticated });
  });
});

describe("before it said who it is", () => {
  test("a socket may send no more than a token needs, and is cut before its frame is whole", async () => {
    await using server = await startServer();
    using socket = await bareSocket(server.url);
    socket.write(textFrame("x".repeat(100_000), 1 << 20));
    await socket.cut;
  });

  test("nor may it talk below frames for ever", async () => {
    await using server = await startServer();
    using socket = await bareSocket(server.url);
    const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
    socket.write(Buffer.concat(Array.from({ length: 20_000 }, () => pong)));
    await socket.cut;
  });

  test("a token, and much more right behind it, is taken", async () => {
    await using server = await startServer();
    using socket = await bareSocket(server.url);
    const long = { type: "ping", ref: "late", x: "x".repeat(500_000) };
    socket.send({ type: "auth", token: server.ana });
    socket.send(long);
    await socket.heard(`"ref":"late"`);
  });
});

describe("a token that ends", () => {
  test("is told a minute before, and then closes the socket, to be opened again", async () => {
    const { clock, server } = await clockedServer();
    await using _ = server;
    await startRun(server);
    const expiresAt = Math.ceil(clock.now() / 1000) * 1000 + 300_000;
    await using socket = await openSocket(server, await tokenOf("user:ana", expiresAt));
    await socket.ask({ type: "subscribe", session: "s" });
    await clock.advance(expiresAt - clock.now() - 60_001);
    await socket.ask({ type: "ping" });
    expect(socket.heard.some(({ type }) => type === "expiring")).toBe(false);
    await clock.advance(1);
    expect(await socket.find(({ type }) => type === "expiring")).toMatchObject({ expiresAt });
    await clock.advance(60_000);
    expect(await socket.closed).toEqual({
      code: SOCKET_CLOSES.token_expired,
      reason: "token_expired",
    });
  });

  test("is replaced in-band, and the socket lives on", async () => {
    const { clock, server } = await clockedServer();
    await using _ = server;
    await startRun(server);
    const until = (ms: number) => tokenOf("user:ana", clock.now() + ms);
    await using socket = await openSocket(server, await until(100_000));
    await socket.ask({ type: "subscribe", session: "s" });
    expect(await socket.ask({ type: "auth", token: await until(500_000) })).toMatchObject({
      type: "ready",
    });
    await clock.advance(200_000);
    expect(await socket.ask({ type: "ping" })).toMatchObject({ type: "pong" });
    expect(socket.heard.some(({ type }) => type === "unsubscribed")).toBe(false);
  });

  test("of an attempt ends that attempt alone", async () => {
    const { clock, server } = await clockedServer();
    await using _ = server;
    const { session, runId, attempt } = await startRun(server);
    const ends = clock.now() + 20_000;
    const token = await tokenOf("agent:demo", ends, { attempt: { session, runId, attempt } });
    await using socket = await openSocket(server, server.demo);
    await socket.ask({ type: "attempt", token });
    await socket.ask({ type: "subscribe", session, runId, attempt });
    await clock.advance(20_001);
    const forgotten = await socket.find(({ type }) => type === "forgotten");
    expect(forgotten).toMatchObject({
      session,
      runId,
      attempt,
      error: { code: "unauthenticated" },
    });
    expect(await socket.find(({ type }) => type === "unsubscribed")).toMatchObject({
      session,
      runId,
    });
    expect(await socket.ask({ type: "ping" })).toMatchObject({ type: "pong" });
  });

  test("or is revoked closes the socket, to be opened with another", async () => {
    await using server = await startServer({ secret });
    await startRun(server);
    const token = await tokenOf("user:ana", Date.now() + HOUR, { jti: "lost" });
    await using socket = await openSocket(server, token);
    await using other = await openSocket(server);
    const body = { token: "lost" };
    expect((await server.request("POST", "/v1/revocations", { body })).status).toBe(200);
    expect(await socket.closed).toMatchObject({ reason: "unauthenticated" });
    expect(await other.ask({ type: "ping" })).toMatchObject({ type: "pong" });
  });

  test("is no word any more at its end, though no timer has said so yet", async () => {
    let now = Date.now();
    const storage = memoryStorage({ now: () => now });
    await using server = await startServer({
      storage,
      secret,
      schedule: new ManualClock().schedule,
    });
    await startRun(server);
    const token = await tokenOf("user:ana", now + 5_000);
    await using socket = await openSocket(server, token);
    expect(await socket.ask({ type: "subscribe", session: "s" })).toMatchObject({
      type: "subscribed",
    });
    now += 6_000;
    for (const frame of [
      { type: "commands", session: "s", commands: [] },
      { type: "subscribe", session: "s2" },
    ])
      expect(await socket.ask(frame)).toMatchObject({ error: { code: "unauthenticated" } });
  });

  test("is no word any more for a socket that was told to end and goes on all the same", async () => {
    await using server = await startServer({ secret });
    await startRun(server);
    const grants = [{ sessions: "*", verbs: ["read", "send"] }];
    const token = await tokenOf("user:ana", Date.now() + HOUR, { jti: "lost", grants });
    using socket = await bareSocket(server.url);
    socket.send({ type: "auth", token, ref: 1 });
    await socket.heard(`"type":"ready"`);
    await server.request("POST", "/v1/revocations", { body: { token: "lost" } });
    await socket.heard("unauthenticated");
    const message = { id: "m2", type: "message.send", messageId: "m2", content: "still here" };
    socket.send({ type: "commands", session: "s", ref: 2, commands: [message] });
    // Behind it, so that it would have been carried out by now.
    socket.write(Buffer.from([0x88, 0x80, 0, 0, 0, 0]));
    await socket.cut;
    const { body } = await server.request("GET", "/v1/sessions/s/state");
    expect(JSON.stringify(body)).not.toContain("still here");
  });
});

describe("a fresh token", () => {
  test("of another principal is refused, and the one before stands", async () => {
    await using server = await startServer();
    await using socket = await openSocket(server);
    const refused = await socket.ask({ type: "auth", token: server.demo });
    expect(refused).toMatchObject({ type: "error", error: { code: "forbidden" } });
    const bad = await socket.ask({ type: "auth", token: "nonsense" });
    expect(bad).toMatchObject({ type: "error", error: { code: "unauthenticated" } });
    expect(await socket.ask({ type: "ping" })).toMatchObject({ type: "pong" });
  });

  test("that allows less ends what it does not allow", async () => {
    await using server = await startServer({ secret });
    const { session } = await startRun(server);
    await server.request("PUT", "/v1/sessions/other", { body: { agent: "demo" } });
    const ends = Date.now() + HOUR;
    await using socket = await openSocket(server, await tokenOf("user:ana", ends));
    await socket.ask({ type: "subscribe", session });
    await socket.ask({ type: "subscribe", session: "other" });
    const grants = [{ sessions: session, verbs: ["read"] }];
    const narrow = await tokenOf("user:ana", ends, { grants });
    await socket.ask({ type: "auth", token: narrow });
    const ended = await socket.find(({ type }) => type === "unsubscribed");
    expect(ended).toMatchObject({ session: "other", error: { code: "forbidden" } });
    expect(await socket.ask({ type: "subscribe", session: "other" })).toMatchObject({
      error: { code: "forbidden" },
    });
    expect(socket.heard.filter(({ type }) => type === "unsubscribed")).toHaveLength(1);
  });
});

describe("an attempt's token", () => {
  test("is needed for what names the attempt, until it is forgotten", async () => {
    await using server = await startServer();
    const { session, runId, attempt, token } = await startRun(server);
    await using socket = await openSocket(server, server.demo);
    const beat = { id: "b", type: "run.heartbeat", runId, attempt };
    const frame = { type: "commands", session, runId, attempt, commands: [beat] };
    expect(await socket.ask(frame)).toMatchObject({ error: { code: "unauthenticated" } });
    const own = await socket.ask({ type: "commands", session, commands: [beat] });
    expect(own).toMatchObject({ verdicts: [{ error: { code: "forbidden" } }] });
    expect(await socket.ask({ type: "attempt", token })).toMatchObject({ session, runId, attempt });
    expect(await socket.ask(frame)).toMatchObject({ verdicts: [{ status: "applied" }] });
    socket.send({ type: "forget", session, runId, attempt });
    expect(await socket.ask(frame)).toMatchObject({ error: { code: "unauthenticated" } });
  });

  test("must be one, and of the socket's principal", async () => {
    await using server = await startServer();
    const { token } = await startRun(server);
    await using ana = await openSocket(server);
    expect(await ana.ask({ type: "attempt", token })).toMatchObject({
      error: { code: "forbidden" },
    });
    await using demo = await openSocket(server, server.demo);
    expect(await demo.ask({ type: "attempt", token: server.demo })).toMatchObject({
      error: { code: "forbidden" },
    });
  });

  test("is held as often as the limit says", async () => {
    await using server = await startServer({ secret, socketLimits: { attempts: 2 } });
    await using socket = await openSocket(server, server.demo);
    const hold = async (runId: string) => {
      const claims = { attempt: { session: "s", runId, attempt: 1 } };
      const token = await tokenOf("agent:demo", Date.now() + 60_000, claims);
      return (await socket.ask({ type: "attempt", token })).type;
    };
    expect([await hold("a"), await hold("b"), await hold("c"), await hold("b")]).toEqual([
      "attempt",
      "attempt",
      "error",
      "attempt",
    ]);
    socket.send({ type: "forget", session: "s", runId: "a", attempt: 1 });
    expect(await hold("c")).toBe("attempt");
  });
});

describe("who may connect", () => {
  const origin = async (server: TestServer, from: string) =>
    rawSocket(server.url, { headers: { origin: from } }).then(
      (socket) => socket[Symbol.asyncDispose]().then(() => "taken"),
      (error: Error) => error.message,
    );

  test("pages of the server's own origin and of listed ones, and whoever is no page", async () => {
    await using server = await startServer({ corsOrigins: ["https://app.example"] });
    expect(await origin(server, server.url)).toBe("taken");
    expect(await origin(server, "https://app.example")).toBe("taken");
    for (const from of [
      "https://evil.example",
      "null",
      "http://127.0.0.1",
      "https://app.example.evil",
    ])
      expect(await origin(server, from)).toBe("Refused with 403.");
  });

  test("no page from elsewhere by default", async () => {
    await using server = await startServer();
    expect(await origin(server, "https://app.example")).toBe("Refused with 403.");
  });

  test("nobody under another path, which says why", async () => {
    await using server = await startServer();
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1").setEncoding("utf8");
    socket.write(
      "GET /v1/other HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    );
    let text = "";
    for await (const piece of socket) text += piece;
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    expect(text).toContain('"code":"not_found"');
  });

  test("an embedder's own server, through `upgrade`", async () => {
    const { createServer: createHttp } = await import("node:http");
    await using holdfast = createServer({ storage: memoryStorage() });
    const http = createHttp().on("upgrade", (request, socket, head) =>
      holdfast.upgrade(request, socket, head),
    );
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    const address = http.address();
    const port = typeof address === "object" && address ? address.port : 0;
    await using socket = await rawSocket(`http://127.0.0.1:${port}`);
    const token = await holdfast.mint("user:ana");
    expect(await socket.ask({ type: "auth", token })).toMatchObject({ type: "ready" });
    await holdfast.close();
    expect(await socket.closed).toMatchObject({ code: SOCKET_CLOSES.going_away });
    http.close();
  });
});
