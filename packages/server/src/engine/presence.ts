/** How long it is known when the last one left, in milliseconds. */
const KEEP_MS = 60 * 60 * 1000;

/** What a waiting call needs of somebody: that they may decide on calls of its tool, or answer them. */
export interface Need {
  readonly verb: "approve" | "answer";
  readonly tool: string;
}

/** Whether somebody who is connected could do what a call waits for. */
export type MayAct = (verb: Need["verb"], tool: string) => boolean;

/** Which sessions people are connected to, as far as this server knows: since it started, and at itself. */
export class Presence {
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #here = new Map<string, Set<{ readonly may: MayAct }>>();
  /** When the last one left, oldest first. */
  readonly #left = new Map<string, number>();
  readonly #listeners = new Set<(session: string) => void>();

  /** @param now Unix milliseconds */
  constructor(now: () => number) {
    this.#now = now;
    this.#startedAt = now();
  }

  /** Somebody is connected, until they call the result, once. */
  join(session: string, may: MayAct): () => void {
    const here = this.#here.get(session) ?? new Set();
    this.#here.set(session, here);
    const one = { may };
    here.add(one);
    return () => {
      here.delete(one);
      if (here.size === 0 && this.#here.get(session) === here) this.#here.delete(session);
      this.#leave(session);
    };
  }

  /**
   * Since when nobody is connected who could do what is needed, Unix milliseconds: Infinity where somebody is, and the
   * server's start at the earliest, since nobody can have been connected again before it. Whoever left is taken for one
   * who could.
   *
   * @param need undefined for anything at all
   */
  absentSince(session: string, need: Need | undefined): number {
    for (const { may } of this.#here.get(session) ?? [])
      if (!need || may(need.verb, need.tool)) return Infinity;
    return this.#left.get(session) ?? this.#startedAt;
  }

  /** Calls back whenever somebody has left a session. */
  onLeft(listener: (session: string) => void): void {
    this.#listeners.add(listener);
  }

  #leave(session: string): void {
    const now = this.#now();
    for (const [other, at] of this.#left) {
      if (at > now - KEEP_MS) break;
      this.#left.delete(other);
    }
    this.#left.delete(session);
    this.#left.set(session, now);
    for (const listener of this.#listeners) listener(session);
  }
}
