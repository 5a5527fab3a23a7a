import { connect } from "node:net";
import type { Frame, StateRows } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { memoryStorage } from "../../src/storage/memory.ts";
import { ManualClock } from "../support/clock.ts";
import {
  readEvents,
  startRun,
  startServer,
  type Granted,
  type TestServer,
} from "../support/http.ts";

function appender(server: TestServer, { runId, attempt, token }: Granted) {
  let seq = 0;
  return (...items: object[]) => {
    seq += 1;
    return server.request("POST", "/v1/sessions/s/commands", {
      token,
      body: { id: `append-${seq}`, type: "run.append", runId, attempt, producer: "p", seq, items },
    });
  };
}

const custom = (value: unknown) => ({ type: "CUSTOM", name: "n", value });
const entries = (server: TestServer) => `${server.url}/v1/sessions/s/entries`;

test("a stream begins after the cursor and goes on live, under ids that resume it", async () => {
  await using server = await startServer();
  const append = appender(server, await startRun(server));
  for (let value = 0; value < 20; value += 1) await append(custom(value));

  const values: unknown[] = [];
  let cursor: string | undefined;
  let sent = 20;
  // Each connection is dropped after a few events and resumed by the id of the last.
  while (values.length < 60) {
    const query = cursor === undefined ? "" : "?after=nonsense";
    const headers: Record<string, string> = cursor === undefined ? {} : { "last-event-id": cursor };
    let seen = 0;
    for await (const it of readEvents(entries(server) + query, server.ana, headers)) {
      if ("comment" in it) continue;
      const frame = it.data as Frame;
      if (cursor !== undefined) expect(frame.after).toBe(cursor);
      expect(it.id).toBe(frame.entries.at(-1)?.offset);
      cursor = it.id;
      for (const { event } of frame.entries) if (event.type === "CUSTOM") values.push(event.value);
      if (sent < 60) await append(custom(sent++));
      seen += 1;
      if (seen === 7 || values.length >= 60) break;
    }
  }
  expect(values).toEqual(Array.from({ length: 60 }, (_, value) => value));
});

test("a cursor that leads nowhere gets the state first, and everything from there", async () => {
  await using server = await startServer();
  const append = appender(server, await startRun(server));
  const events = readEvents(`${entries(server)}?after=zzzzzzzz.00000000009`, server.ana);
  const first = await events.next();
  const reset = first.value as {
    event: string;
    id: string;
    data: { offset: string; state: StateRows };
  };
  expect(reset.event).toBe("reset");
  expect(reset.data.offset).toBe(reset.id);
  expect(reset.data.state.messages).toHaveLength(1);
  await append(custom(1));
  const next = await events.next();
  expect(next.value).toMatchObject({ data: { after: reset.id } });
  await events.return(undefined);
});

test("a stream of an unknown session, or from an offset that is none, is a problem", async () => {
  await using server = await startServer();
  await startRun(server);
  const headers = { accept: "text/event-stream" };
  const unknown = await server.request("GET", "/v1/sessions/none/entries", { headers });
  expect([unknown.status, unknown.body["code"]]).toEqual([404, "unknown_session"]);
  const nonsense = await server.request("GET", "/v1/sessions/s/entries?after=7", { headers });
  expect([nonsense.status, nonsense.body["code"]]).toEqual([400, "invalid_offset"]);
});

test("a silent stream says every 15 s that it is alive", async () => {
  const clock = new ManualClock();
  await using server = await startServer({
    storage: memoryStorage({ now: clock.now }),
    schedule: clock.schedule,
  });
  await server.request("PUT", "/v1/sessions/s", { body: {} });
  const { body } = await server.request("GET", "/v1/sessions/s");
  const events = readEvents(`${entries(server)}?after=${String(body["offset"])}`, server.ana);
  expect((await events.next()).value).toEqual({ comment: "connected" });
  for (let beat = 0; beat < 3; beat += 1) {
    const next = events.next();
    await clock.advance(15_000);
    expect((await next).value).toEqual({ comment: "heartbeat" });
  }
  await events.return(undefined);
});

test("a socket that never reads is closed, and holds up nobody", async () => {
  await using server = await startServer({ subscriberBytes: 200_000 });
  const work = await startRun(server);
  const append = appender(server, work);
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let closed = false;
  socket.on("close", () => (closed = true)).on("error", () => {});
  socket.write(
    `GET /v1/sessions/s/entries HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server.ana}\r\naccept: text/event-stream\r\n\r\n`,
  );
  await new Promise((resolve) => socket.once("readable", resolve)); // connected, and then not a byte more
  const big = "x".repeat(50_000);
  for (let sent = 0; sent < 400 && !closed; sent += 1) {
    expect((await append(custom(big))).status).toBe(200);
    // The end of a connection is heard only by who reads: look without taking anything while it lives.
    if (sent > 100 && sent % 50 === 0) socket.resume().pause();
  }
  socket.resume();
  await expect.poll(() => closed).toBe(true);
  expect((await append(custom("after"))).body).toMatchObject({ status: "applied" });
});

test("a reader who hangs up is forgotten", async () => {
  await using server = await startServer();
  const append = appender(server, await startRun(server));
  for (let round = 0; round < 5; round += 1) {
    const events = readEvents(entries(server), server.ana);
    await events.next();
    await events.return(undefined);
  }
  expect((await append(custom(1))).body).toMatchObject({ status: "applied" });
});

test("closing the server ends its streams", async () => {
  const server = await startServer();
  await startRun(server);
  const events = readEvents(entries(server), server.ana);
  await events.next();
  const rest = (async () => {
    for await (const _ of events); // to the end
  })();
  await server[Symbol.asyncDispose]();
  await rest;
});
