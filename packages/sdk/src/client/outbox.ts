import { HoldfastError, type Command, type Verdict } from "@holdfast/protocol";
import {
  backoffMs,
  isTransient,
  linkedController,
  postCommands,
  type Transport,
} from "../wire/index.ts";

/**
 * Commands on their way to one session, in the order they were given. While the server cannot be reached they wait and
 * are sent again under the same ids, so each takes effect once.
 */
export interface Outbox {
  /**
   * Queues a command and resolves with its verdict, applied.
   *
   * @throws {HoldfastError} the rejection, its verdict as `cause`; `overloaded` when too many wait; what the server
   * said of the whole request; `closed`. The signal's reason when aborted: a command that was under way then may
   * still take effect
   */
  submit(command: Command, signal?: AbortSignal): Promise<Verdict>;
  /** How many have no verdict yet. */
  readonly size: number;
  /** Begins to send; until then commands wait. */
  start(): void;
  /** Ends a wait between tries: the server seems to be back. */
  kick(): void;
  /** Refuses what waits and what comes. */
  close(error: HoldfastError): void;
}

interface Waiting {
  readonly json: string;
  /** False once nobody waits for it. */
  wanted: boolean;
  resolve(verdict: Verdict): void;
  reject(error: unknown): void;
}

const BATCH = 32;

export function createOutbox(transport: Transport, session: string, limit: number): Outbox {
  const queue: Waiting[] = [];
  const closing = new AbortController();
  let closed: HoldfastError | undefined;
  let started = false;
  let pumping = false;
  let kicked = () => {};

  async function pump(): Promise<void> {
    if (pumping || !started) return;
    pumping = true;
    let failures = 0;
    let alone = 0;
    while (!closed) {
      for (let at = queue.length - 1; at >= 0; at -= 1) if (!queue[at]?.wanted) queue.splice(at, 1);
      const batch = queue.slice(0, alone > 0 ? 1 : BATCH);
      if (batch.length === 0) break;
      alone -= 1;
      try {
        const texts = batch.map((waiting) => waiting.json);
        const verdicts = await postCommands(transport, session, texts, closing.signal);
        failures = 0;
        queue.splice(0, batch.length);
        batch.forEach((waiting, at) => {
          const verdict = verdicts[at];
          if (verdict?.error) waiting.reject(new HoldfastError(verdict.error, { cause: verdict }));
          else if (verdict) waiting.resolve(verdict);
        });
      } catch (error) {
        if (closed) break;
        if (isTransient(error)) {
          failures += 1;
          await pause(backoffMs(transport.timing, failures, transport.backoff));
        } else if (batch.length > 1 && spoilsBatch(error)) {
          alone = batch.length;
        } else {
          queue.splice(0, batch.length);
          for (const waiting of batch) waiting.reject(error);
        }
      }
    }
    pumping = false;
  }

  async function pause(ms: number): Promise<void> {
    const { controller, unlink } = linkedController(closing.signal);
    kicked = () => controller.abort();
    await transport.timing.sleep(ms, controller.signal).catch(() => {});
    kicked = () => {};
    unlink();
  }

  return {
    get size() {
      return queue.length;
    },
    submit(command, signal) {
      return new Promise((resolve, reject) => {
        if (closed) return reject(closed);
        if (signal?.aborted) return reject(signal.reason);
        if (queue.length >= limit) {
          const message = `${limit} commands wait for the server already: try again when it is back.`;
          return reject(new HoldfastError({ code: "overloaded", message }));
        }
        const done = () => signal?.removeEventListener("abort", abort);
        const waiting: Waiting = {
          // Text from here on: a retry sends the same body, and what is no JSON fails here.
          json: JSON.stringify(command),
          wanted: true,
          resolve: (verdict) => (done(), resolve(verdict)),
          reject: (error) => (done(), reject(error)),
        };
        const abort = () => {
          waiting.wanted = false;
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", abort, { once: true });
        queue.push(waiting);
        void pump();
      });
    },
    start() {
      started = true;
      void pump();
    },
    kick: () => kicked(),
    close(error) {
      if (closed) return;
      closed = error;
      closing.abort(error);
      for (const waiting of queue.splice(0)) waiting.reject(error);
    },
  };
}

/** Whether one command may have brought down those sent with it, so that each should be sent alone. */
function spoilsBatch(error: unknown): boolean {
  return error instanceof HoldfastError && ![401, 403, 404].includes(error.status);
}
