import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { reject, type Rejection } from "@holdfast/protocol";
import { WebSocketServer } from "ws";
import { isWelcome, refusal } from "../http/index.ts";
import { serveSocket, type Connection } from "./connection.ts";
import type { SocketOptions } from "./context.ts";

/** The WebSocket face, as `docs/protocol/websocket.md` describes it. */
export interface Sockets {
  /** Takes over the connection of an upgrade request: to `/v1/ws`, or it is refused. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Takes no more sockets, and closes those there are once `ended`, with what was decided until then. */
  close(ended: Promise<void>): Promise<void>;
}

const PATH = "/v1/ws";
/** How much of a frame that is too large is read all the same, so that it can be answered: times what it may have, or bytes. */
const MOST_DROPPED = { times: 4, bytes: 1 << 20 };
/** How long clients may take to close, in milliseconds. */
const CLOSE_GRACE = 250;

export function createSockets(options: SocketOptions): Sockets {
  const { maxBodyBytes, corsOrigins } = options;
  const connections = new Set<Connection>();
  let closing = false;
  let emptied = () => {};
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload:
      maxBodyBytes + Math.min((MOST_DROPPED.times - 1) * maxBodyBytes, MOST_DROPPED.bytes),
    // Checked where it can be answered.
    skipUTF8Validation: true,
  });

  return {
    upgrade(request, socket, head) {
      const refused = refuse(request);
      if (refused) return answer(socket, refused);
      server.handleUpgrade(request, socket, head, (ws) => {
        const connection = serveSocket(options, ws, socket, () => {
          connections.delete(connection);
          if (connections.size === 0) emptied();
        });
        connections.add(connection);
      });
    },
    async close(ended) {
      closing = true;
      await ended;
      // What the last commits decided is said in this turn.
      await new Promise((resolve) => setImmediate(resolve));
      if (connections.size === 0) return;
      const empty = new Promise<void>((resolve) => (emptied = resolve));
      for (const connection of connections) connection.close("going_away");
      const late = setTimeout(() => {
        for (const connection of connections) connection.terminate();
      }, CLOSE_GRACE);
      await empty;
      clearTimeout(late);
    },
  };

  function refuse({ url = "", headers }: IncomingMessage): Rejection | undefined {
    const path = url.replace(/\?.*/s, "");
    if (closing) return reject("overloaded", "The server is closing: connect again in a moment.");
    if (path !== PATH) return reject("not_found", `There is no WebSocket at ${path}: use ${PATH}.`);
    const { origin, host = "", "sec-fetch-site": site } = headers;
    const asking = { origin, site: site?.toString(), host: host.toLowerCase() };
    if (isWelcome(asking, corsOrigins)) return undefined;
    return reject("forbidden", `Pages of ${origin} may not connect: list it in corsOrigins.`);
  }
}

function answer(socket: Duplex, rejection: Rejection): void {
  const { status, type, body } = refusal(rejection);
  socket.on("error", () => {});
  socket.end(
    `HTTP/1.1 ${status} ${rejection.code}\r\nconnection: close\r\ncontent-type: ${type}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
