import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { startRun, startServer, type TestServer } from "../support/http.ts";
import { gate } from "../support/gate.ts";
import { until } from "../support/clock.ts";
import { agentSocket, appender, custom, openSocket, type Heard } from "../support/socket.ts";

const send = (n: number) => ({
  id: `c${n}`,
  type: "message.send",
  messageId: `m${n}`,
  content: "x",
});

describe("commands over a socket and over HTTP", () => {
  const batches: Readonly<Record<string, unknown>> = {
    "an applied command": [send(11)],
    "the same again, and another under its id": [send(12), send(12), { ...send(13), id: "c12" }],
    "a rejected command": [{ id: "r", type: "call.cancel", callId: "none" }],
    "some that are bad": [
      send(14),
      { id: "x", type: "nothing" },
      7,
      null,
      { type: "message.send" },
    ],
    "what an attempt alone may say": [{ id: "h", type: "run.heartbeat", runId: "r", attempt: 1 }],
    "none at all": [],
    "a batch that is none": 7,
    "too many": Array.from({ length: 1001 }, () => 1),
  };
  test.each(Object.entries(batches))("get the same verdicts: %s", async (_name, commands) => {
    const answers: unknown[] = [];
    for (const way of ["http", "socket"]) {
      await using server = await startServer();
      await server.request("PUT", "/v1/sessions/s", { body: { agent: "demo" } });
      if (way === "http") {
        const { body } = await server.request("POST", "/v1/sessions/s/commands", {
          body: { commands },
        });
        const { code, detail: message, details } = body;
        const error = { code, message, ...(details !== undefined && { details }) };
        answers.push(comparable(body["verdicts"] ?? error));
      } else {
        await using socket = await openSocket(server);
        const answer = await socket.ask({ type: "commands", session: "s", commands });
        answers.push(comparable(answer["verdicts"] ?? answer["error"]));
      }
    }
    expect(answers[1]).toEqual(answers[0]);
  });

  test("of an unknown session, or one that may not be read, are refused as a whole", async () => {
    await using server = await startServer();
    const work = await startRun(server);
    await using socket = await openSocket(server, work.token);
    const refused = async (session: string) =>
      (
        (await socket.ask({ type: "commands", session, commands: [send(1)] })) as {
          error?: { code: string };
        }
      ).error?.code;
    expect(await refused("other")).toBe("forbidden");
    await using ana = await openSocket(server);
    expect(await ana.ask({ type: "commands", session: "none", commands: [send(1)] })).toMatchObject(
      {
        error: { code: "unknown_session" },
      },
    );
  });
});

/** What may differ is made by chance or by the clock. */
function comparable(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/"(runId|offset)":"[^"]*"/g, '"$1":"…"'));
}

const isAck = (producer: string, seq: number) => (it: Heard) =>
  it.type === "ack" && it.producer === producer && it.seq === seq;

describe("appends", () => {
  test("of several producers are acknowledged up to the last, at most once a commit", async () => {
    const { storage, hold, release, waiting } = gate();
    await using server = await startServer({ storage });
    const work = await startRun(server);
    const { socket, append } = await agentSocket(server, work);
    await using _ = socket;
    const other = appender(socket, work, "q");
    hold();
    append([custom("first")]);
    await until("the commit", () => waiting() === 1);
    for (let n = 0; n < 20; n += 1) {
      append([custom(n)]);
      other([custom(n)]);
    }
    await socket.ask({ type: "ping" });
    expect(socket.heard.filter(({ type }) => type === "ack")).toEqual([]);
    release();
    await socket.find(isAck("p", 21));
    await socket.find(isAck("q", 20));
    const acks = socket.heard.filter(({ type }) => type === "ack");
    expect(acks).toMatchObject([
      { producer: "p", seq: 21 },
      { producer: "q", seq: 20 },
    ]);
    const { body } = await server.request("GET", "/v1/sessions/s");
    expect(acks.at(-1)).toEqual({
      type: "ack",
      session: "s",
      runId: work.runId,
      attempt: work.attempt,
      producer: "q",
      seq: 20,
      offset: body["offset"],
    });
  });

  test("keep their order in a session that must be loaded first", async () => {
    const storage = memoryStorage();
    const secret = crypto.getRandomValues(new Uint8Array(32));
    const first = await startServer({ storage, secret });
    const work = await startRun(first);
    await first[Symbol.asyncDispose]();
    await using server = await startServer({ storage, secret });
    const { socket, append } = await agentSocket(server, work);
    await using _ = socket;
    // In one packet, so that the server hears all before it has looked for the session.
    const raw = (socket.ws as unknown as { _socket: Socket })._socket;
    raw.cork();
    for (let n = 0; n < 30; n += 1) append([custom(n)]);
    raw.uncork();
    await socket.find(isAck("p", 30));
    expect(socket.heard.filter(({ type }) => type === "refused")).toEqual([]);
  });

  test("that are refused are told one by one, and a hole says what is expected", async () => {
    await using server = await startServer();
    const work = await startRun(server);
    const { socket, append } = await agentSocket(server, work);
    await using _ = socket;
    const refusal = (seq: number) => socket.find((it) => it.type === "refused" && it.seq === seq);
    append([custom(1), { type: "TEXT_MESSAGE_CONTENT", messageId: "none", delta: "x" }]);
    expect(await refusal(1)).toMatchObject({
      skipped: [{ index: 1, error: { code: "sequence_violation" } }],
    });
    await socket.find(isAck("p", 1));
    append([custom(2)], 3);
    expect(await refusal(3)).toMatchObject({
      error: { code: "sequence_gap", details: { expected: 2 } },
    });
    await socket.ask({ type: "ping" });
    expect(socket.heard.filter(({ type }) => type === "ack")).toMatchObject([{ seq: 1 }]);
    append([{ type: "WHAT" }], 2);
    expect(await refusal(2)).toMatchObject({ error: { code: "invalid_request" } });
    append([custom(2)], 2);
    await socket.find(isAck("p", 2));
    append([custom("again")], 2);
    append([custom(3)], 3);
    await socket.find(isAck("p", 3));
    const order = socket.heard.map((it) => it.type);
    expect(order.indexOf("refused")).toBeLessThan(order.indexOf("ack"));
    const { body } = await server.request("GET", "/v1/sessions/s/entries");
    expect(JSON.stringify(body)).not.toContain("again");
  });

  test("need the attempt's token, and carry nothing but an append", async () => {
    await using server = await startServer();
    const work = await startRun(server);
    await using socket = await openSocket(server, server.demo);
    const append = appender(socket, work);
    append([custom(1)]);
    expect(await socket.find(({ type }) => type === "refused")).toMatchObject({
      session: "s",
      runId: work.runId,
      producer: "p",
      seq: 1,
      error: { code: "unauthenticated" },
    });
    await socket.ask({ type: "attempt", token: work.token });
    const finish = {
      id: "f",
      type: "run.finish",
      runId: work.runId,
      attempt: 1,
      producer: "p",
      seq: 1,
    };
    socket.send({ type: "append", session: "s", command: finish });
    await socket.find((it) => it.type === "refused" && it.error?.code === "invalid_request");
    socket.send({ type: "append", session: "s", command: 7 });
    expect(await socket.find(({ type }) => type === "error")).toMatchObject({
      error: { code: "invalid_request" },
    });
    append([custom(1)], 1);
    await socket.find(isAck("p", 1));
  });
});

