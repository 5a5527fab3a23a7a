/** Somebody's place in the queue of one agent's workers. */
export interface Place {
  /** True when there may be work; false when the wait is over. To be asked again after each true. */
  called(): Promise<boolean>;
  /** Gives the place up; a call that came and was not looked into goes to the next. */
  leave(): void;
}

/** Workers that wait for work, by agent, in the order they came. A call wakes one of them. */
export class Waiters {
  readonly #schedule: (ms: number, run: () => void) => () => void;
  readonly #byAgent = new Map<string, Set<Seat>>();
  #closed = false;

  constructor(schedule: (ms: number, run: () => void) => () => void) {
    this.#schedule = schedule;
  }

  /** Joins before looking for work, so that what becomes ready in between is not missed. */
  join(agent: string, waitMs: number, signal?: AbortSignal): Place {
    const seats = this.#byAgent.get(agent) ?? new Set();
    this.#byAgent.set(agent, seats);
    const seat = new Seat();
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
      leave: () => {
        cancel();
        signal?.removeEventListener("abort", over);
        seats.delete(seat);
        if (seat.isCalled) this.call(agent);
        if (seats.size === 0 && this.#byAgent.get(agent) === seats) this.#byAgent.delete(agent);
      },
    };
  }

  /** Wakes the first who has not been woken yet. */
  call(agent: string): void {
    for (const seat of this.#byAgent.get(agent) ?? []) {
      if (seat.isCalled) continue;
      seat.call();
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
  isCalled = false;
  #ended = false;
  #wake: (() => void) | undefined;

  call(): void {
    this.isCalled = true;
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async called(): Promise<boolean> {
    if (!this.isCalled && !this.#ended)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#ended) return false;
    this.isCalled = false;
    return true;
  }
}
