import type { Entry } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { readEvents, startRun, startServer, type TestServer } from "../support/http.ts";
import { agentSocket, custom, openSocket, type Heard, type TestSocket } from "../support/socket.ts";

/** What a socket heard of a session, in order. */
function entriesIn(socket: TestSocket, session = "s"): Entry[] {
  return socket.heard.flatMap((it) =>
    it.type === "entries" && it.session === session ? it.frame.entries : [],
  );
}

const isEntryOf =
  (offset: string, session = "s") =>
  (it: Heard) =>
    it.type === "entries" &&
    it.session === session &&
    it.frame.entries.some((entry) => entry.offset === offset);

async function headOf(server: TestServer, session = "s"): Promise<string> {
  return String((await server.request("GET", `/v1/sessions/${session}`)).body["offset"]);
}

async function readSse(server: TestServer, after: string, head: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  if (after === head) return entries;
  for await (const it of readEvents(
    `${server.url}/v1/sessions/s/entries?after=${after}`,
    server.ana,
  )) {
    if ("comment" in it) continue;
    entries.push(...(it.data as { entries: Entry[] }).entries);
    if (entries.at(-1)?.offset === head) return entries;
  }
  throw new Error("The stream ended.");
}

describe("a subscription", () => {
  test("begins after any offset, and gives what a stream of server-sent events gives", async () => {
    await using server = await startServer();
    const { socket: agent, append } = await agentSocket(server, await startRun(server));
    for (let value = 0; value < 12; value += 1) {
      append([custom(value), custom(-value)]);
      if (value % 3 === 0) await agent.find((it) => it.type === "ack" && it.seq === value + 1);
    }
    await agent.find((it) => it.type === "ack" && it.seq === 12);
    await agent[Symbol.asyncDispose]();
    const head = await headOf(server);
    const { body } = await server.request("GET", "/v1/sessions/s/entries");
    const offsets = (body["entries"] as Entry[]).map(({ offset }) => offset);
    expect(offsets.length).toBeGreaterThan(24);
    await using socket = await openSocket(server);
    for (const after of offsets) {
      socket.heard.length = 0;
      await socket.ask({ type: "subscribe", session: "s", after });
      if (after !== head) await socket.find(isEntryOf(head));
      await socket.ask({ type: "unsubscribe", session: "s" });
      expect(entriesIn(socket)).toEqual(await readSse(server, after, head));
    }
  });

  test("goes on live, without a hole, and ends when it is asked to", async () => {
    await using server = await startServer();
    const { socket: agent, append } = await agentSocket(server, await startRun(server));
    await using _ = agent;
    await using socket = await openSocket(server);
    await socket.ask({ type: "subscribe", session: "s" });
    for (let value = 0; value < 50; value += 1) append([custom(value)]);
    await agent.find((it) => it.type === "ack" && it.seq === 50);
    await socket.find(isEntryOf(await headOf(server)));
    const values = entriesIn(socket).flatMap(({ event }) =>
      event.type === "CUSTOM" ? [event.value] : [],
    );
    expect(values).toEqual(Array.from({ length: 50 }, (__, value) => value));
    const { body } = await server.request("GET", "/v1/sessions/s/entries");
    expect(entriesIn(socket)).toEqual(body["entries"]);
    expect(await socket.ask({ type: "unsubscribe", session: "s" })).toMatchObject({
      type: "unsubscribed",
      session: "s",
    });
    const before = socket.heard.length;
    append([custom("late")]);
    await agent.find((it) => it.type === "ack" && it.seq === 51);
    await socket.ask({ type: "ping" });
    expect(socket.heard.length).toBe(before + 1);
  });

  test("gets the state first where the cursor leads nowhere, or where it asks for it", async () => {
    await using server = await startServer();
    const { socket: agent, append } = await agentSocket(server, await startRun(server));
    await using _ = agent;
    await using socket = await openSocket(server);
    for (const how of [{ after: "zzzzzzzz.00000000009" }, { state: true }]) {
      socket.heard.length = 0;
      await socket.ask({ type: "subscribe", session: "s", ...how });
      const reset = await socket.find(({ type }) => type === "reset");
      const { body } = await server.request("GET", "/v1/sessions/s/state");
      expect(reset).toEqual({ type: "reset", session: "s", ...body });
      const seq = append([custom(1)]);
      await agent.find((it) => it.type === "ack" && it.seq === seq);
      expect(await socket.find(({ type }) => type === "entries")).toMatchObject({
        frame: { after: body["offset"] },
      });
      await socket.ask({ type: "unsubscribe", session: "s" });
    }
  });

  test("is refused under its ref: unknown sessions, offsets that are none, one that is there", async () => {
    await using server = await startServer({ socketLimits: { subscriptions: 2 } });
    await startRun(server);
    await using socket = await openSocket(server);
    const refused = async (frame: object) =>
      ((await socket.ask({ type: "subscribe", ...frame })) as { error?: { code: string } }).error
        ?.code;
    expect(await refused({ session: "none" })).toBe("unknown_session");
    expect(await refused({ session: "s", after: "7" })).toBe("invalid_offset");
    expect(await refused({ session: "s" })).toBe(undefined);
    expect(await refused({ session: "s" })).toBe("invalid_request");
    await server.request("PUT", "/v1/sessions/t", { body: {} });
    expect(await refused({ session: "t" })).toBe(undefined);
    expect(await refused({ session: "none" })).toBe("overloaded");
    await socket.ask({ type: "unsubscribe", session: "t" });
    expect(await refused({ session: "none" })).toBe("unknown_session");
  });

  test("is for who may read the session", async () => {
    await using server = await startServer();
    const work = await startRun(server);
    await server.request("PUT", "/v1/sessions/other", { body: {} });
    await using socket = await openSocket(server, work.token);
    expect(await socket.ask({ type: "subscribe", session: "other" })).toMatchObject({
      error: { code: "forbidden" },
    });
    expect(await socket.ask({ type: "subscribe", session: "s" })).toMatchObject({
      type: "subscribed",
    });
  });

  test("of a session that goes away ends, and says so", async () => {
    await using server = await startServer();
    await startRun(server);
    await using socket = await openSocket(server);
    await socket.ask({ type: "subscribe", session: "s" });
    await server.request("DELETE", "/v1/sessions/s");
    expect(await socket.find(({ type }) => type === "unsubscribed")).toMatchObject({
      session: "s",
    });
    expect(await socket.ask({ type: "subscribe", session: "s" })).toMatchObject({
      error: { code: "unknown_session" },
    });
  });
});

