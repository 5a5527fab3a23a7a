import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { Change, Outcome } from "../group.ts";
import { StorageError } from "../storage.ts";
import { createBatches } from "./batches.ts";
import { connect, type Connection } from "./connect.ts";
import { asStorageError, isDiskFailure, toSent } from "./errors.ts";
import type {
  Request,
  FromWorker,
  Question,
  Results,
  SentOutcome,
  ToWorker,
  Write,
} from "./messages.ts";
import { unpack } from "./pack.ts";
import { createReader } from "./read.ts";
import { createFinder } from "./tags.ts";
import { createWriter } from "./write.ts";

// The thread that owns a directory's database. It answers in order, and ends when it is asked to close.
const port = parentPort;
if (!port) throw new Error("This file runs as a worker thread only; call openSqlite.");
const directory: string = workerData.directory;
const send = (message: FromWorker): void => port.postMessage(message);
const asError = (error: unknown): StorageError => asStorageError(error, directory);

/** How long after the last deletion its text leaves the write-ahead log too, in milliseconds: many deletions share one turn. */
const TRUNCATE_MS = 1_000;

try {
  serve(connect(directory));
  send({ id: 0, value: undefined });
} catch (error) {
  send({ id: 0, error: toSent(asError(error)) });
  port.close();
}

function serve(connection: Connection): void {
  const { database } = connection;
  const batches = createBatches(database);
  const reader = createReader(database, batches);
  const find = createFinder(database);
  const writer = createWriter(database, batches, asError);
  let dead: StorageError | undefined;
  let purging = false;
  /** Sessions were deleted whose text the write-ahead log may still have; so it may when a crash came before. */
  let deleted = true;
  let truncating: NodeJS.Timeout | undefined;

  port?.on("message", (message: ToWorker) => {
    const { groups, question } = withNext(message);
    if (groups.length > 0) writeTogether(groups);
    if (question) answerOne(question);
    if (question?.request.type === "close") port?.close();
    else if (!purging) purge();
  });
  purge();

  function answerOne({ id, request }: Asked<Question>): void {
    try {
      if (dead && request.type !== "close") throw dead;
      send({ id, value: answer(request) });
    } catch (error) {
      send({ id, error: toSent(asError(error)) });
    }
  }

  function answer(request: Question): Results[Question["type"]] {
    switch (request.type) {
      case "rows":
        return reader.rows(request.session);
      case "entries":
        return reader.entries(request.session, request.after, request.maxBytes);
      case "due":
        return reader.due(request.query);
      case "find":
        return find(request.query);
      case "sessions":
        return reader.sessions(request.after, request.limit);
      case "audit":
        return reader.audit(request.session, request.query);
      case "pragmas":
        return {
          synchronous: Number(database.prepare("pragma synchronous").get()?.["synchronous"]),
          journalMode: String(database.prepare("pragma journal_mode").get()?.["journal_mode"]),
        };
      case "close":
        dead = new StorageError("closed", "The storage is closed.");
        clearTimeout(truncating);
        connection.close();
        return undefined;
    }
  }

  /** One commit for several groups: they share its way to the disk. */
  function writeTogether(groups: readonly Asked<Write>[]): void {
    try {
      if (dead) throw dead;
      const unpacked = groups.map(({ request }) => unpack(request.changes));
      const outcomes = write(unpacked.flat());
      let at = 0;
      for (const [index, { id }] of groups.entries()) {
        const own = outcomes.slice(at, (at += unpacked[index]?.length ?? 0));
        send({ id, value: own.map(toSentOutcome) });
      }
    } catch (error) {
      const sent = toSent(asError(error));
      for (const { id } of groups) send({ id, error: sent });
    }
  }

  function write(changes: readonly Change[]): readonly Outcome[] {
    try {
      const outcomes = writer.write(changes);
      if (changes.some(({ type }) => type === "delete")) deleted = true;
      if (changes.some(({ type }) => type === "erase")) truncate();
      return outcomes;
    } catch (error) {
      throw isDiskFailure(error) ? die(error) : error;
    }
  }

  /** After a commit: what is durable and cannot be kept as it was promised leaves nothing to go on with. */
  function truncate(): void {
    try {
      connection.truncate();
    } catch (error) {
      throw die(error);
    }
  }

  /** What was deleted is in no file any more. */
  function truncateSoon(): void {
    if (!deleted || truncating) return;
    truncating = setTimeout(() => {
      truncating = undefined;
      if (dead || purging) return;
      try {
        connection.truncate();
        deleted = false;
      } catch (error) {
        if (isDiskFailure(error)) die(error);
      }
    }, TRUNCATE_MS);
  }

  /** After a failed write, what the disk holds is known to nobody: the log is read anew by who opens it next. */
  function die(cause: unknown): StorageError {
    dead = new StorageError(
      "failed",
      `The disk under ${directory} failed while it was written to; what it holds shows when it is opened again. ` +
        `Check the disk, then restart.`,
      { cause },
    );
    return dead;
  }

  /** Removes what deleted sessions left, a piece at a time, between the requests. */
  function purge(): void {
    try {
      purging = dead === undefined && writer.purge();
    } catch (error) {
      // Tried again with the next request, or when it is opened next: nothing can reach what is left.
      purging = false;
      if (isDiskFailure(error)) die(error);
      return;
    }
    if (purging) setImmediate(purge);
    else truncateSoon();
  }
}

interface Asked<R extends Request> {
  readonly id: number;
  readonly request: R;
}

/** A request with what waits behind it: all groups up to the first question. */
function withNext(first: ToWorker): { groups: Asked<Write>[]; question?: Asked<Question> } {
  const groups: Asked<Write>[] = [];
  let next: ToWorker | undefined = first;
  while (next) {
    const { id, request }: ToWorker = next;
    if (request.type !== "write") return { groups, question: { id, request } };
    groups.push({ id, request });
    next = port && receiveMessageOnPort(port)?.message;
  }
  return { groups };
}

function toSentOutcome(outcome: Outcome): SentOutcome {
  if (outcome.type === "done") return null;
  return outcome.type === "failed" ? { type: "failed", error: toSent(outcome.error) } : outcome;
}
