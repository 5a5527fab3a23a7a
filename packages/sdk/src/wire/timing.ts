/** Clock, chance and patience, passed in so that tests own them. */
export interface Timing {
  /** Unix milliseconds. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** Resolves after `ms`; rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemTiming: Timing = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, ms);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", stop, { once: true });
    });
  },
};

/** How long to wait between tries: up to `baseMs`, doubling with each failure in a row, never above `maxMs`. */
export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

export const DEFAULT_BACKOFF: Backoff = { baseMs: 500, maxMs: 15_000 };

/** Exponential with full jitter, so that clients cut off together do not come back together. @param failures from 1 */
export function backoffMs(timing: Timing, failures: number, { baseMs, maxMs }: Backoff): number {
  return timing.random() * Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, 30));
}

/** What machines wait between tries. */
export const WORKER_BACKOFF: Backoff = { baseMs: 100, maxMs: 3_000 };

/** A controller that is aborted when `signal` is; `unlink` lets go of the signal. */
export function linkedController(signal: AbortSignal | undefined): {
  readonly controller: AbortController;
  readonly unlink: () => void;
} {
  const controller = new AbortController();
  if (!signal) return { controller, unlink: () => {} };
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return { controller, unlink: () => signal.removeEventListener("abort", abort) };
}

/** Calls `late` after `ms` unless stopped before. */
export function deadline(timing: Timing, ms: number, late: () => void): { stop(): void } {
  const stopped = new AbortController();
  timing.sleep(ms, stopped.signal).then(late, () => {});
  return { stop: () => stopped.abort() };
}
