import type { Timing } from "../../src/wire/index.ts";

/** A clock that stands until it is told to go on. */
export function manualTiming(random = () => 1) {
  let now = 1_000_000;
  const sleepers = new Set<{ at: number; wake: () => void }>();
  const timing: Timing = {
    now: () => now,
    random,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = {
          at: now + ms,
          wake() {
            sleepers.delete(sleeper);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      });
    },
  };
  return {
    timing,
    /** Lets time pass and everything that was due happen, in order. */
    pass: async (ms: number): Promise<void> => {
      const until = now + ms;
      for (;;) {
        await settle();
        const next = [...sleepers].sort((a, b) => a.at - b.at)[0];
        if (!next || next.at > until) break;
        now = next.at;
        next.wake();
      }
      now = until;
      await settle();
    },
    /** When each sleeper wakes, from now. */
    get sleeping(): number[] {
      return [...sleepers].map(({ at }) => at - now).sort((a, b) => a - b);
    },
  };
}

/** Lets everything run that needs no time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
