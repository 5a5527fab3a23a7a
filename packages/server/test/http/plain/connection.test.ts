import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { dial, echo, requestOf, serve, tidyUp } from "./support.ts";

tidyUp();

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
    async ({ head: { target }, body }) => {
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
  const { port, plain } = await serve({}, async ({ head: { target }, body }) => {
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
  const { port } = await serve({}, async ({ head: { target }, body }) => {
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
