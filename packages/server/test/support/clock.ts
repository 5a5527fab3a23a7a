/** A clock that stands until it is told to go on; what was scheduled runs in order, each at its own time. */
export class ManualClock {
  #now = 1_700_000_000_000;
  #tasks: { readonly at: number; readonly run: () => void }[] = [];

  readonly now = (): number => this.#now;

  readonly schedule = (ms: number, run: () => void): (() => void) => {
    const task = { at: this.#now + ms, run };
    this.#tasks.push(task);
    return () => {
      this.#tasks = this.#tasks.filter((other) => other !== task);
    };
  };

  /** Lets time pass. What a task sets off and what is scheduled later in the same span has its turn too. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await quiet();
      const [next] = this.#tasks.toSorted((a, b) => a.at - b.at);
      if (!next || next.at > end) break;
      this.#tasks = this.#tasks.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    this.#now = end;
    await quiet();
  }
}

/** Lets everything that is ready run: commits of a memory storage take a few rounds of the loop. */
export async function quiet(): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A process takes seconds to start on a machine that is busy. */
const LONGEST_MS = 20_000;

/** Resolves once `holds` is true; fails, saying what was waited for, when it does not become so. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  while (performance.now() < end) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error(`Waited in vain: ${what}.`);
}
