import { HoldfastError, reject } from "@holdfast/protocol";
import type { Limits } from "./limits.ts";

/** How long a reader that was turned away is told to wait, in milliseconds. */
const RETRY_MS = 5_000;

/** Counts the readers that follow sessions or the inbox, by session and by principal. */
export class Subscribers {
  readonly #limits: Limits;
  readonly #counts = new Map<string, number>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /**
   * Takes one more reader: of a session, or without one of the inbox. One without a principal is counted by its session
   * alone.
   *
   * @returns what says that it left; may be called again
   * @throws HoldfastError `too_many_requests` where there are as many as there may be
   */
  admit(session: string | undefined, principal: string | undefined): () => void {
    const { subscribersPerSession, subscribersPerPrincipal } = this.#limits;
    const places = [
      ...(session === undefined
        ? []
        : [{ key: `session ${session}`, limit: subscribersPerSession, of: "This session" }]),
      ...(principal === undefined
        ? []
        : [{ key: `principal ${principal}`, limit: subscribersPerPrincipal, of: principal }]),
    ];
    for (const { key, limit, of } of places) {
      const value = this.#counts.get(key) ?? 0;
      if (value >= limit) throw tooMany(of, limit, value);
    }
    for (const { key } of places) this.#add(key, 1);
    let left = false;
    return () => {
      if (!left) for (const { key } of places) this.#add(key, -1);
      left = true;
    };
  }

  #add(key: string, more: 1 | -1): void {
    const count = (this.#counts.get(key) ?? 0) + more;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}

/** The generator's own values; `release` is called when it ends, however that is. */
export function releasing<T>(
  source: AsyncGenerator<T, void, void>,
  release: () => void,
): AsyncGenerator<T, void, void> {
  // A generator that was never begun runs no `finally`, so that one around it would not do.
  const ending = async (step: Promise<IteratorResult<T, void>>) => {
    try {
      const result = await step;
      if (result.done) release();
      return result;
    } catch (error) {
      release();
      throw error;
    }
  };
  return {
    next: () => ending(source.next()),
    return: () => ending(source.return()),
    throw: (error: unknown) => ending(source.throw(error)),
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await this.return();
    },
  };
}

function tooMany(of: string, limit: number, value: number): HoldfastError {
  const message = `${of} has ${value} readers, and may have ${limit}: close one, or come again later.`;
  const details = { limit, value, retryAfterMs: RETRY_MS };
  return new HoldfastError(reject("too_many_requests", message, details));
}
