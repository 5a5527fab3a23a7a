import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import {
  readPlain,
  type PlainConnections,
  type PlainRequest,
} from "../../../src/http/plain/index.ts";

// Every answer says who read the request: "plain", or Node's own parser, to which the connection went over.

const servers: Server[] = [];
const logged: unknown[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  expect(logged.splice(0)).toEqual([]);
});

type Answering = (request: PlainRequest) => Promise<unknown> | undefined;

interface House {
  readonly port: number;
  readonly plain: PlainConnections;
}

async function serve(
  times: { requestTimeout?: number; keepAliveTimeout?: number } = {},
  answer: Answering = (request) => Promise.resolve(echo("plain", request.target, request.body)),
): Promise<House> {
  const server = createServer(
    { ...times, headersTimeout: times.requestTimeout ?? 1_000 },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { body } = echo("node", request.url ?? "", Buffer.concat(chunks));
        response.writeHead(200, { "content-length": Buffer.byteLength(body) }).end(body);
      });
    },
  );
  const plain = readPlain(server, {
    answer: answer as Parameters<typeof readPlain>[1]["answer"], // tests answer with anything
    maxBodyBytes: 200_000,
    log: (_message, error) => logged.push(error),
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, plain };
}

function echo(reader: string, target: string, body: Uint8Array) {
  const text = `<${reader} ${target} ${Buffer.from(body).toString()}>`;
  return { status: 200, type: "application/json" as const, body: text };
}