test("one socket follows many sessions, each in order", async () => {
  await using server = await startServer();
  await using socket = await openSocket(server);
  const names = Array.from({ length: 40 }, (_, n) => `many-${n}`);
  for (const name of names) {
    await server.request("PUT", `/v1/sessions/${name}`, { body: {} });
    socket.send({ type: "subscribe", session: name });
  }
  await Promise.all(
    names.map((name) => socket.find((it) => it.type === "subscribed" && it.session === name)),
  );
  for (let n = 0; n < 5; n += 1) {
    for (const session of names) {
      const send = { id: `${n}`, type: "message.send", messageId: `m${n}`, content: `${n}` };
      socket.send({ type: "commands", session, ref: `${session}/${n}`, commands: [send] });
    }
  }
  await Promise.all(names.map((name) => socket.find((it) => it["ref"] === `${name}/4`)));
  for (const name of names) {
    await socket.find(isEntryOf(await headOf(server, name), name));
    const { body } = await server.request("GET", `/v1/sessions/${name}/entries`);
    expect(entriesIn(socket, name)).toEqual(body["entries"]);
  }
});

test("a hundred idle sockets follow a session, and all hear of it", async () => {
  await using server = await startServer();
  const { socket: agent, append } = await agentSocket(server, await startRun(server));
  await using _ = agent;
  const sockets = await Promise.all(Array.from({ length: 100 }, () => openSocket(server)));
  await Promise.all(sockets.map((socket) => socket.ask({ type: "subscribe", session: "s" })));
  append([custom("all")]);
  await agent.find(({ type }) => type === "ack");
  const head = await headOf(server);
  await Promise.all(sockets.map((socket) => socket.find(isEntryOf(head))));
  await Promise.all(sockets.map((socket) => socket[Symbol.asyncDispose]()));
});
