import { expect, test } from "vitest";
import type { Limits } from "../src/index.ts";
import { startRun, startServer, type Granted, type TestServer } from "./support/http.ts";
import { openSocket, type TestSocket } from "./support/socket.ts";

/** What came of something that was sent, wherever it was sent. */
interface Outcome {
  readonly status: string;
  readonly error?: { readonly code: string; readonly details?: Record<string, unknown> };
  readonly skipped?: readonly { readonly error: NonNullable<Outcome["error"]> }[];
}

type Send = (command: object) => Promise<Outcome>;

/** The ways a command comes in, by a person's token or an attempt's. */
interface Face {
  send(token: string, work: Granted, command: object): Promise<Outcome>;
}

const COMMANDS = "/v1/sessions/s/commands";

function faces(server: TestServer, sockets: Map<string, TestSocket>): Record<string, Face> {
  const outcomeOf = (body: Record<string, unknown>): Outcome =>
    body["code"] === undefined
      ? (body as unknown as Outcome)
      : { status: "rejected", error: body as unknown as NonNullable<Outcome["error"]> };
  const socketOf = async (token: string, work: Granted) => {
    const known = sockets.get(token);
    if (known) return known;
    const isAttempt = token === work.token;
    const socket = await openSocket(server, isAttempt ? server.demo : token);
    if (isAttempt) await socket.ask({ type: "attempt", token });
    sockets.set(token, socket);
    return socket;
  };
  return {
    "HTTP, alone": {
      async send(token, _work, command) {
        return outcomeOf((await server.request("POST", COMMANDS, { body: command, token })).body);
      },
    },
    "HTTP, by the general way": {
      async send(token, _work, command) {
        const headers = { origin: server.url };
        const sent = { body: command, token, headers };
        return outcomeOf((await server.request("POST", COMMANDS, sent)).body);
      },
    },
    "HTTP, in a batch": {
      async send(token, _work, command) {
        const body = { commands: [command] };
        const answer = (await server.request("POST", COMMANDS, { body, token })).body;
        const [verdict] = (answer["verdicts"] ?? []) as Outcome[];
        return verdict ?? outcomeOf(answer);
      },
    },
    WebSocket: {
      async send(token, work, command) {
        const socket = await socketOf(token, work);
        const { session, runId, attempt } = work;
        const under = token === work.token ? { runId, attempt } : {};
        const frame = { type: "commands", session, ...under, commands: [command] };
        const answer = await socket.ask(frame);
        if (answer.type !== "verdicts") return outcomeOf(answer["error"] as never);
        return (answer.verdicts as unknown as Outcome[])[0] ?? { status: "none" };
      },
    },
  };
}

const SMALL: Partial<Limits> = {
  eventBytes: 2_000,
  argumentsLength: 300,
  textLength: 400,
  resultBytes: 500,
};

/** JSON of exactly so many bytes, by a text in it that is as long as it takes. */
function filled(bytes: number, make: (text: string) => object): object {
  const empty = JSON.stringify(make("")).length;
  return make("x".repeat(bytes - empty));
}

test.each(["HTTP, alone", "HTTP, by the general way", "HTTP, in a batch", "WebSocket"])(
  "a limit is what is taken still, and one more is not: %s",
  async (name) => {
    await using server = await startServer({ limits: SMALL });
    const sockets = new Map<string, TestSocket>();
    await server.request("PUT", "/v1/sessions/s", { body: { agent: "demo" } });
    const tools = [{ name: "locate" }];
    await server.request("POST", COMMANDS, { body: { id: "t", type: "tools.advertise", tools } });
    const work = await startRun(server);
    const face = faces(server, sockets)[name];
    if (!face) throw new Error(name);
    const ana: Send = (command) => face.send(server.ana, work, command);
    let seq = 0;
    const append = (...items: object[]) => {
      const { runId, attempt } = work;
      const fence = { id: `a${(seq += 1)}`, runId, attempt, producer: "p", seq };
      return face.send(work.token, work, { type: "run.append", ...fence, items });
    };
    let ids = 0;
    const say = (content: string) => {
      const id = `m-${String((ids += 1)).padStart(4, "0")}`;
      return { id, type: "message.send", messageId: id, content };
    };

    // A command.
    expect(await ana(filled(2_000, say))).toMatchObject({ status: "applied" });
    expect(await ana(filled(2_001, say))).toMatchObject({
      status: "rejected",
      error: { code: "too_large", details: { limit: 2_000, value: 2_001 } },
    });
    // An id.
    expect(await ana({ ...say("x"), messageId: "i".repeat(256) })).toMatchObject({
      status: "applied",
    });
    expect(await ana({ ...say("x"), messageId: "i".repeat(257) })).toMatchObject({
      error: { code: "invalid_request", details: { limit: 256, value: 257 } },
    });
    // An event.
    const event = (value: string) => ({ type: "CUSTOM", name: "n", value });
    const events = await append(filled(2_000, event), filled(2_001, event));
    expect(events).toMatchObject({
      status: "applied",
      skipped: [
        { index: 1, error: { code: "too_large", details: { limit: 2_000, value: 2_001 } } },
      ],
    });
    // A text, that grows.
    const text = (length: number) => ({
      type: "TEXT_MESSAGE_CONTENT",
      messageId: "t1",
      delta: "x".repeat(length),
    });
    await append({ type: "TEXT_MESSAGE_START", messageId: "t1" });
    expect((await append(text(399), text(1))).skipped).toBeUndefined();
    expect(await append(text(1))).toMatchObject({
      skipped: [{ error: { code: "too_large", details: { limit: 400, value: 401 } } }],
    });
    // Arguments, that grow: of `c1` as many as there may be, of `c2` one more. And answers to both.
    await append({ type: "round.open" });
    for (const [toolCallId, length] of [
      ["c1", 300],
      ["c2", 301],
      ["c3", 0],
    ] as const) {
      await append(
        { type: "TOOL_CALL_START", toolCallId, toolCallName: "locate" },
        { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify("x".repeat(298)) },
        { type: "TOOL_CALL_ARGS", toolCallId, delta: " ".repeat(Math.max(0, length - 300)) },
        { type: "TOOL_CALL_END", toolCallId },
      );
    }
    await append({ type: "round.close" });
    const answering = (callId: string, bytes: number) => {
      const answer = filled(bytes, (value) => ({ type: "text", text: value }));
      return { id: `x-${callId}`, type: "call.answer", callId, outcome: "ok", answer };
    };
    const taken = await ana(answering("c1", 500));
    expect(taken).toMatchObject({ status: "applied" });
    expect(taken).not.toHaveProperty("resultTooLarge");
    expect(await ana(answering("c3", 501))).toMatchObject({
      status: "applied",
      resultTooLarge: { limit: 500, value: 501 },
    });
    const { body } = await server.request("GET", "/v1/sessions/s/state");
    const { calls } = body["state"] as { calls: { outcome: string; reason?: string }[] };
    expect(calls.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ["ok", undefined],
      ["error", "arguments_too_large"],
      ["error", "result_too_large"],
    ]);
    for (const socket of sockets.values()) await socket[Symbol.asyncDispose]();
  },
);

