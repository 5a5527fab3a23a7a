import {
  HoldfastError,
  type AgentItem,
  type Offset,
  type Rejection,
  type RunFailure,
  type Verdict,
} from "@holdfast/protocol";
import { submit, type Attempt } from "./attempt.ts";
import type { Batch } from "../wire/index.ts";
import { overBudget } from "./over.ts";
import { insteadOf } from "./oversize.ts";

/** An item the server did not take, and why. */
export interface Refused {
  readonly item: AgentItem;
  readonly error: Rejection;
}

export interface OutboxOptions {
  readonly attempt: Attempt;
  /** Names this appender within the attempt. */
  readonly producer: string;
  /** The step that everything belongs to. */
  readonly step?: { readonly stepId: string; readonly stepAttempt: number };
  /** How many batches the producer has sent already. Default 0. */
  readonly sent?: number;
  /** The most JSON text that one request carries, in characters; one item alone may be longer. Default 256 Ki. */
  readonly batchSize?: number;
  /** How much JSON text may wait before {@link Outbox.room} does, in characters. Default 1 Mi. */
  readonly queueSize?: number;
  readonly onRefused?: (refused: Refused) => void;
}

/**
 * The way from an attempt to the log: everything in order, at most one request under way. What gathers meanwhile goes
 * together in the next one, so that batches grow with the load and a lone item waits for nothing.
 *
 * Nothing is lost and nothing doubled over retries: each batch has its number, and is sent again as it was. When the
 * attempt lapses, what waits is dropped and every promise rejects with the reason.
 */
export interface Outbox {
  /**
   * Takes items at once. The promise is for whoever cares: it resolves when all of them are durable but for the ones
   * it names. Nobody has to handle its rejection.
   */
  push(items: readonly AgentItem[]): Promise<readonly Refused[]>;
  /** Resolves when everything so far is durable or refused. */
  flush(): Promise<void>;
  /** Resolves when there is room for more. */
  room(): Promise<void>;
  /**
   * The last word, after everything so far and, where it is given, once `after` has settled, which must not reject.
   * Nothing can be pushed after it.
   */
  end(word: LastWord, after?: Promise<unknown>): Promise<void>;
  /** The last word was pushed. */
  readonly ended: boolean;
  /** The session's head at the last verdict; undefined before the first. */
  readonly offset: Offset | undefined;
}

export type LastWord =
  | { readonly type: "run.finish" }
  | { readonly type: "run.fail"; readonly error: RunFailure }
  | { readonly type: "run.release" }
  /** Of a step's own outbox. */
  | { readonly type: "step.end" };

interface Queued {
  readonly text: string;
  /** Absent for the last word. */
  readonly item?: AgentItem;
  /** What the last word waits for. */
  readonly after?: Promise<unknown>;
  settle(error?: Rejection): void;
  drop(reason: unknown): void;
}

