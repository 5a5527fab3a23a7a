/** A session's chain is signed when it has this many new records. */
export const SIGN_AFTER_RECORDS = 256;

/** It is signed at the latest this long after its first new one, in milliseconds. */
export const SIGN_AFTER_MS = 5 * 60_000;

/** How many chains are signed at the same time. */
const AT_ONCE = 16;

export interface CheckpointsOptions {
  readonly now: () => number;
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
  /** Signs a session's chain, unless it is gone. */
  readonly sign: (session: string) => Promise<unknown>;
}

/**
 * When chains are signed. What is new is counted, and nobody waits for it: a commit pays nothing but a look into a map,
 * and one without acts not even that. A crash forgets the counts: acts are signed all the same when their row's time comes
 * ({@link Unsigned}), refusals with the next act, or when the audit is read.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #unsigned = new Map<string, { count: number; readonly since: number }>();
  readonly #ready = new Set<string>();
  readonly #signing = new Set<Promise<void>>();
  #timer: (() => void) | undefined;
  #closed = false;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
  }

  /** A session has new records. */
  note(session: string, count: number): void {
    if (this.#closed) return;
    const known = this.#unsigned.get(session) ?? { count: 0, since: this.#options.now() };
    known.count += count;
    this.#unsigned.set(session, known);
    if (known.count >= SIGN_AFTER_RECORDS) this.#sign(session);
    else this.#timer ??= this.#options.schedule(SIGN_AFTER_MS, () => this.#sweep());
  }

  /** Its chain is signed, or it is gone. */
  forget(session: string): void {
    this.#unsigned.delete(session);
    this.#ready.delete(session);
  }

  /** Takes nothing more, and resolves once all that was noted is signed. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.();
    for (const session of this.#unsigned.keys()) this.#sign(session);
    while (this.#signing.size > 0) await Promise.all(this.#signing);
  }

  #sweep(): void {
    this.#timer = undefined;
    const due = this.#options.now() - SIGN_AFTER_MS;
    for (const [session, { since }] of this.#unsigned) if (since <= due) this.#sign(session);
    // In the order they came, so the first that is left is the next.
    const [next] = this.#unsigned.values();
    if (next) this.#timer = this.#options.schedule(next.since - due, () => this.#sweep());
  }

  #sign(session: string): void {
    this.#unsigned.delete(session);
    this.#ready.add(session);
    if (this.#signing.size >= AT_ONCE) return;
    const signing = this.#signReady().finally(() => this.#signing.delete(signing));
    this.#signing.add(signing);
  }

  async #signReady(): Promise<void> {
    for (const session of this.#ready) {
      this.#ready.delete(session);
      try {
        await this.#options.sign(session);
      } catch (error) {
        this.#options.log(`The audit of session ${session} could not be signed`, error);
      }
    }
  }
}
