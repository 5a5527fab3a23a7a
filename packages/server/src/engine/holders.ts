/** The process that holds an attempt. */
export interface Holder {
  readonly attempt: number;
  readonly instance: string;
}

/**
 * Which process holds a run's attempt, as far as this server has seen it. In memory only, and no longer than the
 * attempt or its session: what is not known here may be anybody's who asks.
 */
export class Holders {
  readonly #bySession = new Map<string, Map<string, Holder>>();

  get(session: string, runId: string): Holder | undefined {
    return this.#bySession.get(session)?.get(runId);
  }

  /** A newer holder replaces the old one. */
  set(session: string, runId: string, holder: Holder): void {
    let runs = this.#bySession.get(session);
    if (!runs) this.#bySession.set(session, (runs = new Map()));
    runs.set(runId, holder);
  }

  /** The run's attempt is over. */
  drop(session: string, runId: string): void {
    const runs = this.#bySession.get(session);
    if (runs?.delete(runId) && runs.size === 0) this.#bySession.delete(session);
  }

  /** The session is gone. */
  delete(session: string): void {
    this.#bySession.delete(session);
  }

  /** How many sessions something is kept of. */
  get size(): number {
    return this.#bySession.size;
  }
}
