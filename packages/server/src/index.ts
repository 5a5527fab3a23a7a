export type { ServerOptions } from "./config.ts";
export { createServer } from "./server.ts";
export type { Server } from "./server.ts";
export { memoryStorage } from "./storage/memory.ts";
export { openSqlite } from "./storage/sqlite/open.ts";
export type { WebhookOptions, WebhookTarget } from "./webhooks/index.ts";
export { StorageConflict, StorageError } from "./storage/storage.ts";
export type {
  Batch,
  Commit,
  Due,
  DueChange,
  DueQuery,
  Row,
  RowChange,
  SessionHead,
  Storage,
} from "./storage/storage.ts";