function requestOf(target: string, body = "", more = ""): string {
  return `POST ${target} HTTP/1.1\r\nhost: h\r\n${more}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A client of bytes: what it got so far, and a wait for something in it. */
async function dial(port: number) {
  const socket = connect(port, "127.0.0.1");
  let got = "";
  let closed = false;
  socket.on("data", (chunk: Buffer) => (got += chunk.toString()));
  socket.on("error", () => {});
  socket.on("close", () => (closed = true));
  await once(socket, "connect");
  const until = async (done: () => boolean) => {
    for (let n = 0; n < 1_000 && !done(); n += 1) await sleep(5);
    if (!done()) throw new Error(`It did not come. Got: ${got.slice(0, 500)}`);
  };
  return {
    socket,
    got: () => got,
    answers: () => [...got.matchAll(/<[^>]*>/g)].map(([text]) => text),
    until,
    closed: () => until(() => closed),
  };
}

test("requests on one connection are answered in turn, and say how long it may stay", async () => {
  const { port } = await serve({ keepAliveTimeout: 7_000 });
  const client = await dial(port);
  client.socket.write(requestOf("/1", "ä"));
  await client.until(() => client.answers().length === 1);
  client.socket.write(requestOf("/2"));
  await client.until(() => client.answers().length === 2);
  expect(client.answers()).toEqual(["<plain /1 ä>", "<plain /2 >"]);
  const [head = ""] = client.got().split("\r\n\r\n");
  expect(head.replace(/date: [^\r]* GMT/, "date: now")).toBe(
    [
      "HTTP/1.1 200 OK",
      "content-type: application/json",
      `content-length: ${Buffer.byteLength("<plain /1 ä>")}`,
      "date: now",
      "connection: keep-alive",
      "keep-alive: timeout=7",
    ].join("\r\n"),
  );
});

test("a request is one wherever it is cut, and so are two", async () => {
  const { port } = await serve();
  const bytes = Buffer.from(requestOf("/a", "ä{}") + requestOf("/b", "b"));
  const client = await dial(port);
  client.socket.setNoDelay(true);
  for (let cut = 1; cut < bytes.length; cut += 1) {
    client.socket.write(bytes.subarray(0, cut));
    await new Promise((resolve) => setImmediate(resolve));
    client.socket.write(bytes.subarray(cut));
    await client.until(() => client.answers().length === 2 * cut);
  }
  expect(new Set(client.answers())).toEqual(new Set(["<plain /a ä{}>", "<plain /b b>"]));
});

test("what comes in one piece is answered in order, also when the connection changes hands", async () => {
  const { port } = await serve();
  const client = await dial(port);
  const plain = Array.from({ length: 50 }, (_, n) => requestOf(`/${n}`, `${n}`));
  const odd = requestOf("/odd", "x", "x-odd: \u00e4\r\n");
  client.socket.write([...plain, odd, ...plain].join(""));
  await client.until(() => client.answers().length === 101);
  const numbers = Array.from({ length: 50 }, (_, n) => n);
  expect(client.answers()).toEqual([
    ...numbers.map((n) => `<plain /${n} ${n}>`),
    "<node /odd x>",
    ...numbers.map((n) => `<node /${n} ${n}>`),
  ]);
});

test("a connection changes hands in the middle of a body, a head, and for a word of the answerer's", async () => {
  const { port } = await serve({}, () => undefined);
  const client = await dial(port);
  client.socket.write(requestOf("/left", "alone"));
  await client.until(() => client.answers().length === 1);
  expect(client.answers()).toEqual(["<node /left alone>"]);

  const { port: other } = await serve();
  const large = "x".repeat(300_000);
  const long = await dial(other);
  const bytes = requestOf("/large", large);
  long.socket.write(bytes.slice(0, 1_000));
  await sleep(20);
  long.socket.write(bytes.slice(1_000));
  await long.until(() => long.answers().length === 1);
  expect(long.answers()).toEqual([`<node /large ${large}>`]);

  const wordy = await dial(other);
  wordy.socket.write(`POST / HTTP/1.1\r\nhost: h\r\nx-a: ${"a".repeat(20_000)}`);
  // Node's own parser says that the head is too large, also where it comes whole.
  await wordy.until(() => wordy.got().startsWith("HTTP/1.1 431 "));
  const whole = await dial(other);
  whole.socket.write(requestOf("/", "", `x-a: ${"a".repeat(20_000)}\r\n`));
  await whole.until(() => whole.got().startsWith("HTTP/1.1 431 "));
});

test("a large body that is not too large comes in pieces", async () => {
  const { port } = await serve();
  const client = await dial(port);
  const body = "y".repeat(190_000);
  client.socket.write(requestOf("/", body));
  await client.until(() => client.answers().length === 1);
  expect(client.answers()).toEqual([`<plain / ${body}>`]);
});

test("a request that does not come on is cut off, an idle connection later, and nobody else", async () => {
  const { port } = await serve({ requestTimeout: 120, keepAliveTimeout: 400 });
  const slow = await dial(port);
  const idle = await dial(port);
  const busy = await dial(port);
  slow.socket.write(requestOf("/").slice(0, -4));
  idle.socket.write(requestOf("/"));
  const begun = Date.now();
  let sent = 0;
  let slowAfter = 0;
  let idleAfter = 0;
  slow.socket.on("close", () => (slowAfter = Date.now() - begun));
  idle.socket.on("close", () => (idleAfter = Date.now() - begun));
  while (idleAfter === 0 && Date.now() - begun < 5_000) {
    busy.socket.write(requestOf("/"));
    sent += 1;
    await busy.until(() => busy.answers().length === sent);
    await sleep(20);
  }
  expect(slow.got()).toMatch(/^HTTP\/1\.1 408 /);
  expect(slowAfter).toBeGreaterThanOrEqual(120);
  expect(idleAfter).toBeGreaterThanOrEqual(400);
  expect(slowAfter).toBeLessThan(idleAfter);
  expect(idle.answers()).toHaveLength(1);
  expect(busy.socket.closed).toBe(false);
});

test("a request has its whole time however long the connection was idle, and an idle one after a long answer", async () => {
  const { port } = await serve(
    { requestTimeout: 300, keepAliveTimeout: 600 },
    async ({ target, body }) => {
      if (target === "/long") await sleep(800);
      return echo("plain", target, body);
    },
  );
  const resting = await dial(port);
  const long = await dial(port);
  long.socket.write(requestOf("/long"));
  await sleep(400);
  const bytes = requestOf("/late");
  resting.socket.write(bytes.slice(0, 10));
  let sent = Date.now();
  resting.socket.on("close", () => (sent -= Date.now()));
  await resting.closed();
  expect(-sent).toBeGreaterThanOrEqual(300);

  await long.until(() => long.answers().length === 1);
  let answered = Date.now();
  long.socket.on("close", () => (answered -= Date.now()));
  await long.closed();
  expect(-answered).toBeGreaterThanOrEqual(550);
});

test("a connection on which nothing ever comes is closed", async () => {
  const { port } = await serve({ requestTimeout: 60, keepAliveTimeout: 100 });
  const silent = await dial(port);
  await silent.closed();
});

test("who closes between two requests harms nobody who is being answered", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const { port, plain } = await serve({}, async ({ target, body }) => {
    if (target === "/held") await held;
    return echo("plain", target, body);
  });
  const waiting = await dial(port);
  const idle = await dial(port);
  waiting.socket.write(requestOf("/held"));
  idle.socket.write(requestOf("/"));
  await idle.until(() => idle.answers().length === 1);
  plain.closeIdle();
  await idle.closed();
  release();
  await waiting.until(() => waiting.answers().length === 1);
  plain.closeAll();
  await waiting.closed();
});

test("more than a little behind a request that is being answered waits with its sender", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const { port } = await serve({}, async ({ target, body }) => {
    await held;
    return echo("plain", target, body.subarray(0, 1));
  });
  const { socket, ...client } = await dial(port);
  const many = 400;
  const body = "z".repeat(50_000);
  for (let n = 0; n < many; n += 1) socket.write(requestOf(`/${n}`, body));
  await sleep(200);
  // Far from all of it has left.
  expect(socket.writableLength).toBeGreaterThan(5_000_000);
  release();
  await client.until(() => client.answers().length === many);
  expect(client.answers().at(-1)).toBe(`<plain /${many - 1} z>`);
});

/** A stream that is written on demand, and what became of it. */
function streaming(pieces = Number.POSITIVE_INFINITY) {
  let pulled = 0;
  let cancelled = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await sleep(1);
      pulled += 1;
      // A piece of nothing is none: in chunks it would be the end.
      controller.enqueue(new Uint8Array());
      if (pulled > pieces) controller.close();
      else controller.enqueue(Buffer.from(`<${pulled}>`.padEnd(1_000)));
    },
    cancel() {
      cancelled += 1;
    },
  });
  const headers = { "x-accel-buffering": "no", "content-type": "text/event-stream" };
  return {
    response: new Response(body, { headers }),
    pulled: () => pulled,
    cancelled: () => cancelled,
  };
}

test("a stream comes in chunks, and the connection serves on", async () => {
  const { port } = await serve({}, ({ target, body }) =>
    Promise.resolve(target === "/s" ? streaming(3).response : echo("plain", target, body)),
  );
  const client = await dial(port);
  client.socket.write(requestOf("/s") + requestOf("/next"));
  await client.until(() => client.answers().length === 4);
  expect(client.answers()).toEqual(["<1>", "<2>", "<3>", "<plain /next >"]);
  expect(client.got()).toContain("transfer-encoding: chunked\r\n");
  expect(client.got()).toContain(`\r\n\r\n3e8\r\n<1>`);
  expect(client.got()).toContain("\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n");
});

/** A stream that has nothing to say, and whether it was cancelled. */
function silence() {
  let cancelled = 0;
  const body = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled += 1) });
  const headers = { "x-accel-buffering": "no", "content-type": "text/event-stream" };
  return { response: new Response(body, { headers }), cancelled: () => cancelled };
}

test.each([
  ["goes away", (socket: Socket) => socket.destroy()],
  ["says no more", (socket: Socket) => socket.end()],
])("a stream is cancelled when its client %s, whether it flows or not", async (_name, leave) => {
  for (const stream of [streaming(), silence()]) {
    let gone = 0;
    const { port } = await serve({}, async ({ connection }) => {
      connection.onGone = () => (gone += 1);
      return stream.response;
    });
    const reader = await dial(port);
    reader.socket.write(requestOf("/"));
    await reader.until(() => reader.got().includes("\r\n\r\n"));
    leave(reader.socket);
    await reader.until(() => stream.cancelled() === 1 && gone === 1);
  }
});

test("a stream whose client left before it began is cancelled, and never read", async () => {
  const stream = silence();
  const flowing = streaming();
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  let gone = 0;
  const { port } = await serve({}, async ({ target, connection }) => {
    connection.onGone = () => (gone += 1);
    await held;
    return target === "/flowing" ? flowing.response : stream.response;
  });
  for (const target of ["/flowing", "/silent"]) {
    const leaver = await dial(port);
    leaver.socket.write(requestOf(target));
    await sleep(30);
    leaver.socket.end();
  }
  const late = await dial(port);
  await late.until(() => gone === 2);
  release();
  await late.until(() => stream.cancelled() === 1 && flowing.cancelled() === 1);
  expect(flowing.pulled()).toBeLessThan(3);
});

test("a client that reads nothing is written no more than its buffers take", async () => {
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(100_000)),
  });
  let taken = 0;
  const counted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        taken += chunk.length;
        controller.enqueue(chunk);
      },
    }),
  );
  const headers = { "x-accel-buffering": "no" };
  const { port } = await serve({}, () => Promise.resolve(new Response(counted, { headers })));
  const client = await dial(port);
  client.socket.pause();
  client.socket.write(requestOf("/"));
  let before = -1;
  while (before !== taken) {
    before = taken;
    await sleep(100);
  }
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThan(20_000_000);
  client.socket.destroy();
});

test("a body that fails cuts its answer off, and is logged", async () => {
  const failed = new Error("no more");
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.error(failed);
    },
  });
  const { port } = await serve({}, ({ target }) =>
    Promise.resolve(
      new Response(body, target === "/s" ? { headers: { "x-accel-buffering": "no" } } : {}),
    ),
  );
  const client = await dial(port);
  client.socket.write(requestOf("/s"));
  await client.closed();
  expect(client.got()).not.toContain("0\r\n\r\n");
  expect(logged.splice(0)).toEqual([failed]);
});

test.each([
  ["a HEAD", "HEAD", () => new Response("body", { headers: { "content-length": "4" } }), "4"],
  ["no content", "POST", () => new Response(null, { status: 204 }), undefined],
  ["no body", "POST", () => new Response(null), "0"],
  ["a body", "POST", () => new Response("four"), "4"],
  [
    "a body of known length",
    "POST",
    () => new Response("four", { headers: { "content-length": "4" } }),
    "4",
  ],
])("%s has the length it says", async (_name, method, make, length) => {
  const { port } = await serve({}, ({ target, body }) =>
    Promise.resolve(target === "/" ? make() : echo("plain", target, body)),
  );
  const client = await dial(port);
  client.socket.write(`${method} / HTTP/1.1\r\nhost: h\r\n\r\n${requestOf("/next")}`);
  await client.until(() => client.answers().length === 1);
  const [first = ""] = client.got().split("\r\n\r\n");
  const lengths = [...first.matchAll(/content-length: (\d+)/g)].map(([, given]) => given);
  expect(lengths).toEqual(length === undefined ? [] : [length]);
  expect(first).not.toContain("transfer-encoding");
  // Nothing stands between the two answers but the first one's body.
  const between = client
    .got()
    .slice(first.length + 4)
    .split("HTTP/1.1")[0];
  expect(between).toBe(method === "HEAD" || length !== "4" ? "" : "four");
});

test("answers wait for a client that takes none, and requests with them", async () => {
  let answered = 0;
  const { port } = await serve({}, ({ target }) => {
    answered += 1;
    return Promise.resolve(echo("plain", target, Buffer.alloc(1_000_000, "a")));
  });
  const { socket, until }: { socket: Socket; until: (done: () => boolean) => Promise<void> } =
    await dial(port);
  socket.pause();
  for (let n = 0; n < 100; n += 1) socket.write(requestOf(`/${n}`));
  let before = -1;
  while (before !== answered) {
    before = answered;
    await sleep(100);
  }
  expect(answered).toBeLessThan(50);
  socket.resume();
  await until(() => answered === 100);
});
