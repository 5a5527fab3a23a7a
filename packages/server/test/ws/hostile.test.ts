import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { SOCKET_CLOSES } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { ManualClock, quiet, until } from "../support/clock.ts";
import { gate } from "../support/gate.ts";
import { startRun, startServer, type TestServer } from "../support/http.ts";
import { agentSocket, custom, openSocket, rawSocket, type TestSocket } from "../support/socket.ts";

const rawOf = (socket: TestSocket) => (socket.ws as unknown as { _socket: Socket })._socket;

describe("a frame that is bad", () => {
  const deep = `${"[".repeat(300)}${"]".repeat(300)}`;
  const frames: readonly (readonly [string, string | Buffer, string])[] = [
    ["is binary", Buffer.from('{"type":"ping","ref":1}'), "invalid_request"],
    ["is no JSON", '{"type":', "invalid_request"],
    ["is empty", "", "invalid_request"],
    ["is not UTF-8", Buffer.from([0x22, 0xff, 0x22]), "invalid_request"],
    [
      "is larger than it may be",
      JSON.stringify({ type: "ping", x: "x".repeat(70_000) }),
      "too_large",
    ],
    [
      "nests too deep",
      `{"type":"commands","session":"s","ref":1,"commands":${deep}}`,
      "invalid_request",
    ],
    ["is no object", "7", "invalid_request"],
    ["has no type", "{}", "invalid_request"],
    ["has an unknown type", '{"type":"fly"}', "invalid_request"],
    ["has a type of every object", '{"type":"__proto__"}', "invalid_request"],
    ["has a type of every function", '{"type":"constructor"}', "invalid_request"],
    ["has a ref that is none", '{"type":"ping","ref":{}}', "invalid_request"],
    ["names no session", '{"type":"subscribe","session":7}', "invalid_request"],
    [
      "names a session that cannot be",
      '{"type":"subscribe","session":"a\\u0000b"}',
      "invalid_request",
    ],
    ["names a lone surrogate", '{"type":"subscribe","session":"\\ud800"}', "invalid_request"],
    ["appends to nothing", '{"type":"append"}', "invalid_request"],
  ];
  test.each(frames)("%s: it is answered, and the next one is served", async (name, frame, code) => {
    await using server = await startServer({ limits: { bodyBytes: 65_536 } });
    await using socket = await openSocket(server);
    socket.ws.send(frame, { binary: name === "is binary" });
    expect(await socket.find(({ type }) => type === "error")).toMatchObject({ error: { code } });
    expect(await socket.ask({ type: "ping" })).toMatchObject({ type: "pong" });
    expect(socket.heard.filter(({ type }) => type === "error")).toHaveLength(1);
  });

  test("is answered under its ref where that can be read", async () => {
    await using server = await startServer();
    await using socket = await openSocket(server);
    for (const frame of [{ type: "fly" }, { type: "subscribe" }, { type: "commands", session: 7 }])
      expect(await socket.ask(frame)).toMatchObject({ type: "error" });
  });

  test("is beyond all measure: the socket is closed, and others live on", async () => {
    await using server = await startServer({ limits: { bodyBytes: 1_024 } });
    await using other = await openSocket(server);
    await using socket = await openSocket(server);
    socket.send("x".repeat(10_000));
    expect(await socket.closed).toMatchObject({ code: 1009 });
    expect(await other.ask({ type: "ping" })).toMatchObject({ type: "pong" });
  });

  test("breaks the protocol under the socket: that socket ends alone", async () => {
    await using server = await startServer();
    await using other = await openSocket(server);
    await using socket = await openSocket(server);
    rawOf(socket).write(Buffer.from([0xff, 0xff, 0xff, 0xff]));
    await socket.closed;
    expect(await other.ask({ type: "ping" })).toMatchObject({ type: "pong" });
  });
});

test("names of every object are names like others, for sessions, runs and producers", async () => {
  await using server = await startServer();
  await server.request("PUT", "/v1/sessions/__proto__", { body: { agent: "demo" } });
  await server.request("POST", "/v1/sessions/__proto__/commands", {
    body: { id: "__proto__", type: "message.send", messageId: "constructor", content: "x" },
  });
  const work = await server.claim();
  const { socket, append } = await agentSocket(server, work);
  await using _ = socket;
  append([custom(1)]);
  expect(await socket.find(({ type }) => type === "ack")).toMatchObject({ session: "__proto__" });
  const { session, runId, attempt } = work;
  const subscribed = await socket.ask({ type: "subscribe", session, runId, attempt });
  expect(subscribed).toMatchObject({ type: "subscribed" });
  const missing = { type: "subscribe", session: "s", runId: "__proto__", attempt: 1 };
  expect(await socket.ask(missing)).toMatchObject({ error: { code: "unauthenticated" } });
});

