import { expect, test } from "vitest";
import { until } from "../support/clock.ts";
import { gate } from "../support/gate.ts";
import { startRun, startServer } from "../support/http.ts";
import {
  agentSocket,
  appender,
  custom,
  openSocket,
  type Heard,
  type TestSocket,
} from "../support/socket.ts";

const isAck = (producer: string, seq: number) => (it: Heard) =>
  it.type === "ack" && it.producer === producer && it.seq === seq;

const entriesIn = ({ heard }: TestSocket) =>
  heard.flatMap((it) => (it.type === "entries" ? it.frame.entries : []));

test("two sockets of one attempt append side by side, and a producer's repeats are no news on either", async () => {
  await using server = await startServer();
  const work = await startRun(server);
  const { socket: first, append } = await agentSocket(server, work);
  const { socket: second, append: again } = await agentSocket(server, work);
  await using _ = first;
  await using __ = second;
  const other = appender(second, work, "q");
  append([custom("p1")]);
  await first.find(isAck("p", 1));
  // The first one was cut, as far as its process knows, and what had no acknowledgement comes again.
  again([custom("p1")]);
  again([custom("p2")]);
  other([custom("q1")]);
  await second.find(isAck("p", 2));
  await second.find(isAck("q", 1));
  // What came late over the old one is a repeat by then.
  append([custom("p2")]);
  append([custom("p3")]);
  await first.find(isAck("p", 3));
  const { body } = await server.request("GET", "/v1/sessions/s/entries");
  const entries = body["entries"] as { event: { type: string; value?: string } }[];
  const values = entries.flatMap(({ event }) =>
    event.type === "CUSTOM" ? [event.value ?? ""] : [],
  );
  expect(values.toSorted()).toEqual(["p1", "p2", "p3", "q1"]);
  const refused = [...first.heard, ...second.heard].filter(({ type }) => type === "refused");
  expect(refused).toEqual([]);
});

test("two runs of one session append on one socket, in turn, each under its own attempt", async () => {
  await using server = await startServer();
  const one = await startRun(server);
  const { socket, append } = await agentSocket(server, one);
  await using _ = socket;
  await server.request("POST", "/v1/sessions/s/commands", {
    body: {
      id: "b",
      type: "message.send",
      messageId: "m2",
      content: "hello",
      whileActive: "concurrent",
    },
  });
  const two = await server.claim("another");
  await socket.ask({ type: "attempt", token: two.token });
  const other = appender(socket, two);
  for (const n of [1, 2]) {
    append([custom(n)]);
    other([custom(n)]);
  }
  const acked = (runId: string) => (it: Heard) => isAck("p", 2)(it) && it["runId"] === runId;
  await socket.find(acked(one.runId));
  await socket.find(acked(two.runId));
  expect(socket.heard.filter(({ type }) => type === "refused")).toEqual([]);
});

test("what comes under an older attempt of a run is fenced off, beside the newer one's on the same socket", async () => {
  await using server = await startServer();
  const old = await startRun(server);
  const { socket, append } = await agentSocket(server, old);
  await using _ = socket;
  const { runId, attempt } = old;
  const release = { id: "r", type: "run.release", runId, attempt, producer: "r", seq: 1 };
  await server.request("POST", "/v1/sessions/s/commands", { token: old.token, body: release });
  const newer = await server.claim();
  await socket.ask({ type: "attempt", token: newer.token });
  append([custom("late")]);
  appender(socket, newer)([custom("now")]);
  await socket.find((it) => isAck("p", 1)(it) && it["attempt"] === 2);
  const refused = await socket.find(({ type }) => type === "refused");
  expect(refused).toMatchObject({ attempt: 1, error: { code: "attempt_fenced" } });
});

test("a repeat that is settled together with newer batches takes back none of their acknowledgement", async () => {
  const { storage, hold, release, waiting } = gate();
  await using server = await startServer({ storage });
  const { socket, append } = await agentSocket(server, await startRun(server));
  await using _ = socket;
  append([custom(1)]);
  await socket.find(isAck("p", 1));
  hold();
  append([custom(2)]);
  await until("the commit", () => waiting() === 1);
  for (const seq of [3, 4, 1, 2]) append([custom(seq)], seq);
  await socket.ask({ type: "ping" });
  release();
  await socket.find(isAck("p", 4));
  const acks = socket.heard.flatMap((it) => (it.type === "ack" ? [it.seq] : []));
  expect(acks).toEqual(acks.toSorted((a, b) => a - b));
});

test("a socket that ends keeps nothing of another: its attempt, its subscriptions, its waits", async () => {
  await using server = await startServer();
  const work = await startRun(server);
  const { socket: first } = await agentSocket(server, work);
  const { socket: second, append } = await agentSocket(server, work);
  await using _ = second;
  const { session, runId, attempt } = work;
  for (const socket of [first, second])
    await socket.ask({ type: "subscribe", session, runId, attempt });
  await first[Symbol.asyncDispose]();
  const seq = append([custom(1)]);
  await second.find(isAck("p", seq));
  await second.find(() => entriesIn(second).some(({ event }) => event.type === "CUSTOM"));
});

