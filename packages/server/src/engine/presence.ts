/** How long it is known when the last one left, in milliseconds. */
const KEEP_MS = 60 * 60 * 1000;

/** Which sessions people are connected to, as far as this server knows: since it started, and at itself. */
export class Presence {
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #here = new Map<string, number>();
  /** When the last one left, oldest first. */
  readonly #left = new Map<string, number>();
  readonly #listeners = new Set<(session: string) => void>();

  /** @param now Unix milliseconds */
  constructor(now: () => number) {
    this.#now = now;
    this.#startedAt = now();
  }

  /** Somebody is connected, until they call the result, once. */
  join(session: string): () => void {
    this.#here.set(session, (this.#here.get(session) ?? 0) + 1);
    this.#left.delete(session);
    return () => {
      const others = (this.#here.get(session) ?? 1) - 1;
      if (others > 0) this.#here.set(session, others);
      else this.#leave(session);
    };
  }

  /**
   * Since when nobody is connected, Unix milliseconds: Infinity where somebody is, and the server's start at the
   * earliest, since nobody can have been connected again before it.
   */
  absentSince(session: string): number {
    if (this.#here.has(session)) return Infinity;
    return this.#left.get(session) ?? this.#startedAt;
  }

  /** Calls back whenever the last one has left a session. */
  onLeft(listener: (session: string) => void): void {
    this.#listeners.add(listener);
  }

  #leave(session: string): void {
    const now = this.#now();
    this.#here.delete(session);
    for (const [other, at] of this.#left) {
      if (at > now - KEEP_MS) break;
      this.#left.delete(other);
    }
    this.#left.set(session, now);
    for (const listener of this.#listeners) listener(session);
  }
}
