import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort, startServer } from "../support/server-process.ts";
import { devToken, wire } from "../support/wire.ts";

/** HOLDFAST_SOCKETS, or 500. */
const SOCKETS = Number(process.env["HOLDFAST_SOCKETS"] ?? 500);

/** How many are opened at once: more would overrun the queue of connections to be taken. */
const TOGETHER = 100;

test(
  `${SOCKETS} sockets that follow sessions stay open, hear what they follow, and hold up nobody`,
  { timeout: 30_000 + SOCKETS * 20 },
  async () => {
    const data = await mkdtemp(join(tmpdir(), "holdfast-sockets-"));
    try {
      await using server = await startServer({ data, port: await freePort() });
      const people = await Promise.all(
        Array.from({ length: Math.ceil(SOCKETS / 500) }, async (_, n) => {
          const token = await devToken(server.url, { name: `person ${n}` });
          await wire(server.url, token).create(`s${n}`);
          return token;
        }),
      );
      const sockets: WebSocket[] = [];
      let heard = 0;
      while (sockets.length < SOCKETS) {
        const more = Math.min(TOGETHER, SOCKETS - sockets.length);
        const opened = Array.from({ length: more }, (_, at) => {
          const person = (sockets.length + at) % people.length;
          return follow(server.url, people[person] ?? "", `s${person}`, () => (heard += 1));
        });
        sockets.push(...(await Promise.all(opened)));
      }
      const ana = wire(server.url, people[0] ?? "");
      for (let n = 0; n < people.length; n += 1) {
        const message = { type: "message.send", messageId: `m${n}`, content: "hello" } as const;
        expect((await ana.command(`s${n}`, message)).status).toBe("applied");
      }
      while (heard < SOCKETS) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(sockets.filter(({ readyState }) => readyState !== WebSocket.OPEN)).toEqual([]);
      for (const socket of sockets) socket.close();
    } finally {
      await rm(data, { recursive: true, force: true });
    }
  },
);

/** A socket that follows a session, once it does; `onMessage` is called for its first entries after that. */
async function follow(
  url: string,
  token: string,
  session: string,
  onMessage: () => void,
): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/ws`);
  await once(socket, "open");
  const following = new Promise<void>((resolve, reject) => {
    let isTold = false;
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(String(data)) as { type: string };
      if (frame.type === "error" || frame.type === "unsubscribed") reject(new Error(String(data)));
      if (frame.type === "reset") resolve();
      if (frame.type === "entries" && !isTold) {
        isTold = true;
        onMessage();
      }
    };
  });
  socket.send(JSON.stringify({ type: "auth", token, ref: 1 }));
  socket.send(JSON.stringify({ type: "subscribe", session, state: true, ref: 2 }));
  await following;
  return socket;
}
