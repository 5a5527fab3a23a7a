import { request, type IncomingMessage } from "node:http";
import { connect as connectSocket } from "node:net";
import type { Frame } from "@holdfast/protocol";
import { memoryStorage, type Storage } from "holdfast";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { expect, test } from "vitest";
import { until } from "../../packages/server/test/support/clock.ts";
import { openHouse, type Attempt, type House } from "../cases/support.ts";
import { connect, tokenOf } from "./support.ts";

/** Timers that are armed, to see what is left behind. */
function countedTimers() {
  const armed = new Set<NodeJS.Timeout>();
  const schedule = (ms: number, run: () => void) => {
    const timer = setTimeout(() => {
      armed.delete(timer);
      run();
    }, ms);
    armed.add(timer);
    return () => {
      armed.delete(timer);
      clearTimeout(timer);
    };
  };
  return { schedule, count: () => armed.size };
}

/** A stream up to its first bytes. */
function openStream(
  house: House,
  token: string,
  headers: Record<string, string> = {},
  method = "GET",
) {
  const { hostname, port } = new URL(house.url);
  return new Promise<IncomingMessage>((resolve, reject) => {
    const path = `/v1/sessions/${house.session}/entries`;
    const all = { authorization: `Bearer ${token}`, accept: "text/event-stream", ...headers };
    const sent = request(
      { hostname, port, path, method, headers: all, agent: false },
      (response) => {
        response.on("error", () => {}); // it is cut off on purpose
        if (method === "HEAD") response.once("end", () => resolve(response)).resume();
        else response.once("data", () => resolve(response));
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

async function startText(house: House): Promise<Attempt> {
  await house.send("go");
  const attempt = await house.attempt();
  await attempt.append({ type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" });
  return attempt;
}

test("two hundred readers that come and vanish, some in the middle of a frame, leave nothing behind", async () => {
  const timers = countedTimers();
  const inner = memoryStorage();
  let loads = 0;
  const storage: Storage = {
    ...inner,
    rows: (session) => {
      loads += 1;
      return inner.rows(session);
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
  const { schedule } = timers;
  await using house = await openHouse({ storage, schedule, maxLoaded: 1, sseHeartbeatMs: 60_000 });
  const token = await tokenOf(house, "eve");
  const attempt = await startText(house);
  const before = timers.count();
  const { offset: head } = await house.ana.state(house.session);
  for (let round = 0; round < 10; round += 1) {
    const kinds = [{}, { "last-event-id": head }, { "last-event-id": "0000000000000.00000000001" }];
    const opened = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        openStream(house, token, kinds[n % 3], n % 5 === 4 ? "HEAD" : "GET"),
      ),
    );
    await attempt.append({
      type: "TEXT_MESSAGE_CONTENT",
      messageId: "t",
      delta: "x".repeat(100_000),
    });
    for (const response of opened) response.destroy();
  }
  await until("all heartbeats have stopped", () => timers.count() === before);
  // Nobody listens to the session any more: it makes room for others.
  const loaded = loads;
  for (const other of ["a", "b", "c"]) await house.ana.create(other);
  await house.ana.state(house.session);
  await house.ana.state("a");
  await house.ana.state(house.session);
  expect(loads).toBeGreaterThan(loaded + 4);
});

test("a cursor the server cannot bridge gets the state, and goes on from there", async () => {
  await using house = await openHouse();
  const token = await tokenOf(house, "eve");
  await house.ana.create("other");
  const other = (await house.ana.state("other")).offset;
  await house.send("one");
  const old = (await house.ana.state(house.session)).offset;
  await house.ana.call("DELETE", `/v1/sessions/${house.session}`);
  await house.ana.create(house.session);
  await house.send("two");
  const [epoch = ""] = (await house.ana.state(house.session)).offset.split(".");
  for (const cursor of [other, old, `${epoch}.99999999999`, `zzzzz.00000000001`]) {
    const { offset: head } = await house.ana.state(house.session);
    using connection = connect(house.url, token);
    const path = `/v1/sessions/${house.session}/entries?after=${cursor}`;
    const page = await connection.ask({ path });
    expect([cursor, page.status, JSON.parse(page.text).details]).toEqual([
      cursor,
      409,
      { offset: head },
    ]);
    const cut = new AbortController();
    const response = await fetch(house.url + path, {
      headers: { accept: "text/event-stream", authorization: `Bearer ${token}` },
      signal: cut.signal,
    });
    const events = response.body
      ?.pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream())
      .getReader();
    const first = (await events?.read())?.value;
    expect([first?.event, first?.id]).toEqual(["reset", head]);
    const { offset, state } = JSON.parse(first?.data ?? "") as Awaited<
      ReturnType<House["ana"]["state"]>
    >;
    expect({ offset, state }).toEqual(await house.ana.state(house.session));
    expect(state.messages).toMatchObject([{ content: "two" }]);
    const { status } = await house.ana.command(house.session, { type: "policy.set", policy: {} });
    expect(status).toBe("applied");
    const next = JSON.parse((await events?.read())?.value?.data ?? "") as Frame;
    expect(next.after).toBe(head);
    cut.abort();
  }
});

test("a reader that takes nothing is cut off, others miss nothing, and its cursor is good", async () => {
  await using house = await openHouse({
    subscriberBytes: 1 << 18,
    limits: { textLength: 1 << 24 },
  });
  const token = await tokenOf(house, "eve");
  const attempt = await startText(house);
  const { hostname, port } = new URL(house.url);
  const lazy = connectSocket(Number(port), hostname);
  const cut = new Promise((resolve) => lazy.once("close", resolve));
  lazy.on("error", () => {}); // that is how it hears of it
  lazy.write(
    `GET /v1/sessions/${house.session}/entries HTTP/1.1\r\nhost: ${hostname}:${port}\r\naccept: text/event-stream\r\nauthorization: Bearer ${token}\r\n\r\n`,
  );
  await new Promise((resolve) => lazy.once("data", resolve));
  lazy.pause();
  const { frames, stop } = await house.bo.stream(house.session);
  const keen = frames.pipeThrough(new EventSourceParserStream()).getReader();
  let heard = "";
  const hearing = (async () => {
    for (;;) {
      const { value, done } = await keen.read();
      if (done) throw new Error("The stream ended.");
      for (const { event } of (JSON.parse(value.data) as Frame).entries) {
        if (event.type === "TEXT_MESSAGE_CONTENT") heard += event.delta;
        if (event.type === "TEXT_MESSAGE_END") return;
      }
    }
  })();
  let said = "";
  for (let n = 0; n < 60; n += 1) {
    const delta = String(n % 10).repeat(200_000);
    said += delta;
    await attempt.append({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta });
  }
  await attempt.append({ type: "TEXT_MESSAGE_END", messageId: "t" });
  await hearing;
  expect(heard === said).toBe(true);
  let rest = "";
  lazy.on("data", (chunk: Buffer) => (rest = (rest + chunk.toString()).slice(-100)));
  lazy.resume();
  await cut;
  expect(rest).not.toMatch(/\r\n0\r\n\r\n$/); // nothing was kept for it, not even the end
  stop();
  await keen.cancel().catch(() => undefined); // it was just cut off
  const all = await house.bo.entries(house.session);
  expect(all.at(-1)?.event.type).toBe("TEXT_MESSAGE_END");
});
