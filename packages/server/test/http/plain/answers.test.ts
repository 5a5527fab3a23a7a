import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { dial, echo, logged, requestOf, serve, tidyUp } from "./support.ts";

tidyUp();

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
  const { port } = await serve({}, ({ head: { target }, body }) =>
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
  const { port } = await serve({}, async ({ head: { target }, connection }) => {
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
  const { port } = await serve({}, ({ head: { target } }) =>
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
  const { port } = await serve({}, ({ head: { target }, body }) =>
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
  const { port } = await serve({}, ({ head: { target } }) => {
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
