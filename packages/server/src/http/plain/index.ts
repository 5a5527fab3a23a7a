import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Heads } from "./head.ts";
import { PlainConnection, type PlainOptions } from "./connection.ts";

export { plainApp } from "./app.ts";
export type { PlainRequest } from "./connection.ts";
export type { Head } from "./head.ts";

/** The connections that are read here. */
export interface PlainConnections {
  /** Closes those that are between two requests. */
  closeIdle(): void;
  closeAll(): void;
}

/**
 * Reads plain requests ahead of a server of Node's: for what agents and pages send, `node:http` costs more than all the
 * rest (bench: "holdfast"). A connection that brings anything else becomes the server's, with what it has brought, and
 * stays so. The server's times hold here too.
 */
export function readPlain(server: Server, options: PlainOptions): PlainConnections {
  const { requestTimeout, keepAliveTimeout: keepAliveMs } = server;
  const own = server.listeners("connection") as ((socket: Socket) => void)[]; // so its types say
  const handOver = (socket: Socket) => {
    for (const listener of own) listener.call(server, socket);
  };
  const connections = new Set<PlainConnection>();
  const heads = new Heads();
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const left = () => connections.delete(connection);
    const connection = new PlainConnection(
      socket,
      { ...options, heads, handOver, keepAliveMs },
      left,
    );
    connections.add(connection);
  });
  const look = () => {
    const now = performance.now();
    for (const connection of connections) {
      const age = now - connection.since;
      if (connection.halfway && age > requestTimeout) connection.timeOut();
      else if ((connection.idle || connection.ending) && age > keepAliveMs) connection.destroy();
    }
  };
  server.once("listening", () => {
    const looking = setInterval(look, Math.ceil(requestTimeout / 6));
    server.once("close", () => clearInterval(looking));
  });
  return {
    closeIdle() {
      for (const connection of connections) if (connection.idle) connection.end();
    },
    closeAll() {
      for (const connection of connections) connection.destroy();
    },
  };
}
