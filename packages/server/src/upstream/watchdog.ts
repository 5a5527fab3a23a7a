/** Calls `bark` once nothing was heard for `ms`. Costs one timer, however often it is fed. */
export class Watchdog {
  readonly #context: WatchdogContext;
  #heardAt: number;
  #cancel: () => void;

  constructor(context: WatchdogContext) {
    this.#context = context;
    this.#heardAt = context.now();
    this.#cancel = context.schedule(context.ms, () => this.#look());
  }

  feed(): void {
    this.#heardAt = this.#context.now();
  }

  stop(): void {
    this.#cancel();
  }

  #look(): void {
    const { now, schedule, ms, bark } = this.#context;
    const left = this.#heardAt + ms - now();
    if (left <= 0) bark();
    else this.#cancel = schedule(left, () => this.#look());
  }
}

export interface WatchdogContext {
  readonly ms: number;
  readonly bark: () => void;
  readonly now: () => number;
  readonly schedule: (ms: number, run: () => void) => () => void;
}
