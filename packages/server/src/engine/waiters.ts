/** Somebody's place in the queue of one agent's workers. */
export interface Place {
  /** True when there may be work; false when the wait is over. To be asked again after each true. */
  called(): Promise<boolean>;
  /**
   * Gives the place up, with work of a session where some was found. Calls that came and were not looked into, and
   * those to other work than was found, go to the next.
   */
  leave(taken?: string): void;
}

/** Workers that wait for work, by agent, in the order they came. A call wakes one of them. */
export class Waiters {
  readonly #schedule: (ms: number, run: () => void) => () => void;
  readonly #byAgent = new Map<string, Set<Seat>>();
  #closed = false;

  constructor(schedule: (ms: number, run: () => void) => () => void) {
    this.#schedule = schedule;
  }

  /**
   * Joins before looking for work, so that what becomes ready in between is not missed. Only work in sessions that
   * `may` says yes to is called out to it.
   */
  join(
    agent: string,
    waitMs: number,
    may: (session: string) => boolean,
    signal?: AbortSignal,
  ): Place {
    const seats = this.#byAgent.get(agent) ?? new Set();
    this.#byAgent.set(agent, seats);
    const seat = new Seat(may);
    seats.add(seat);
    const over = () => {
      seats.delete(seat);
      seat.end();
    };
    const cancel = this.#schedule(waitMs, over);
    signal?.addEventListener("abort", over);
    if (this.#closed || signal?.aborted) over();
    return {
      called: () => seat.called(),
      leave: (taken) => {
        cancel();
        signal?.removeEventListener("abort", over);
        seats.delete(seat);
        for (const session of seat.left(taken)) this.call(agent, session);
        if (seats.size === 0 && this.#byAgent.get(agent) === seats) this.#byAgent.delete(agent);
      },
    };
  }

  /** Wakes the first who may work in the session and has not been woken yet. */
  call(agent: string, session: string): void {
    for (const seat of this.#byAgent.get(agent) ?? []) {
      if (seat.calls.size > 0 || !seat.may(session)) continue;
      seat.call(session);
      return;
    }
  }

  /** Ends every wait, and those to come. */
  close(): void {
    this.#closed = true;
    for (const seats of this.#byAgent.values()) {
      for (const seat of seats) seat.end();
      seats.clear();
    }
  }
}

class Seat {
  readonly may: (session: string) => boolean;
  /** Where work came up that it has not looked into yet. */
  readonly calls = new Set<string>();
  /** Where work came up for which it looked last. */
  #heard: readonly string[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(may: (session: string) => boolean) {
    this.may = may;
  }

  call(session: string): void {
    this.calls.add(session);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async called(): Promise<boolean> {
    if (this.calls.size === 0 && !this.#ended)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#ended) return false;
    this.#heard = [...this.calls];
    this.calls.clear();
    return true;
  }

  /** The calls that it did not answer by taking work of a session, or none. */
  left(taken: string | undefined): Set<string> {
    const left = new Set(this.calls);
    if (taken !== undefined) {
      for (const session of this.#heard) if (session !== taken) left.add(session);
    }
    return left;
  }
}