/** How much of what a socket sent nobody takes, in bytes; found out beside another one that is served. */
async function leftOver(socket: TestSocket, other: TestSocket): Promise<number> {
  const raw = rawOf(socket);
  let left = raw.writableLength;
  for (let same = 0; same < 30; same += 1) {
    await other.ask({ type: "ping" });
    if (raw.writableLength !== left) same = 0;
    left = raw.writableLength;
  }
  return left;
}

const bounds = [
  { commands: 10, commandBytes: 1 << 30 },
  { commands: 1 << 20, commandBytes: 1 << 20 },
];
test.each(bounds)("beyond what may be undecided, nothing is read: %o", async (socketLimits) => {
  const { storage, hold, release, waiting } = gate();
  await using server = await startServer({ storage, socketLimits });
  const work = await startRun(server);
  const { socket, append } = await agentSocket(server, work);
  await using _ = socket;
  await using other = await openSocket(server);
  hold();
  const pad = "x".repeat(100_000);
  for (let n = 0; n < 200; n += 1) append([custom(pad)]);
  await until("the commit", () => waiting() > 0);
  // What the kernel and the server take is far from all of it.
  expect(await leftOver(socket, other)).toBeGreaterThan(5_000_000);
  release();
  await socket.find((it) => it.type === "ack" && it.seq === 200);
});

test("a session that is stuck does not hold up another of the same socket", async () => {
  const { storage, hold, release, waiting } = gate();
  await using server = await startServer({ storage });
  await server.request("PUT", "/v1/sessions/a", { body: {} });
  await server.request("PUT", "/v1/sessions/b", { body: {} });
  await using socket = await openSocket(server);
  const send = (session: string) =>
    socket.ask({
      type: "commands",
      session,
      commands: [{ id: session, type: "message.send", messageId: session, content: "x" }],
    });
  hold();
  const stuck = send("a");
  await until("the commit", () => waiting() === 1);
  expect(await socket.ask({ type: "subscribe", session: "b" })).toMatchObject({
    type: "subscribed",
  });
  expect(await socket.ask({ type: "commands", session: "b", commands: [7] })).toMatchObject({
    verdicts: [{ status: "rejected" }],
  });
  release();
  expect(await stuck).toMatchObject({ verdicts: [{ status: "applied" }] });
});

const textOf = (length: number) => ({ type: "text", text: "x".repeat(length) });

/** Appends big entries until `enough`, each once the one before is durable. */
async function flood(
  append: (items: object[]) => number,
  agent: TestSocket,
  enough: () => boolean,
) {
  const big = "x".repeat(50_000);
  for (let sent = 0; sent < 600 && !enough(); sent += 1) {
    const seq = append([custom(big)]);
    await agent.find((it) => it.type === "ack" && it.seq >= seq);
  }
}