test("a body, and a frame, may have as many bytes as the limit says, and not one more", async () => {
  await using server = await startServer({ limits: { bodyBytes: 3_000 } });
  await server.request("PUT", "/v1/sessions/s", { body: { agent: "demo" } });
  const say = (messageId: string) => (content: string) => ({
    id: messageId,
    type: "message.send",
    messageId,
    content,
  });
  for (const headers of [{}, { origin: server.url }]) {
    const post = (bytes: number, id: string) =>
      server.request("POST", COMMANDS, { body: filled(bytes, say(id)), headers });
    const id = `m${Object.keys(headers).length}`;
    expect((await post(3_000, `${id}a`)).status).toBe(200);
    const refused = await post(3_001, `${id}b`);
    expect(refused.status).toBe(413);
    expect(refused.body).toMatchObject({
      code: "too_large",
      details: { limit: 3_000, value: 3_001 },
    });
  }
  await using socket = await openSocket(server);
  const frame = (ref: string) => (content: string) => ({
    type: "commands",
    session: "s",
    ref,
    commands: [say(ref)(content)],
  });
  socket.send(filled(3_000, frame("one")));
  expect(await socket.find(({ ref }) => ref === "one")).toMatchObject({ type: "verdicts" });
  socket.send(filled(3_001, frame("two")));
  expect(await socket.find(({ type }) => type === "error")).toMatchObject({
    error: { code: "too_large", details: { limit: 3_000, value: 3_001 } },
  });
  expect(await socket.ask({ type: "ping" })).toMatchObject({ type: "pong" });
});

test("one who sends too much is told so on every face, and by whatever way they come", async () => {
  const rate = { burst: 3, perSecond: 0.001 };
  for (const name of ["HTTP, alone", "HTTP, in a batch", "WebSocket"]) {
    await using server = await startServer({ limits: { commands: rate, attemptCommands: rate } });
    const sockets = new Map<string, TestSocket>();
    const work = await startRun(server);
    const face = faces(server, sockets)[name];
    const { runId, attempt } = work;
    const renew = { id: "h", type: "run.heartbeat", runId, attempt };
    const cancel = { id: "c", type: "run.cancel", runId: "none" };
    for (const [token, command, left] of [
      [server.ana, cancel, 2],
      [work.token, renew, 3],
    ] as const) {
      const said: (string | undefined)[] = [];
      for (let n = 0; n < left + 1; n += 1)
        said.push((await face?.send(token, work, command))?.error?.code);
      expect([name, said.slice(0, -1).includes("too_many_requests")]).toEqual([name, false]);
      expect([name, said.at(-1)]).toEqual([name, "too_many_requests"]);
    }
    for (const socket of sockets.values()) await socket[Symbol.asyncDispose]();
  }
});

test.each(["subscribersPerSession", "subscribersPerPrincipal"])(
  "a subscription over a WebSocket counts like a stream: %s",
  async (limit) => {
    await using server = await startServer({ limits: { [limit]: 1 } });
    await startRun(server);
    await using first = await openSocket(server);
    await using second = await openSocket(server);
    await first.ask({ type: "subscribe", session: "s" });
    expect(await second.ask({ type: "subscribe", session: "s" })).toMatchObject({
      type: "unsubscribed",
      error: { code: "too_many_requests", details: { limit: 1, value: 1 } },
    });
    await first.ask({ type: "unsubscribe", session: "s" });
    await expect
      .poll(async () => (await second.ask({ type: "subscribe", session: "s" })).type)
      .toBe("subscribed");
  },
);
