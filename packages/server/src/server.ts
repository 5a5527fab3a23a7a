import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { auditKey } from "./audit/key.ts";
import { DEFAULTS, type ServerOptions } from "./config.ts";
import { checkLimits, Engine, randomId } from "./engine/index.ts";
import {
  isLoopback,
  Revocations,
  Tokens,
  type Grant,
  type Revocation,
  type Revoked,
} from "./auth/index.ts";
import { agUiRoutes } from "./faces/ag-ui/index.ts";
import { checkOrigins, createApp, openPort, type Port } from "./http/index.ts";
import { checkAgents, startUpstreams } from "./upstream/index.ts";
import { checkWebhooks, startWebhooks } from "./webhooks/index.ts";
import { createSockets, SOCKET_LIMITS } from "./ws/index.ts";

/** A running server, behind `fetch` or a port. */
export interface Server extends AsyncDisposable {
  /** The whole HTTP face as one web-standard handler. */
  fetch(request: Request): Response | Promise<Response>;
  /**
   * The WebSocket face, for embedders: to be called with what a `node:http` server says on `upgrade`. It answers every
   * path; {@link listen} calls it by itself.
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /**
   * Listens, by default on 127.0.0.1 and any free port.
   *
   * @throws Error for another host than loopback where no key was given, or in development
   */
  listen(at?: {
    readonly port?: number;
    readonly hostname?: string;
  }): Promise<{ readonly url: string; readonly port: number }>;
  /**
   * A token for a principal such as `user:ana`, for embedding and tests; by default for everything that its kind does,
   * in every session. @throws RangeError for what is no principal or no grant
   */
  mint(principal: string, grants?: readonly Grant[]): Promise<string>;
  /** Takes tokens back, at once and for good: what they hold open is closed. Resolves when that is durable. */
  revoke(revocation: Revocation): Promise<Revoked>;
  /** The revocations that stand. */
  revocations(): Promise<readonly Revoked[]>;
  /** The public key, base64url, of the signatures in audits. */
  readonly auditKey: string;
  /** Takes no more requests, sends waiting workers and readers away, and finishes what is being committed. */
  close(): Promise<void>;
}

/** Puts engine and HTTP face on a storage, which stays the caller's. */
export function createServer(options: ServerOptions): Server {
  const { secret, publicKeys = [], jwksUrl } = options;
  const keyed = secret !== undefined || publicKeys.length > 0 || jwksUrl !== undefined;
  const { dev = !keyed } = options;
  const limits = { ...DEFAULTS.limits, ...options.limits };
  checkLimits(limits);
  const config = { ...DEFAULTS, ...options, limits };
  const { storage, leaseMs, requestMs, heartbeatMs = Math.ceil(leaseMs / 3) } = config;
  checkOrigins(config.corsOrigins);
  const now = () => storage.now();
  const revocations = new Revocations(storage);
  const signedWith = secret ?? randomBytes(32);
  const tokens = new Tokens({ ...config, secret: signedWith, revocations, now });
  const key = auditKey(options.auditKey ?? signedWith);
  const hooks = options.webhooks && checkWebhooks(options.webhooks);
  const agents = options.agents && checkAgents(options.agents);
  const engine = new Engine({
    ...config,
    newId: randomId,
    auditKey: key,
    ...(hooks && { wakes: (agent: string) => hooks.agents.has(agent) }),
  });
  const webhooks = hooks && startWebhooks(hooks, { ...config, engine });
  const upstreams = agents && startUpstreams(agents, { ...config, heartbeatMs, engine });
  const maxBodyBytes = limits.bodyBytes;
  const devBehindFetch = options.dev === true;
  const kept = { engine, tokens, revocations };
  const http = { ...config, ...kept, maxBodyBytes, dev, devBehindFetch, heartbeatMs };
  const app = createApp(http);
  agUiRoutes(app, http);
  const sockets = createSockets({
    ...http,
    limits: { ...SOCKET_LIMITS, ...options.socketLimits },
    now: () => storage.now(),
  });
  const ports = new Set<Port>();

  async function close(): Promise<void> {
    const told = webhooks?.close();
    // They hand their runs back, which takes an engine.
    const ended = upstreams ? upstreams.close().then(() => engine.close()) : engine.close();
    const stopped = [...ports].map((port) => port.stop(ended));
    await Promise.all([ended, sockets.close(ended), ...stopped, told]);
    ports.clear();
  }

  return {
    fetch: (request) => app.fetch(request),
    upgrade: (request, socket, head) => sockets.upgrade(request, socket, head),
    async listen({ port = 0, hostname = "127.0.0.1" } = {}) {
      if ((!keyed || dev) && !isLoopback(hostname)) {
        throw new Error(
          keyed
            ? `Refusing to listen on ${hostname} in development, where anybody may choose a name: listen on 127.0.0.1, or serve without dev.`
            : `Refusing to listen on ${hostname} without a secret, where anybody may choose a name: listen on 127.0.0.1, or give a secret of at least 32 bytes.`,
        );
      }
      const opened = await openPort({
        hostname,
        port,
        app,
        http,
        requestMs,
        upgrade: (request, socket, head) => sockets.upgrade(request, socket, head),
      });
      ports.add(opened);
      const host = hostname.includes(":") ? `[${hostname}]` : hostname;
      return { url: `http://${host}:${opened.port}`, port: opened.port };
    },
    auditKey: key.publicKey,
    mint: (principal, grants) => tokens.mint(principal, grants),
    revoke: (revocation) => revocations.add(revocation),
    revocations: () => revocations.list(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
