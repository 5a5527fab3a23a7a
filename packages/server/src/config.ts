import type { KeyOptions } from "./auth/index.ts";
import { DEFAULT_LIMITS, type Limits } from "./engine/index.ts";
import type { Storage } from "./storage/storage.ts";
import type { AgentOptions } from "./upstream/index.ts";
import type { WebhookOptions } from "./webhooks/index.ts";
import type { SocketLimits } from "./ws/index.ts";

/** How a server is set up. Only the storage is required. */
export interface ServerOptions extends Omit<KeyOptions, "secret"> {
  /** Stays open when the server closes. */
  readonly storage: Storage;
  /**
   * What the server signs tokens with, at least 32 bytes: those of attempts, and all where nobody else does. Without
   * one, a secret of this process is made up, whose tokens end with it.
   */
  readonly secret?: Uint8Array;
  /**
   * The Ed25519 key that checkpoints of the audit are signed with: a private key, as PEM. Default: one that is derived
   * from the secret.
   */
  readonly auditKey?: string;
  /** Public keys that signed them before, as {@link Server.auditKey} gave them. */
  readonly formerAuditKeys?: readonly string[];
  /**
   * Development: anybody gets a token under a name they choose, and only loopback is listened on. Default: nothing was
   * given that tokens are checked with.
   */
  readonly dev?: boolean;
  /** Origins such as `https://app.example` whose pages may use the server, beside its own. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** The agent of a session that names none. Default `default`. */
  readonly defaultAgent?: string;
  /** How long an attempt may be silent before it is lost, in milliseconds. Default 30 000. */
  readonly leaseMs?: number;
  /** The same for an explicit claim of a call. Default 30 000. */
  readonly claimLeaseMs?: number;
  /** How often holders are told to say that they are alive, in milliseconds. Default: a third of the lease. */
  readonly heartbeatMs?: number;
  /** How often a silent stream says that it is alive, in milliseconds. Default 15 000. */
  readonly sseHeartbeatMs?: number;
  /** How long a commit waits for company, in milliseconds. Default 0: while another is in flight. */
  readonly coalesceMs?: number;
  /** What is taken of one thing and from one principal; what is not named has its default. */
  readonly limits?: Partial<Limits> | undefined;
  /** How long a request may take to arrive, in milliseconds; then its connection is cut. Default 30 000. */
  readonly requestMs?: number;
  /** How far a stream's reader may fall behind before it is closed, in characters of frames. Default 1 MiB. */
  readonly subscriberBytes?: number;
  /** Bounds of one WebSocket. */
  readonly socketLimits?: Partial<SocketLimits>;
  /** How many sessions stay loaded when nothing happens in them. Default 1 000. */
  readonly maxLoaded?: number;
  /** Agents that are AG-UI endpoints, by name: the server works on their runs. No token and no session can change it. */
  readonly agents?: Readonly<Record<string, AgentOptions>>;
  /** Whom the server tells of work and of calls that wait. No token and no session can change it. */
  readonly webhooks?: WebhookOptions;
  /** A directory with an `index.html` and `assets/`, served at `/`. */
  readonly pages?: string;
  /** Runs something once, later; the result takes it back. Default: the platform's timers. */
  readonly schedule?: (ms: number, run: () => void) => () => void;
  /** Hears of failures that no answer tells. Default: standard error. */
  readonly log?: (message: string, error: unknown) => void;
}

export const DEFAULTS = {
  defaultAgent: "default",
  requestMs: 30_000,
  corsOrigins: [],
  leaseMs: 30_000,
  claimLeaseMs: 30_000,
  sseHeartbeatMs: 15_000,
  coalesceMs: 0,
  limits: DEFAULT_LIMITS,
  subscriberBytes: 1 << 20,
  maxLoaded: 1000,
  schedule: platformTimer,
  log: (message: string, error: unknown) => console.error(message, error),
} as const;

/** A timer that does not keep the process alive. */
function platformTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