test("fresh tokens that come between frames change nothing of their order, nor do bad ones", async () => {
  await using server = await startServer();
  const work = await startRun(server);
  const { socket, append } = await agentSocket(server, work);
  await using _ = socket;
  for (let n = 0; n < 20; n += 1) {
    append([custom(n)]);
    const token = n % 3 === 2 ? "nonsense" : server.demo;
    socket.send({ type: "auth", token, ref: `auth${n}` });
    socket.send({ type: "attempt", token: work.token, ref: `attempt${n}` });
    socket.send({ type: "ping", ref: `ping${n}` });
  }
  await socket.find(isAck("p", 20));
  await socket.find(({ ref }) => ref === "ping19");
  const order = socket.heard.flatMap(({ ref }) => (typeof ref === "string" ? [ref] : []));
  const sent = Array.from({ length: 20 }, (_, n) => [`auth${n}`, `attempt${n}`, `ping${n}`]);
  expect(order).toEqual(sent.flat());
  const errors = socket.heard.filter(({ type }) => type === "error");
  expect(errors.map(({ ref }) => ref)).toEqual([
    "auth2",
    "auth5",
    "auth8",
    "auth11",
    "auth14",
    "auth17",
  ]);
  expect(socket.heard.filter(({ type }) => type === "refused")).toEqual([]);
});

test("a cursor of another session is a reset, and one of a session that was made anew is, too", async () => {
  await using server = await startServer();
  await startRun(server);
  await server.request("PUT", "/v1/sessions/t", { body: {} });
  const offsetOf = async (id: string) =>
    (await server.request("GET", `/v1/sessions/${id}`)).body["offset"];
  await using socket = await openSocket(server);
  const subscribe = async (session: string, after: unknown) => {
    socket.heard.length = 0;
    await socket.ask({ type: "subscribe", session, after });
    const reset = await socket.find(({ type }) => type === "reset");
    await socket.ask({ type: "unsubscribe", session });
    return reset;
  };
  expect(await subscribe("t", await offsetOf("s"))).toMatchObject({ session: "t" });
  const before = await offsetOf("t");
  await server.request("DELETE", "/v1/sessions/t");
  await server.request("PUT", "/v1/sessions/t", { body: {} });
  expect(await subscribe("t", before)).toMatchObject({ session: "t" });
});

test("whoever follows a session that is deleted is told, and what they send is refused", async () => {
  await using server = await startServer();
  const work = await startRun(server);
  const { socket: agent, append } = await agentSocket(server, work);
  await using _ = agent;
  await using socket = await openSocket(server);
  await socket.ask({ type: "subscribe", session: "s" });
  await server.request("DELETE", "/v1/sessions/s");
  expect(await socket.find(({ type }) => type === "unsubscribed")).toMatchObject({ session: "s" });
  append([custom(1)]);
  expect(await agent.find(({ type }) => type === "refused")).toMatchObject({
    error: { code: "unknown_session" },
  });
  expect(await socket.ask({ type: "subscribe", session: "s" })).toMatchObject({
    error: { code: "unknown_session" },
  });
  // A session of the same name is another one: the attempt's token says so.
  await server.request("PUT", "/v1/sessions/s", { body: { agent: "demo" } });
  agent.heard.length = 0;
  append([custom(1)]);
  expect(await agent.find(({ type }) => type === "refused")).toMatchObject({
    error: { code: "unknown_run" },
  });
});

test("whoever follows while a session's content is erased sees it erased, live and from any cursor", async () => {
  await using server = await startServer();
  const { socket: agent, append } = await agentSocket(server, await startRun(server));
  await using _ = agent;
  await using socket = await openSocket(server);
  await socket.ask({ type: "subscribe", session: "s" });
  const seq = append([
    { type: "TEXT_MESSAGE_START", messageId: "t1" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: "s3cret" },
    { type: "TEXT_MESSAGE_END", messageId: "t1" },
  ]);
  await agent.find(isAck("p", seq));
  const cursor = entriesIn(socket).at(0)?.offset;
  const erase = { id: "e", type: "content.erase", messageId: "t1" };
  const { body } = await server.request("POST", "/v1/sessions/s/commands", { body: erase });
  expect(body["status"]).toBe("applied");
  await socket.find(() => entriesIn(socket).some(({ event }) => event.type === "content.erased"));
  await socket.ask({ type: "unsubscribe", session: "s" });
  socket.heard.length = 0;
  await socket.ask({ type: "subscribe", session: "s", after: cursor });
  await socket.find(() => entriesIn(socket).some(({ event }) => event.type === "content.erased"));
  await socket.ask({ type: "unsubscribe", session: "s" });
  await socket.ask({ type: "subscribe", session: "s", state: true });
  const reset = await socket.find(({ type }) => type === "reset");
  expect(JSON.stringify(reset)).toContain("[erased]");
  expect(JSON.stringify(socket.heard)).not.toContain("s3cret");
});
