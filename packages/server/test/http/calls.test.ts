import { connect } from "node:net";
import { expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { ManualClock } from "../support/clock.ts";
import {
  readEvents,
  startRun,
  startServer,
  type ServerEvent,
  type TestServer,
} from "../support/http.ts";

test("C43 after a restart, what waits is found over sessions, with the ids to decide by", async () => {
  const storage = memoryStorage();
  {
    await using before = await startServer({ storage });
    await propose(before);
  }
  await using server = await startServer({ storage });
  const { status, body } = await server.request("GET", "/v1/calls?tool=pay&status=gated");
  expect(status).toBe(200);
  const [call] = body["calls"] as { approval: { id: string } }[];
  expect(call).toMatchObject({ session: "s", id: "c1", waiting: { kind: "person" } });
  const decision = { id: "3", type: "call.decide", callId: "c1", approvalId: call?.approval.id };
  const decided = await server.request("POST", "/v1/sessions/s/commands", {
    body: { ...decision, approved: true },
  });
  expect(decided.status).toBe(200);
  expect((await server.request("GET", "/v1/calls?status=gated")).body).toEqual({ calls: [] });
  const other = await server.request("GET", "/v1/calls?agent=none");
  expect(other.body).toEqual({ calls: [] });
});

test("an inbox asked for by what there is not is refused", async () => {
  await using server = await startServer();
  for (const query of [
    "status=settled",
    "waitsFor=godot",
    "escalated=false",
    "limit=0",
    "waitingBefore=1h",
  ]) {
    const { status, body } = await server.request("GET", `/v1/calls?${query}`);
    expect([query, status, body["code"]]).toEqual([query, 400, "invalid_request"]);
  }
  expect((await server.request("GET", "/v1/calls", { token: null })).status).toBe(401);
});

test("an inbox is watched live: what waits, what comes, and what is gone, without data one may not see", async () => {
  await using server = await startServer();
  const ana = readEvents(`${server.url}/v1/calls?tool=pay`, server.ana);
  const guest = readEvents(`${server.url}/v1/calls?tool=pay`, await server.guest());
  for (const events of [ana, guest]) {
    expect((await events.next()).value).toEqual({ event: "page", data: { calls: [] } });
  }
  await propose(server);
  const [told, hidden] = await Promise.all([until(ana, "call"), until(guest, "call")]);
  const approval = { id: expect.any(String), digest: expect.stringMatching(/^[0-9a-f]{64}$/) };
  expect(told.data).toMatchObject({ session: "s", id: "c1", status: "gated", approval });
  expect(hidden.data).toMatchObject({ id: "c1", approval: { ...approval, digest: "" } });
  const late = readEvents(`${server.url}/v1/calls`, await server.guest());
  expect((await late.next()).value).toEqual({ event: "page", data: { calls: [hidden.data] } });
  const decision = { id: "3", type: "call.cancel", callId: "c1" };
  await server.request("POST", "/v1/sessions/s/commands", { body: decision });
  for (const events of [ana, guest, late]) {
    expect(await until(events, "gone")).toEqual({
      event: "gone",
      data: { session: "s", id: "c1" },
    });
    await events.return(undefined);
  }
});

test("a watched inbox says that it is alive, and ends with its token", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  await using server = await startServer({ storage, schedule: clock.schedule });
  const token = await server.guest();
  const events = readEvents(`${server.url}/v1/calls`, token);
  expect((await events.next()).value).toMatchObject({ event: "page" });
  for (let beat = 0; beat < 2; beat += 1) {
    const next = events.next();
    await clock.advance(15_000);
    expect((await next).value).toEqual({ comment: "heartbeat" });
  }
  const end = events.next();
  await server.request("POST", "/v1/revocations", { body: { principal: "user:guest" } });
  expect((await end).done).toBe(true);
  expect((await server.request("GET", "/v1/calls", { token })).status).toBe(401);
});

test("a deleted session's calls leave a watched inbox", async () => {
  await using server = await startServer();
  const events = readEvents(`${server.url}/v1/calls`, server.ana);
  await until(events, "page");
  await propose(server);
  await until(events, "call");
  await server.request("DELETE", "/v1/sessions/s");
  expect(await until(events, "gone")).toEqual({ event: "gone", data: { session: "s" } });
  await events.return(undefined);
});

test("calls are found by how long they wait", async () => {
  await using server = await startServer();
  await propose(server);
  const ids = async (time: number) => {
    const { body } = await server.request("GET", `/v1/calls?waitingBefore=${time}`);
    return (body["calls"] as { id: string }[]).map(({ id }) => id);
  };
  expect(await ids(Date.now() + 60_000)).toEqual(["c1"]);
  expect(await ids(Date.now() - 60_000)).toEqual([]);
});

test("one who watches the inbox and never reads is cut off, and holds up nobody", async () => {
  await using server = await startServer({ subscriberBytes: 200_000 });
  const policy = { budget: { rounds: 10_000, repeats: 25 } };
  await server.request("PUT", "/v1/sessions/s", { body: { agent: "demo", policy } });
  const { runId, attempt, token } = await startRun(server);
  let seq = 0;
  const wait = async () => {
    const id = `c${(seq += 1)}`;
    const items = [
      { type: "round.open" },
      { type: "TOOL_CALL_START", toolCallId: id, toolCallName: "pay" },
      { type: "TOOL_CALL_ARGS", toolCallId: id, delta: JSON.stringify({ seq }) },
      { type: "TOOL_CALL_END", toolCallId: id },
      { type: "call.ask", callId: id, reason: "x".repeat(50_000) },
      { type: "round.close" },
    ];
    const fence = { runId, attempt, producer: "p", seq };
    const body = { id: `a${seq}`, type: "run.append", ...fence, items };
    return (await server.request("POST", "/v1/sessions/s/commands", { body, token })).body;
  };
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let closed = false;
  socket.on("close", () => (closed = true)).on("error", () => {});
  socket.write(
    `GET /v1/calls HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server.ana}\r\naccept: text/event-stream\r\n\r\n`,
  );
  await new Promise((resolve) => socket.once("readable", resolve)); // connected, and then not a byte more
  for (let sent = 0; sent < 400 && !closed; sent += 1) {
    expect(await wait()).toMatchObject({ status: "applied" });
    // The end of a connection is heard only by who reads: look without taking anything while it lives.
    if (sent > 100 && sent % 50 === 0) socket.resume().pause();
  }
  socket.resume();
  await expect.poll(() => closed).toBe(true);
  expect(await wait()).toMatchObject({ status: "applied" });
});

/** The next event of a kind. */
async function until(events: ReturnType<typeof readEvents>, kind: string): Promise<ServerEvent> {
  for (;;) {
    const { value, done } = await events.next();
    if (done) throw new Error("The stream ended");
    if ("event" in value && value.event === kind) return value;
  }
}

/** A session in which a call of a gated tool waits. */
async function propose(server: TestServer): Promise<void> {
  const policy = { tools: [{ tool: "pay", approval: "always" }] };
  await server.request("PUT", "/v1/sessions/s", { body: { agent: "demo", policy } });
  const { runId, attempt, token } = await startRun(server);
  const fence = { runId, attempt, producer: "p" };
  const items = [
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "pay" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
    { type: "round.close" },
  ];
  const commands = [
    { id: "1", type: "run.append", ...fence, seq: 1, items },
    { id: "2", type: "run.finish", ...fence, seq: 2 },
  ];
  await server.request("POST", "/v1/sessions/s/commands", { body: { commands }, token });
}