export function createOutbox(options: OutboxOptions): Outbox {
  const { attempt, producer, step, batchSize = 256 * 1024, queueSize = 1024 * 1024 } = options;
  const { work, signal } = attempt;
  const queue: Queued[] = [];
  const waitingForRoom: (() => void)[] = [];
  let waiting = 0;
  let seq = options.sent ?? 0;
  let pumping = false;
  let last: Promise<unknown> = Promise.resolve();
  /** What stands for an item of the last batch that was refused. */
  let replaced: Promise<void> = Promise.resolve();
  let ended = false;
  let offset: Offset | undefined;

  function enqueue(entries: readonly Queued[]): void {
    for (const entry of entries) {
      waiting += entry.text.length;
      queue.push(entry);
    }
    if (pumping) return;
    pumping = true;
    // A microtask later, so that what is pushed in one go travels together.
    queueMicrotask(() => void pump());
  }

  async function pump(): Promise<void> {
    while (queue.length > 0) {
      const batch = take();
      try {
        await batch[0]?.after;
        await deliver(batch);
      } catch (error) {
        const reason = signal.aborted ? signal.reason : error;
        attempt.lapse(reason instanceof HoldfastError ? reason : broken(reason));
        for (const entry of [...batch, ...queue.splice(0)]) entry.drop(reason);
        waiting = 0;
      }
      if (waiting <= queueSize) for (const go of waitingForRoom.splice(0)) go();
    }
    pumping = false;
  }

  /** The next items that fit in one request, or the last word. */
  function take(): Queued[] {
    let size = 0;
    let count = 0;
    for (const { item, text } of queue) {
      if (count > 0 && (!item || size + text.length > batchSize)) break;
      size += text.length;
      count += 1;
      if (!item) break;
    }
    return queue.splice(0, count);
  }

  async function deliver(batch: readonly Queued[]): Promise<void> {
    const rejection = await send(batch);
    if (!rejection) return;
    // One item that is out of bounds must not take its neighbours down: the number is still free, so send them apart.
    if (!isAboutContent(rejection) || !batch[0]?.item) throw new HoldfastError(rejection);
    if (batch.length === 1) return settle(batch[0], rejection);
    const half = batch.length >> 1;
    await deliver(batch.slice(0, half));
    await deliver(batch.slice(half));
  }

  /** @returns the refusal of the batch as a whole, which is then as if it had never been sent */
  async function send(batch: readonly Queued[]): Promise<Rejection | undefined> {
    let verdict: Verdict;
    try {
      const { text, append } = commandOf(batch);
      verdict = await submit(attempt, text, append);
    } catch (error) {
      if (error instanceof HoldfastError && isAboutContent(error)) return error.toRejection();
      throw error;
    }
    offset = verdict.offset;
    if (verdict.error) return verdict.error;
    seq += 1;
    const skipped = new Map(verdict.skipped?.map(({ index, error }) => [index, error]));
    const over = verdict.ended && overBudget(work.runId, verdict.ended);
    if (over) attempt.lapse(over);
    batch.forEach((entry, index) => {
      const error = skipped.get(index);
      // What came after the item that ended the run was never refused for itself.
      if (over && error?.code === "run_ended") {
        waiting -= entry.text.length;
        entry.drop(over);
      } else settle(entry, error);
    });
    return undefined;
  }

  /** The command's text, and where it is an append, which. */
  function commandOf(batch: readonly Queued[]): { text: string; append?: Batch } {
    const next = seq + 1;
    const { runId, attempt: number } = work;
    const id = `${runId}.${number}.${producer}.${next}`;
    const append = { id, runId, attempt: number, producer, seq: next };
    const fence = JSON.stringify({ ...append, ...step }).slice(0, -1);
    const [first] = batch;
    if (first && !first.item) return { text: `${fence},${first.text.slice(1)}` };
    const items = batch.map(({ text }) => text).join(",");
    return { text: `${fence},"type":"run.append","items":[${items}]}`, append };
  }

  function settle(entry: Queued, error?: Rejection): void {
    waiting -= entry.text.length;
    if (error && entry.item) {
      options.onRefused?.({ item: entry.item, error });
      const item = insteadOf(entry.item, error);
      if (item) {
        return replace(entry, item);
      }
    }
    entry.settle(error);
  }

  function replace(entry: Queued, item: AgentItem): void {
    const text = JSON.stringify(item);
    waiting += text.length;
    const { promise, resolve } = Promise.withResolvers<void>();
    replaced = promise;
    queue.unshift({
      item,
      text,
      settle(error) {
        entry.settle(error);
        resolve();
      },
      drop(reason) {
        entry.drop(reason);
        resolve();
      },
    });
  }

  function track<T>(promise: Promise<T>): Promise<T> {
    promise.catch(() => {}); // whoever cares awaits it
    last = promise;
    return promise;
  }

  return {
    push(items) {
      if (signal.aborted) return track(Promise.reject(signal.reason as Error));
      if (ended) return track(Promise.reject(new HoldfastError(AFTER_THE_END)));
      const refused: Refused[] = [];
      let left = items.length;
      if (left === 0) return Promise.resolve(refused);
      return track(
        new Promise((resolve, reject) => {
          enqueue(
            items.map((item) => ({
              item,
              text: JSON.stringify(item),
              settle(error) {
                if (error) refused.push({ item, error });
                left -= 1;
                if (left === 0) resolve(refused);
              },
              drop: reject,
            })),
          );
        }),
      );
    },
    async flush() {
      await last;
      await replaced;
    },
    room() {
      if (waiting <= queueSize) return Promise.resolve();
      return new Promise((resolve) => waitingForRoom.push(resolve));
    },
    end(word, after) {
      if (signal.aborted) return track(Promise.reject(signal.reason as Error));
      if (ended) return track(Promise.reject(new HoldfastError(AFTER_THE_END)));
      ended = true;
      return track(
        new Promise((resolve, reject) => {
          const text = JSON.stringify(word);
          enqueue([{ text, ...(after && { after }), settle: () => resolve(), drop: reject }]);
        }),
      );
    },
    get ended() {
      return ended;
    },
    get offset() {
      return offset;
    },
  };
}

/** Refusals that are about what a batch holds, not about the attempt. */
function isAboutContent({ code }: { readonly code: Rejection["code"] }): boolean {
  return code === "too_large" || code === "invalid_request";
}

function broken(cause: unknown): HoldfastError {
  return new HoldfastError(
    { code: "internal", message: "The agent's outbox failed: its attempt cannot go on." },
    { cause },
  );
}

const AFTER_THE_END: Rejection = {
  code: "run_ended",
  message: "The agent has finished or failed this attempt: append before that.",
};
