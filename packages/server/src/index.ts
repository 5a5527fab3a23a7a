export { auditKey } from "./audit/key.ts";
export type { AuditKey } from "./audit/key.ts";
export { linesOf } from "./audit/lines.ts";
export { verifyAudit } from "./audit/verify.ts";
export type { ActLine, AuditFinding, AuditHeader, AuditLine, RefusalLine } from "./audit/verify.ts";
export type { Checkpoint } from "./audit/checkpoint.ts";
export { mintToken } from "./auth/index.ts";
export type { Grant, MintOptions, Revocation, Revoked, Verb } from "./auth/index.ts";
export type { ServerOptions } from "./config.ts";
export type { Limits, Rate } from "./engine/index.ts";
export { createServer } from "./server.ts";
export type { Server } from "./server.ts";
export { memoryStorage } from "./storage/memory.ts";
export { openSqlite } from "./storage/sqlite/open.ts";
export { AUDIT_KEPT, StorageConflict, StorageError } from "./storage/storage.ts";
export type { AgentOptions } from "./upstream/index.ts";
export type { WebhookOptions, WebhookTarget } from "./webhooks/index.ts";
export type {
  AuditAddition,
  AuditKind,
  AuditRow,
  Batch,
  Commit,
  Due,
  DueChange,
  DueQuery,
  Erasure,
  FindQuery,
  FoundRow,
  FoundRows,
  Row,
  RowChange,
  SessionHead,
  Storage,
  TagChange,
} from "./storage/storage.ts";
