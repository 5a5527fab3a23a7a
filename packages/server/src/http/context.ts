import type { Hono } from "hono";
import type { Engine } from "../engine/index.ts";
import type { Revocations, Tokens } from "../auth/index.ts";

export interface HttpOptions {
  readonly engine: Engine;
  readonly tokens: Tokens;
  readonly revocations: Revocations;
  /** Whose pages may use the server, beside its own. */
  readonly corsOrigins: readonly string[];
  /** Whether anybody may have a token under a name they choose: of this machine, as far as the server listens by itself. */
  readonly dev: boolean;
  /** Whether that holds behind `fetch` too, where nobody here knows who can ask. */
  readonly devBehindFetch: boolean;
  /** The agent of a session that names none. */
  readonly defaultAgent: string;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** How often a silent stream says that it is alive, in milliseconds. */
  readonly sseHeartbeatMs: number;
  readonly maxBodyBytes: number;
  /** A directory with an `index.html` and `assets/`, served at `/`. */
  readonly pages?: string;
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
}

/** Where this server listens by itself, the connection can be closed; behind `fetch` it is absent. */
export interface AppEnv {
  readonly Bindings: { readonly connection?: { destroy(): void } };
}

export type App = Hono<AppEnv>;
