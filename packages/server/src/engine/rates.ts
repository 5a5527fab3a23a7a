import { HoldfastError, reject } from "@holdfast/protocol";

/** How much of something is taken: `burst` of it at once, and `perSecond` more in the long run. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/** How many keys are counted; beyond, those that owe nothing are forgotten, and else those that came first. */
const MOST_KEYS = 10_000;

/** What is owed for a key: nothing any more at `paidAt`, Unix milliseconds. Changes in place. */
interface Owed {
  paidAt: number;
}

/** Token buckets, one per key. */
export class Rates {
  readonly #what: string;
  readonly #rate: Rate;
  readonly #now: () => number;
  readonly #owed = new Map<string, Owed>();

  /** @param what is counted, for words. @param now Unix milliseconds */
  constructor(what: string, rate: Rate, now: () => number) {
    this.#what = what;
    this.#rate = rate;
    this.#now = now;
  }

  /**
   * Takes `count` for a key, all or nothing, while anything is left: what is more than that is owed, and kept from what
   * comes next. So a batch of any size is taken at some time.
   *
   * @returns undefined, or `too_many_requests` with the rate as `limit`, what was asked for as `value`, and when to come
   *   again
   */
  refuse(key: string, count: number): HoldfastError | undefined {
    const { burst, perSecond } = this.#rate;
    const each = 1000 / perSecond;
    const now = this.#now();
    const known = this.#owed.get(key);
    const paidAt = Math.max(known?.paidAt ?? 0, now);
    const early = paidAt - now - (burst - 1) * each;
    if (early > 0) return this.#refusal(count, Math.ceil(early));
    if (known) known.paidAt = paidAt + count * each;
    else this.#begin(key, { paidAt: paidAt + count * each }, now);
    return undefined;
  }

  #begin(key: string, owed: Owed, now: number): void {
    if (this.#owed.size >= MOST_KEYS) this.#forget(now);
    this.#owed.set(key, owed);
  }

  /** Forgets enough for many more keys, so that it need not look through all of them for each. */
  #forget(now: number): void {
    for (const [key, { paidAt }] of this.#owed) if (paidAt <= now) this.#owed.delete(key);
    for (const key of this.#owed.keys()) {
      if (this.#owed.size <= MOST_KEYS * 0.9) return;
      this.#owed.delete(key);
    }
  }

  #refusal(value: number, retryAfterMs: number): HoldfastError {
    const { perSecond } = this.#rate;
    const message = `There may be ${perSecond} ${this.#what} a second in the long run, and there were more: send the same again in ${retryAfterMs} ms.`;
    return new HoldfastError(
      reject("too_many_requests", message, { limit: perSecond, value, retryAfterMs }),
    );
  }
}
