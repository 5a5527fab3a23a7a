import type {
  AuditQuery,
  AuditRow,
  Batch,
  Due,
  DueQuery,
  FindQuery,
  FoundRows,
  Row,
  SessionHead,
  StorageError,
} from "../storage.ts";
import type { Packed } from "./pack.ts";

/** What the worker can be asked. It answers in order. */
export type Request = Write | Question;

/** A group. Those that wait behind each other are written together. */
export interface Write {
  readonly type: "write";
  readonly changes: Packed;
}

export type Question =
  | { readonly type: "rows"; readonly session: string }
  | {
      readonly type: "entries";
      readonly session: string;
      readonly after: string;
      readonly maxBytes: number;
    }
  | { readonly type: "due"; readonly query: DueQuery }
  | { readonly type: "find"; readonly query: FindQuery }
  | { readonly type: "sessions"; readonly after: string | undefined; readonly limit: number }
  | {
      readonly type: "audit";
      readonly session: string;
      readonly query: AuditQuery;
    }
  /** The settings of the connection that writes, as SQLite reports them. */
  | { readonly type: "pragmas" }
  /** Checkpoints, closes and frees the directory; the last request. */
  | { readonly type: "close" };

/** What each request is answered with. */
export interface Results {
  readonly write: readonly SentOutcome[];
  readonly rows: { readonly head: string; readonly rows: readonly Row[] } | undefined;
  readonly entries: readonly Batch[];
  readonly due: readonly Due[];
  readonly find: FoundRows;
  readonly sessions: readonly SessionHead[];
  readonly audit: readonly AuditRow[];
  readonly pragmas: { readonly synchronous: number; readonly journalMode: string };
  readonly close: undefined;
}

/** An outcome on its way between threads; see `Outcome`. Null, which costs nothing to copy, is `done`. */
export type SentOutcome =
  | null
  | { readonly type: "conflict"; readonly head: string | null }
  | { readonly type: "failed"; readonly error: SentError };

/** A StorageError on its way between threads, which would strip its class. */
export interface SentError {
  readonly reason: StorageError["reason"];
  readonly message: string;
  readonly cause?: unknown;
}

export interface ToWorker {
  readonly id: number;
  readonly request: Request;
}

/** The first message, with id 0, tells whether the directory was opened. */
export type FromWorker =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SentError };
