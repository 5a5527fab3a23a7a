import { StorageError } from "../storage.ts";
import type { SentError } from "./messages.ts";

/** Primary result codes of SQLite, https://sqlite.org/rescode.html */
const CODES = { busy: 5, ioerr: 10, corrupt: 11, notadb: 26 } as const;

/** Whether SQLite found a lock taken. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === CODES.busy;
}

/** Whether the disk failed, so that nobody can say what of the last write it holds. */
export function isDiskFailure(error: unknown): boolean {
  return codeOf(error) === CODES.ioerr;
}

/** Whether SQLite found the file broken. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error);
  return code === CODES.corrupt || code === CODES.notadb;
}

/** The storage's own word for any error met in the worker. */
export function asStorageError(error: unknown, directory: string): StorageError {
  if (error instanceof StorageError) return error;
  if (isDamage(error)) return damaged(directory, messageOf(error), error);
  return new StorageError("failed", `SQLite in ${directory} failed: ${messageOf(error)}`, {
    cause: error,
  });
}

/** The error for a directory whose content cannot be what Holdfast wrote. */
export function damaged(directory: string, what: string, cause?: unknown): StorageError {
  return new StorageError(
    "damaged",
    `The data in ${directory} is damaged: ${what}. Restore it from a backup, or name another directory.`,
    { cause },
  );
}

/** Makes an error ready for the way between threads. */
export function toSent(error: StorageError): SentError {
  return { reason: error.reason, message: error.message, cause: error.cause };
}

/** Rebuilds an error on the other side. */
export function fromSent(sent: SentError): StorageError {
  return new StorageError(sent.reason, sent.message, { cause: sent.cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  // Extended codes keep the primary one in their low byte.
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}