describe("a socket that does not read", () => {
  const limits = { subscriberBytes: 200_000, socketLimits: { bufferBytes: 65_536 } };

  test("has its subscriptions closed, can go on from its cursor, and holds up nobody", async () => {
    await using server = await startServer(limits);
    const { socket: agent, append } = await agentSocket(server, await startRun(server));
    await using _ = agent;
    await using reader = await openSocket(server);
    await reader.ask({ type: "subscribe", session: "s" });
    await using slow = await openSocket(server);
    await slow.ask({ type: "subscribe", session: "s" });
    rawOf(slow).pause();
    let sent = 0;
    await flood(append, agent, () => (sent += 1) > 300);
    const head = String((await server.request("GET", "/v1/sessions/s")).body["offset"]);
    await reader.find((it) => it.type === "entries" && it.frame.entries.at(-1)?.offset === head);
    rawOf(slow).resume();
    expect(await slow.find(({ type }) => type === "unsubscribed")).toMatchObject({
      session: "s",
      error: { code: "overloaded" },
    });
    const cursor = slow.heard
      .flatMap((it) => (it.type === "entries" ? it.frame.entries : []))
      .at(-1);
    expect(cursor?.offset).not.toBe(head);
    const again = { type: "subscribe", session: "s", after: cursor?.offset };
    expect(await slow.ask(again)).toMatchObject({ type: "subscribed" });
    await slow.find((it) => it.type === "entries" && it.frame.entries.at(-1)?.offset === head);
    const all = slow.heard.flatMap((it) => (it.type === "entries" ? it.frame.entries : []));
    expect(all).toEqual(
      reader.heard.flatMap((it) => (it.type === "entries" ? it.frame.entries : [])),
    );
  });

  test("is not read either, however much it asks", async () => {
    const commands = { burst: 1_000_000, perSecond: 1_000_000 };
    await using server = await startServer({ ...limits, limits: { commands } });
    const { socket: agent, append } = await agentSocket(server, await startRun(server));
    await using _ = agent;
    append([
      {
        type: "TOOL_CALL_START",
        toolCallId: "c1",
        toolCallName: "look",
        metadata: { holdfast: { executor: "client" } },
      },
      { type: "TOOL_CALL_END", toolCallId: "c1" },
    ]);
    await agent.find(({ type }) => type === "ack");
    const answer = { id: "a", type: "call.answer", callId: "c1", outcome: "ok" };
    const body = { ...answer, answer: textOf(4_000) };
    const answered = await server.request("POST", "/v1/sessions/s/commands", { body });
    expect(answered.status).toBe(200);
    await using deaf = await openSocket(server);
    await using other = await openSocket(server);
    rawOf(deaf).pause();
    // Each is refused in the words of the answer that stands: 4 MB for a frame of them.
    const again = (n: number) =>
      Array.from({ length: 1_000 }, (_unused, at) => ({
        ...answer,
        id: `${n}-${at}`,
        answer: textOf(1),
      }));
    for (let n = 0; n < 20; n += 1)
      deaf.send({ type: "commands", session: "s", ref: n, commands: again(n) });
    const late = { id: "late", type: "message.send", messageId: "late", content: "x" };
    deaf.send({ type: "commands", session: "s", ref: "late", commands: [late] });
    for (let n = 0; n < 300; n += 1) await other.ask({ type: "ping" });
    const sent = async () => {
      const state = await server.request("GET", "/v1/sessions/s/state");
      return JSON.stringify(state.body).includes(`"id":"late"`);
    };
    expect(await sent()).toBe(false);
    rawOf(deaf).resume();
    expect(await deaf.find(({ ref }) => ref === "late")).toMatchObject({ type: "verdicts" });
    expect(await sent()).toBe(true);
  });

  test("at all is cut after three beats, while one that does lives on", async () => {
    const clock = new ManualClock();
    const storage = memoryStorage({ now: clock.now });
    await using server = await startServer({ ...limits, storage, schedule: clock.schedule });
    await using lively = await openSocket(server);
    await using dead = await openSocket(server);
    rawOf(dead).pause();
    let cut = false;
    void dead.closed.then(() => (cut = true));
    for (let beat = 0; beat < 4; beat += 1) {
      await clock.advance(15_000);
      await lively.ask({ type: "ping" });
    }
    rawOf(dead).resume();
    await until("the cut", () => cut);
    expect((await dead.closed).code).toBe(1006);
    expect(await lively.ask({ type: "ping" })).toMatchObject({ type: "pong" });
  });
});

describe("a socket whose server closes", () => {
  test("hears what was decided, and that the server goes away", async () => {
    const { storage, hold, release, waiting } = gate();
    const server = await startServer({ storage });
    const { socket, append } = await agentSocket(server, await startRun(server));
    await socket.ask({ type: "subscribe", session: "s" });
    hold();
    append([custom(1)]);
    await until("the commit", () => waiting() === 1);
    const closed = server[Symbol.asyncDispose]();
    await quiet();
    release();
    await closed;
    expect(await socket.closed).toEqual({ code: SOCKET_CLOSES.going_away, reason: "going_away" });
    expect(socket.heard.at(-1)).toMatchObject({ type: "ack", seq: 1 });
  });

  test("does not hold it up: it may never have spoken, or never read", async () => {
    const server = await startServer();
    await startRun(server);
    const silent = await rawSocket(server.url);
    const deaf = await openSocket(server);
    rawOf(deaf).pause();
    const half = connect(Number(new URL(server.url).port), "127.0.0.1");
    await once(half, "connect");
    await server[Symbol.asyncDispose]();
    expect(await silent.closed).toMatchObject({ code: SOCKET_CLOSES.going_away });
    rawOf(deaf).resume();
    await deaf.closed;
    half.destroy();
  });

  test("ends waits for work without a word", async () => {
    const server: TestServer = await startServer();
    const socket = await openSocket(server, server.demo);
    socket.send({ type: "work", ref: 1, request: { agent: "demo", worker: "w", waitMs: 30_000 } });
    await socket.ask({ type: "ping" });
    await server[Symbol.asyncDispose]();
    expect(await socket.closed).toMatchObject({ code: SOCKET_CLOSES.going_away });
  });
});
