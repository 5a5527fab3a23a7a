import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { openHouse, type House } from "../cases/support.ts";

/** A connection that begins to send a command of a declared length. */
async function begun({ url, session, ana }: House, length: number): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.on("error", () => {}); // the server cuts it
  socket.write(
    `POST /v1/sessions/${session}/commands HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
      `authorization: Bearer ${ana.token}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`,
  );
  return socket;
}

/** Everything a connection is told until it is closed. */
async function told(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8").on("data", (data: string) => (text += data));
  // Not `once` of node:events, which an error ends too: to be cut off while sending is one.
  if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
  return text;
}

test("senders of a byte now and then hold up nobody, and are cut", async () => {
  await using house = await openHouse({ requestMs: 1_200 });
  const slow = await Promise.all(Array.from({ length: 200 }, () => begun(house, 1_000)));
  const dripping = setInterval(() => {
    for (const socket of slow) if (!socket.destroyed) socket.write(" ");
  }, 50);
  try {
    const ends = slow.map(told);
    for (let n = 0; n < 20; n += 1) expect((await house.send(`m${n}`)).length).toBeGreaterThan(0);
    for (const text of await Promise.all(ends)) expect(text).toMatch(/^HTTP\/1\.1 408 |^$/);
  } finally {
    clearInterval(dripping);
  }
  expect((await house.state()).messages.size).toBe(20);
});

test("a body of 100 MB is refused, however it comes, and nothing of it is kept", async () => {
  await using house = await openHouse();
  const bytes = 100 << 20;
  const path = `/v1/sessions/${house.session}/commands`;
  const { heapUsed, external } = process.memoryUsage();
  const piece = new Uint8Array(1 << 20).fill(32);
  const chunked = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += piece.length;
      if (sent > bytes) controller.close();
      else controller.enqueue(piece);
    },
  });
  let sent = 0;
  const response = await fetch(house.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${house.ana.token}` },
    body: chunked,
    duplex: "half",
  } as RequestInit);
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ code: "too_large" });
  const declared = await begun(house, bytes);
  const answer = told(declared);
  declared.end(piece);
  expect(await answer).toMatch(/^HTTP\/1\.1 413 /);
  const now = process.memoryUsage();
  expect(now.heapUsed + now.external - heapUsed - external).toBeLessThan(96 << 20);
  expect((await house.send("as usable as before")).length).toBeGreaterThan(0);
});
