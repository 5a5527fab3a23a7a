import type { AuditKey } from "../audit/key.ts";
import type { Storage } from "../storage/storage.ts";
import type { Terms } from "./due.ts";
import type { IdKind } from "./ids.ts";
import type { Limits } from "./limits.ts";

export interface EngineOptions extends Terms {
  /** Stays open when the engine closes. */
  readonly storage: Storage;
  readonly coalesceMs: number;
  /** The most frame text that waits for one subscriber, in characters. */
  readonly subscriberBytes: number;
  /** How many sessions stay loaded when nothing happens in them. */
  readonly maxLoaded: number;
  readonly limits: Limits;
  /** Runs something once, later, on the storage's clock; the result takes it back. */
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly newId: (kind: IdKind) => string;
  /** What checkpoints of the audit are signed with. */
  readonly auditKey: AuditKey;
  /** Public keys that signed them before. */
  readonly formerAuditKeys?: readonly string[];
  /** Hears of what could not be told to anybody. */
  readonly log: (message: string, error: unknown) => void;
}
