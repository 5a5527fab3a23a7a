import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import { dial, echo, requestOf, serve, tidyUp, type House } from "./support.ts";

tidyUp();

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void; // what the flag gives

/** A client that reads nothing, and is still owed less than makes the server wait for it. */
async function owed({ port, sockets }: House) {
  const client = await dial(port);
  client.socket.pause();
  const here = sockets.at(-1);
  let asked = 0;
  while (here?.writableLength === 0) {
    client.socket.write(requestOf("/"));
    asked += 1;
    while (here.bytesRead < asked * requestOf("/").length) await sleep(1);
  }
  return { ...client, asked, owing: () => here?.writableLength ?? 0 };
}

const PIECE = 15_000;
const piece = () => Promise.resolve(echo("plain", "/", Buffer.alloc(PIECE, "a")));

test("closing between two requests cuts no answer that is still on its way", async () => {
  const house = await serve({}, piece);
  const client = await owed(house);
  expect(client.owing()).toBeGreaterThan(0);
  house.plain.closeIdle();
  const listening = house.sockets[0]?.listenerCount("finish");
  // A server that stops says it again and again.
  for (let n = 0; n < 20; n += 1) house.plain.closeIdle();
  expect(house.sockets[0]?.listenerCount("finish")).toBe(listening);
  await sleep(20);
  client.socket.resume();
  await client.closed();
  expect(client.answers()).toHaveLength(client.asked);
});

test("a request that took too long is not answered after all, and its connection does not stay", async () => {
  let answered = 0;
  const house = await serve({ requestTimeout: 600 }, () => {
    answered += 1;
    return piece();
  });
  const client = await owed(house);
  const before = answered;
  const bytes = requestOf("/late");
  client.socket.write(bytes.slice(0, -2));
  await client.until(() => house.sockets[0]?.writableEnded === true);
  client.socket.write(bytes.slice(-2));
  await client.until(() => house.sockets[0]?.destroyed === true);
  expect(answered).toBe(before);
});

test("a body in pieces of a byte takes no more memory than a body", async () => {
  const house = await serve();
  const client = await dial(house.port);
  client.socket.write("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 20001\r\n\r\n");
  await client.until(() => house.sockets[0]?.bytesRead === 51);
  const [socket] = house.sockets;
  const kept = new Set<WeakRef<Buffer>>();
  for (let n = 0; n < 20_000; n += 1) {
    const byte = Buffer.from("b");
    kept.add(new WeakRef(byte));
    socket?.emit("data", byte);
  }
  // References hold until the turn is over.
  await sleep(10);
  collect();
  const held = [...kept].filter((byte) => byte.deref()).length;
  expect(held).toBeLessThan(2_000);
  client.socket.write("b");
  await client.until(() => client.answers().length === 1);
  expect(client.answers()).toEqual([`<plain / ${"b".repeat(20_001)}>`]);
});

test("a head of the longest is plain wherever it is cut", async () => {
  const { port } = await serve();
  const start = "GET / HTTP/1.1\r\nhost: h\r\nx-a: ";
  const head = `${start}${"a".repeat((16 << 10) - start.length)}\r\n\r\n`;
  for (const cut of [1, 2, 3, 4, 5]) {
    const client = await dial(port);
    client.socket.setNoDelay(true);
    client.socket.write(head.slice(0, -cut));
    await sleep(20);
    client.socket.write(head.slice(-cut));
    await client.until(() => client.answers().length === 1);
    expect(client.answers()).toEqual(["<plain / >"]);
  }
});

test("many small requests behind one another wait with their sender too", async () => {
  let taken = 0;
  let ahead = 0;
  const { port, sockets } = await serve({}, async ({ head: { target }, body }) => {
    await sleep(1);
    taken += requestOf(target).length;
    ahead = Math.max(ahead, (sockets[0]?.bytesRead ?? 0) - taken);
    return echo("plain", target, body);
  });
  const client = await dial(port);
  const small = requestOf("/").repeat(100);
  for (let n = 0; n < 2_000; n += 1) client.socket.write(small);
  await client.until(() => client.answers().length > 300);
  expect(ahead).toBeLessThan(300_000);
  client.socket.destroy();
});

test("who says no more and reads nothing is not waited for longer than an idle connection", async () => {
  const { port, sockets } = await serve({ requestTimeout: 60, keepAliveTimeout: 200 }, () =>
    Promise.resolve(echo("plain", "/", Buffer.alloc(20_000_000))),
  );
  const client = await dial(port);
  client.socket.pause();
  client.socket.end(requestOf("/"));
  await client.until(() => sockets[0]?.destroyed === true);
});

test("a clock that is set ends no request and no connection", async () => {
  const { port } = await serve({ requestTimeout: 900, keepAliveTimeout: 5_000 });
  const client = await dial(port);
  const bytes = requestOf("/");
  client.socket.write(bytes.slice(0, 10));
  await sleep(20);
  const later = Date.now() + 3_600_000;
  const clock = vi.spyOn(Date, "now").mockReturnValue(later);
  await sleep(250);
  clock.mockRestore();
  client.socket.write(bytes.slice(10));
  await client.until(() => client.answers().length === 1);
});

test("who waits to be told to go on is told, also behind a plain request", async () => {
  const { port } = await serve();
  const client = await dial(port);
  client.socket.write(
    requestOf("/1") + requestOf("/2", "abc", "expect: 100-continue\r\n").slice(0, -3),
  );
  await client.until(() => client.got().includes("HTTP/1.1 100 Continue\r\n\r\n"));
  client.socket.write("abc");
  await client.until(() => client.answers().length === 2);
  expect(client.answers()).toEqual(["<plain /1 >", "<node /2 abc>"]);
});

test("who breaks off leaves nothing behind, whatever was under way", async () => {
  const { port, sockets } = await serve({}, async ({ head: { target }, body }) => {
    await sleep(2);
    return echo("plain", target, Buffer.concat([body, Buffer.alloc(100_000, "a")]));
  });
  const odd = requestOf("/odd", "abc", "x-odd: \u00e4\r\n");
  const states = ["", "PO", requestOf("/"), requestOf("/") + odd, odd.slice(0, -1), `${odd}junk`];
  for (const bytes of states) {
    for (const wait of [0, 1, 3]) {
      const client = await dial(port);
      client.socket.write(bytes);
      await sleep(wait);
      client.socket.resetAndDestroy();
    }
  }
  const last = await dial(port);
  await last.until(() => sockets.filter((socket) => !socket.destroyed).length === 1);
});
