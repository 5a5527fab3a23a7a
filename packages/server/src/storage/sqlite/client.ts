import { resolve as resolvePath } from "node:path";
import { Worker } from "node:worker_threads";
import { StorageError } from "../storage.ts";
import { fromSent } from "./errors.ts";
import type { FromWorker, Request, Results, ToWorker } from "./messages.ts";

/** The worker that owns a directory, as seen from outside. */
export interface Client {
  /** Asks the worker; answers come in the order of the calls. @throws StorageError as the worker met it. */
  call<T extends Request>(request: T): Promise<Results[T["type"]]>;
  /** Closes the directory after all that was asked before. Safe to repeat. */
  close(): Promise<void>;
  /** The thread itself, so that tests can end it. */
  readonly worker: Worker;
}

/**
 * Starts a worker on a directory.
 *
 * @throws StorageError `in_use`, `other_version` or `damaged`, with nothing on disk changed; `failed` otherwise.
 */
export async function startClient(directory: string): Promise<Client> {
  // Sources run as they are, the build as JavaScript.
  const file = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js";
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: { directory: resolvePath(directory) },
    // None of the process's own flags: a test runner's would load its hooks here as well.
    execArgv: [],
  });
  const pending = new Map<number, Pending>();
  let ended: StorageError | undefined;
  let closing: Promise<void> | undefined;
  let lastId = 0;

  const exited = new Promise<void>((resolve) => {
    worker.once("exit", (code) => {
      fail(`its worker ended with code ${code}`);
      resolve();
    });
  });
  worker.once("error", (cause) => fail("its worker failed", cause));
  worker.on("messageerror", (cause) => fail("an answer of its worker could not be read", cause));
  worker.on("message", (message: FromWorker) => {
    const entry = pending.get(message.id);
    pending.delete(message.id);
    if ("error" in message) entry?.reject(fromSent(message.error));
    else entry?.resolve(message.value);
  });

  function fail(what: string, cause?: unknown): void {
    ended ??= new StorageError("failed", `The storage in ${directory} failed: ${what}. Restart.`, {
      cause,
    });
    for (const entry of pending.values()) entry.reject(ended);
    pending.clear();
  }

  async function close(): Promise<void> {
    try {
      if (!ended) await call({ type: "close" });
    } finally {
      await exited;
    }
  }

  function call<T extends Request>(request: T): Promise<Results[T["type"]]> {
    if (ended) return Promise.reject(ended);
    return new Promise((resolve, reject) => {
      const id = (lastId += 1);
      worker.postMessage({ id, request } satisfies ToWorker);
      // The worker answers each request with its own result, which is what `Results` lists.
      pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
    });
  }

  await new Promise<unknown>((resolve, reject) => pending.set(0, { resolve, reject }));
  return { call, close: () => (closing ??= close()), worker };
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: StorageError) => void;
}
