import { HoldfastError, reject } from "@holdfast/protocol";

/** How much of something is taken: `burst` of it at once, and `perSecond` more in the long run. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/** How many keys are counted; beyond, those that were counted longest are forgotten. */
const MOST_KEYS = 10_000;

/** Token buckets, one per key. */
export class Rates {
  readonly #what: string;
  readonly #rate: Rate;
  readonly #now: () => number;
  /** When nothing will be owed any more for a key, Unix milliseconds. */
  readonly #paidAt = new Map<string, number>();

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
    const paidAt = Math.max(this.#paidAt.get(key) ?? 0, now);
    const early = paidAt - now - (burst - 1) * each;
    if (early > 0) return this.#refusal(count, Math.ceil(early));
    this.#paidAt.delete(key);
    this.#paidAt.set(key, paidAt + count * each);
    if (this.#paidAt.size > MOST_KEYS) {
      for (const oldest of this.#paidAt.keys()) {
        this.#paidAt.delete(oldest);
        break;
      }
    }
    return undefined;
  }

  #refusal(value: number, retryAfterMs: number): HoldfastError {
    const { perSecond } = this.#rate;
    const message = `There may be ${perSecond} ${this.#what} a second in the long run, and there were more: send the same again in ${retryAfterMs} ms.`;
    return new HoldfastError(
      reject("too_many_requests", message, { limit: perSecond, value, retryAfterMs }),
    );
  }
}