describe("work", () => {
  const claim = { agent: "demo", worker: "w", waitMs: 5_000 };
  const begin = (server: TestServer) =>
    server.request("POST", "/v1/sessions/s/commands", { body: send(1) });

  test("is waited for beside everything else, and granted as over HTTP", async () => {
    await using server = await startServer();
    await server.request("PUT", "/v1/sessions/s", { body: { agent: "demo" } });
    await using socket = await openSocket(server, server.demo);
    socket.send({ type: "work", ref: "w", request: claim });
    await socket.ask({ type: "ping" });
    await begin(server);
    const { work } = (await socket.find(({ ref }) => ref === "w")) as unknown as {
      work: { session: string; runId: string; attempt: number; token: string };
    };
    expect(Object.keys(work).toSorted()).toEqual([
      "attempt",
      "heartbeatMs",
      "leaseMs",
      "offset",
      "runId",
      "session",
      "token",
      "wakeId",
    ]);
    expect(await socket.ask({ type: "attempt", token: work.token })).toMatchObject({
      runId: work.runId,
    });
  });

  test("that does not come, or is cancelled, is answered without any", async () => {
    await using server = await startServer({ socketLimits: { waits: 1 } });
    await using socket = await openSocket(server, server.demo);
    expect(await socket.ask({ type: "work", request: { ...claim, waitMs: 0 } })).toEqual({
      type: "work",
      ref: 2,
    });
    socket.send({ type: "work", ref: "w", request: claim });
    expect(await socket.ask({ type: "work", request: claim })).toMatchObject({
      error: { code: "overloaded" },
    });
    socket.send({ type: "cancel", ref: "w" });
    expect(await socket.find(({ ref }) => ref === "w")).toEqual({ type: "work", ref: "w" });
    await using ana = await openSocket(server);
    expect(await ana.ask({ type: "work", request: claim })).toMatchObject({
      error: { code: "forbidden" },
    });
    expect(await ana.ask({ type: "work", request: 7 })).toMatchObject({
      error: { code: "invalid_request" },
    });
  });

  test("is waited for once under each ref", async () => {
    await using server = await startServer();
    await using socket = await openSocket(server, server.demo);
    const request = { agent: "demo", worker: "w1", waitMs: 30_000 };
    socket.send({ type: "work", ref: "w", request });
    socket.send({ type: "work", ref: "w", request });
    expect(await socket.find(({ ref }) => ref === "w")).toMatchObject({
      type: "error",
      error: { code: "invalid_request" },
    });
    socket.send({ type: "cancel", ref: "w" });
    await socket.find(({ type, ref }) => type === "work" && ref === "w");
  });

  test("goes to another when the socket that waited is gone", async () => {
    await using server = await startServer();
    await server.request("PUT", "/v1/sessions/s", { body: { agent: "demo" } });
    const socket = await openSocket(server, server.demo);
    socket.send({ type: "work", ref: "w", request: { ...claim, waitMs: 30_000 } });
    await socket.ask({ type: "ping" });
    await socket[Symbol.asyncDispose]();
    await begin(server);
    expect(await server.claim("w2")).toMatchObject({ session: "s" });
  });
});
