import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import type { App, HttpOptions } from "./context.ts";
import { directCommands } from "./direct.ts";
import { plainApp, readPlain, type PlainConnections } from "./plain/index.ts";
import { problemOfRequest } from "./problem.ts";

export interface PortOptions {
  readonly hostname: string;
  /** 0 for any that is free. */
  readonly port: number;
  readonly app: App;
  readonly http: HttpOptions;
  /** How long a request may take to come, in milliseconds. */
  readonly requestMs: number;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** Where the app listens. */
export interface Port {
  readonly port: number;
  /**
   * Accepts no more connections, and closes each as soon as it is idle. Those that are not when their answers are long
   * made, which is soon after `ended`, are cut: a client that goes on asking, or one that connected and never asked.
   */
  stop(ended: Promise<void>): Promise<void>;
}

/**
 * How long a connection may be idle, in milliseconds. Longer than clients and proxies keep theirs, so that it is they
 * who close it: a request that crosses our closing would be lost.
 */
const KEEP_ALIVE = 75_000;

/** The longest body that is read before anybody knows who sent it, in bytes. */
const LARGEST = 1 << 20;

/** How long answers may take to leave once the engine has closed and every one is made, in milliseconds. */
const CLOSE_GRACE = 250;

/** Listens. @throws Error where the address cannot be had */
export async function openPort(options: PortOptions): Promise<Port> {
  const { hostname, app, http, requestMs, upgrade } = options;
  const { log, maxBodyBytes } = http;
  const listener = getRequestListener(
    (request, { outgoing }) =>
      app.fetch(request, { connection: { destroy: () => void outgoing.destroy() } }),
    { hostname, errorHandler: (error) => problemOfRequest(error, log) },
  );
  const server = createServer(
    {
      headersTimeout: requestMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.ceil(requestMs / 6),
      keepAliveTimeout: KEEP_ALIVE,
    },
    // It answers every failure itself, so its promise tells nothing.
    (request, response) => void listener(request, response),
  );
  server.on("upgrade", upgrade);
  const direct = directCommands(http);
  const whole = plainApp(app, log);
  const plain = readPlain(server, {
    answer: (request) => direct(request) ?? whole(request),
    maxBodyBytes: Math.min(maxBodyBytes, LARGEST),
    log,
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, hostname, () => resolve());
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { port, stop: (ended) => stop(server, plain, ended) };
}

async function stop(server: Server, plain: PlainConnections, ended: Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const closeIdle = () => {
    server.closeIdleConnections();
    plain.closeIdle();
  };
  const idle = setInterval(closeIdle, 20);
  closeIdle();
  await ended;
  closeIdle();
  const late = setTimeout(() => {
    server.closeAllConnections();
    plain.closeAll();
  }, CLOSE_GRACE);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}
