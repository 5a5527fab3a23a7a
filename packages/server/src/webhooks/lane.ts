import type { Due, DueChange, Storage } from "../storage/storage.ts";

export interface LaneOptions {
  readonly storage: Storage;
  /** Which index rows it is for. */
  readonly kinds: readonly string[];
  readonly group?: string;
  /** How many are dealt with at once. */
  readonly concurrency: number;
  /**
   * Until when a row that is due is left alone all the same, Unix milliseconds, Infinity where its session tells.
   * Default: not at all.
   */
  readonly heldUntil?: (due: Due) => number;
  /** Deals with a row that is due: afterwards it is gone or lies in the future. A rejection leaves it for later. */
  readonly deal: (due: Due) => Promise<void>;
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
}

/** How long a row is left alone that could not be dealt with, in milliseconds. */
const APART_MS = 10_000;
/** The longest a platform timer is set for, in milliseconds. */
const LONGEST_MS = 60 * 60 * 1000;

/**
 * Deals with index rows of one kind when their time comes, oldest first, several at once and each on its own: one that
 * takes long keeps others waiting only when all places are taken. What is due, storage knows.
 */
export class Lane {
  readonly #options: LaneOptions;
  /** Rows being dealt with. */
  readonly #busy = new Map<string, Promise<void>>();
  /** Rows that are due and left alone, and until when. */
  readonly #apart = new Map<string, { readonly session: string; readonly until: number }>();
  #armed: { readonly at: number; readonly cancel: () => void } | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #stopped = false;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Looks for what is due, now and from then on in time. */
  look(): void {
    this.#again = true;
    if (this.#stopped || this.#looking) return;
    this.#looking = this.#lookAgain().finally(() => {
      this.#looking = undefined;
      if (this.#again) this.look(); // it came just as the looking ended
    });
  }

  /** Hears of a row of its kinds that a commit changed. */
  heard(session: string, change: DueChange): void {
    this.#apart.delete(keyOf({ session, ...change }));
    if (change.at === null) return;
    if (change.at <= this.#options.storage.now()) this.look();
    else this.#arm(change.at);
  }

  /** What is left alone in a session is considered again. */
  reconsider(session: string): void {
    let some = false;
    for (const [key, apart] of this.#apart) {
      if (apart.session === session) some = this.#apart.delete(key);
    }
    if (some) this.look();
  }

  /** Begins nothing more; resolves when what was begun has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#armed?.cancel();
    await this.#looking;
    await Promise.all(this.#busy.values());
  }

  async #lookAgain(): Promise<void> {
    const { storage, log } = this.#options;
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        await this.#fill();
      }
    } catch (error) {
      if (this.#stopped) return;
      log("Deliveries could not be read", error);
      this.#arm(storage.now() + APART_MS);
    }
  }

  /** Begins with as many rows as there are places, and has itself called when the next is due. */
  async #fill(): Promise<void> {
    const { storage, concurrency, heldUntil } = this.#options;
    let free = concurrency - this.#busy.size;
    // Whoever ends makes room and looks again.
    if (free <= 0) return;
    const now = storage.now();
    for (const [key, { until }] of this.#apart) if (until <= now) this.#apart.delete(key);
    for (const row of await this.#rows(now, concurrency)) {
      if (this.#stopped || free === 0) return;
      const until = heldUntil?.(row) ?? 0;
      if (until > now) {
        this.#apart.set(keyOf(row), { session: row.session, until });
        this.#again = true;
        continue;
      }
      free -= 1;
      this.#begin(row);
    }
    if (free === 0 || this.#again) return;
    const [next] = await this.#rows(Number.MAX_SAFE_INTEGER, 1);
    const apart = [...this.#apart.values()].map(({ until }) => until);
    this.#arm(Math.min(next?.at ?? Infinity, ...apart));
  }

  /** Rows that are neither being dealt with nor left alone. */
  async #rows(before: number, limit: number): Promise<Due[]> {
    const { storage, kinds, group } = this.#options;
    const rows = await storage.due({
      kinds,
      before,
      limit: limit + this.#busy.size + this.#apart.size,
      ...(group !== undefined && { group }),
    });
    return rows.filter((row) => !this.#busy.has(keyOf(row)) && !this.#apart.has(keyOf(row)));
  }

  #begin(row: Due): void {
    const { storage, deal, log } = this.#options;
    const key = keyOf(row);
    const done = deal(row)
      .catch((error: unknown) => {
        if (this.#stopped) return;
        log(`Delivery of ${row.kind} ${row.id} of session ${row.session} failed`, error);
        this.#apart.set(key, { session: row.session, until: storage.now() + APART_MS });
      })
      .finally(() => {
        this.#busy.delete(key);
        this.look();
      });
    this.#busy.set(key, done);
  }

  #arm(at: number): void {
    if (this.#stopped || at === Infinity || (this.#armed && this.#armed.at <= at)) return;
    this.#armed?.cancel();
    const { storage, schedule } = this.#options;
    const ms = Math.min(Math.max(at - storage.now(), 0), LONGEST_MS);
    const cancel = schedule(ms, () => {
      this.#armed = undefined;
      this.look();
    });
    this.#armed = { at, cancel };
  }
}

function keyOf({ session, kind, id }: Pick<Due, "session" | "kind" | "id">): string {
  return `${session}\n${kind}\n${id}`;
}
