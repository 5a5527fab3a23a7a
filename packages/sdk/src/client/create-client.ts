import {
  createTransport,
  systemConnectivity,
  type Connectivity,
  type TransportOptions,
} from "../wire/index.ts";
import { newId } from "./new-id.ts";
import { nextFrame, type Schedule } from "./notifier.ts";
import { createSession, type CreateOptions, type Session, type SessionHooks } from "./session.ts";

export interface ClientOptions extends TransportOptions {
  /** How often the server's streams show life, milliseconds. Default 15 s. */
  readonly heartbeatMs?: number;
  /** How many commands of a session may wait for the server. Default 256. */
  readonly outboxLimit?: number;
  /** When listeners are told of changes. Default: with the next rendered frame. */
  readonly schedule?: Schedule;
  readonly connectivity?: Connectivity;
  /** Makes ids of commands and messages; must not repeat. */
  readonly newId?: () => string;
}

export interface OpenOptions {
  /** Creates the session where it does not exist; one that does is left as it is. */
  readonly create?: CreateOptions;
  /** Connect only with `connect()`. Default false. */
  readonly lazy?: boolean;
}

/** A server, and the sessions opened on it. */
export interface Client extends AsyncDisposable {
  /** A new handle on a session; each has its own connection and must be closed. */
  readonly open: (sessionId: string, options?: OpenOptions) => Session;
  /** Closes every session opened here. */
  readonly close: () => Promise<void>;
}

/** Nothing is sent before a session is opened. */
export function createClient(options: ClientOptions): Client {
  const context = {
    transport: createTransport(options),
    connectivity: options.connectivity ?? systemConnectivity,
    schedule: options.schedule ?? nextFrame,
    heartbeatMs: options.heartbeatMs ?? 15_000,
    outboxLimit: options.outboxLimit ?? 256,
    newId: options.newId ?? newId,
  };
  const connected = new Set<Session>();
  const hooks: SessionHooks = {
    onConnect: (session) => void connected.add(session),
    onClosed: (session) => void connected.delete(session),
  };
  const client: Client = {
    open(sessionId, { create, lazy = false } = {}) {
      const session = createSession(context, sessionId, create, hooks);
      if (!lazy) session.connect();
      return session;
    },
    async close() {
      await Promise.all([...connected].map((session) => session.close()));
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
  return client;
}
