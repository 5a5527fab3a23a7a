import { randomBytes } from "node:crypto";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { DEFAULTS, type ServerOptions } from "./config.ts";
import { checkLimits, Engine, randomId } from "./engine/index.ts";
import { createApp, directCommands, isLoopback, problemOfRequest, Tokens } from "./http/index.ts";

/** A running server, behind `fetch` or a port. */
export interface Server extends AsyncDisposable {
  /** The whole HTTP face as one web-standard handler. */
  fetch(request: Request): Response | Promise<Response>;
  /**
   * Listens, by default on 127.0.0.1 and any free port.
   *
   * @throws Error for another host than loopback where no secret was given, or in development
   */
  listen(at?: {
    readonly port?: number;
    readonly hostname?: string;
  }): Promise<{ readonly url: string; readonly port: number }>;
  /** A token for a principal such as `user:ana`, for embedding and tests. */
  mint(principal: string): Promise<string>;
  /** Takes no more requests, sends waiting workers and readers away, and finishes what is being committed. */
  close(): Promise<void>;
}

/** Puts engine and HTTP face on a storage, which stays the caller's. */
export function createServer(options: ServerOptions): Server {
  const { secret, dev = secret === undefined } = options;
  if (secret && secret.length < 32) throw new RangeError("The secret must have at least 32 bytes.");
  const limits = { ...DEFAULTS.limits, ...options.limits };
  checkLimits(limits);
  const config = { ...DEFAULTS, ...options, limits };
  const { storage, leaseMs, heartbeatMs = Math.ceil(leaseMs / 3) } = config;
  const tokens = new Tokens(secret ?? randomBytes(32), () => storage.now());
  const engine = new Engine({ ...config, newId: randomId });
  const maxBodyBytes = limits.bodyBytes;
  const http = { ...config, maxBodyBytes, engine, tokens, dev, heartbeatMs };
  const app = createApp(http);
  const direct = directCommands(http);
  const servers = new Set<HttpServer>();

  async function close(): Promise<void> {
    const ended = engine.close();
    await Promise.all([ended, ...[...servers].map((server) => stop(server, ended))]);
    servers.clear();
  }

  return {
    fetch: (request) => app.fetch(request),
    async listen({ port = 0, hostname = "127.0.0.1" } = {}) {
      if ((!secret || dev) && !isLoopback(hostname)) {
        throw new Error(
          dev && secret
            ? `Refusing to listen on ${hostname} in development, where anybody may choose a name: listen on 127.0.0.1, or serve without dev.`
            : `Refusing to listen on ${hostname} without a secret, where anybody may choose a name: listen on 127.0.0.1, or give a secret of at least 32 bytes.`,
        );
      }
      const errorHandler = (error: unknown) => problemOfRequest(error, config.log);
      const listener = getRequestListener(app.fetch, { hostname, errorHandler });
      // It answers every failure itself, so its promise tells nothing.
      const server = createHttpServer((request, response) => {
        if (!direct(request, response)) void listener(request, response);
      });
      server.keepAliveTimeout = KEEP_ALIVE;
      servers.add(server);
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, hostname, () => resolve());
      });
      const { port: bound } = server.address() as AddressInfo; // it listens on a port
      const host = hostname.includes(":") ? `[${hostname}]` : hostname;
      return { url: `http://${host}:${bound}`, port: bound };
    },
    mint: (principal) => tokens.mint({ principal }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * How long a connection may be idle, in milliseconds. Longer than clients and proxies keep theirs, so that it is they
 * who close it: a request that crosses our closing would be lost.
 */
const KEEP_ALIVE = 75_000;

/** How long answers may take to leave once the engine has closed and every one is made, in milliseconds. */
const CLOSE_GRACE = 250;

/**
 * Accepts no more connections, and closes each as soon as it is idle. Those that are not when their answers are long
 * made are cut: a client that goes on asking, or one that connected and never asked.
 */
async function stop(server: HttpServer, ended: Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  server.closeIdleConnections();
  await ended;
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}
