import { groupChanges, type Outcome } from "../group.ts";
import type { Storage } from "../storage.ts";
import { type Client, startClient } from "./client.ts";
import { fromSent } from "./errors.ts";
import type { SentOutcome } from "./messages.ts";
import { pack } from "./pack.ts";

/**
 * Opens the storage kept in a directory, which is made if need be: an SQLite database in a worker thread of its own.
 *
 * While one commit is on its way to the disk, all that arrive are collected, and the next transaction takes them all;
 * each is on the disk (WAL, `synchronous = FULL`) before it resolves. One storage holds the directory until it is
 * closed, or until the process ends, by `kill -9` too.
 *
 * @param options.now the clock, Unix milliseconds; the system's by default.
 * @throws StorageError `in_use`, `other_version` or `damaged`, with every file in the directory left as it was.
 */
export async function openSqlite(options: {
  readonly directory: string;
  readonly now?: () => number;
}): Promise<Storage> {
  return sqliteStorage(await startClient(options.directory), options.now ?? Date.now);
}

/** The storage over a worker that was started. */
export function sqliteStorage(client: Client, now: () => number): Storage {
  const { check, close, ...writes } = groupChanges(
    async (changes) =>
      (await client.call({ type: "write", changes: pack(changes) })).map(toOutcome),
    () => client.close(),
  );

  return {
    ...writes,
    async rows(session) {
      check();
      return session.isWellFormed() ? client.call({ type: "rows", session }) : undefined;
    },
    async entries(session, after, maxBytes) {
      check();
      if (!session.isWellFormed()) return [];
      return client.call({ type: "entries", session, after, maxBytes });
    },
    async due(query) {
      check();
      return client.call({ type: "due", query });
    },
    async find(query) {
      check();
      return client.call({ type: "find", query });
    },
    async sessions({ after, limit }) {
      check();
      return client.call({ type: "sessions", after, limit });
    },
    async audit(session, query) {
      check();
      return session.isWellFormed() ? client.call({ type: "audit", session, query }) : [];
    },
    now,
    [Symbol.asyncDispose]: close,
  };
}

const done: Outcome = { type: "done" };

function toOutcome(outcome: SentOutcome): Outcome {
  if (outcome === null) return done;
  return outcome.type === "failed" ? { type: "failed", error: fromSent(outcome.error) } : outcome;
}
