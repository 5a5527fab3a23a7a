import type { Due, Storage } from "../storage/storage.ts";
import { TIMER_KINDS } from "./due.ts";

export interface TimersOptions {
  readonly storage: Pick<Storage, "due" | "now">;
  readonly schedule: (ms: number, run: () => void) => () => void;
  /** Acts on one row that is due. Afterwards it is gone or lies in the future; a rejection leaves it for later. */
  readonly fire: (due: Due) => Promise<void>;
  readonly log: (message: string, error: unknown) => void;
}

/** Rows that are fired together. */
const TOGETHER = 100;
/** How long to leave a row alone whose firing failed, in milliseconds: longer each time in a row. */
const RETRY_MS = { first: 1000, longest: 60_000 };
/** The longest a platform timer is set for, in milliseconds. */
const LONGEST_MS = 60 * 60 * 1000;

/**
 * Fires index rows when their time comes, whichever session they are of, loaded or not. There is one platform timer,
 * set for the earliest row. A row whose firing fails is left alone for a while and keeps no other waiting.
 */
export class Timers {
  readonly #options: TimersOptions;
  readonly #failing = new Map<string, { readonly until: number; readonly waitMs: number }>();
  #armed: { readonly at: number; readonly cancel: () => void } | undefined;
  #pumping: Promise<void> | undefined;
  /** The earliest row that was noted while rows were being fired. */
  #noted = Infinity;
  #stopped = false;

  constructor(options: TimersOptions) {
    this.#options = options;
  }

  /** Fires what is overdue, and from then on everything in time. */
  start(): void {
    this.#arm(-Infinity);
  }

  /** A commit wrote a row that is due then. */
  note(at: number): void {
    if (this.#pumping) this.#noted = Math.min(this.#noted, at);
    else this.#arm(at);
  }

  /** Fires nothing more; resolves when what is being fired is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#armed?.cancel();
    await this.#pumping;
  }

  #arm(at: number): void {
    if (this.#stopped || (this.#armed && this.#armed.at <= at)) return;
    this.#armed?.cancel();
    const { storage, schedule } = this.#options;
    const ms = Math.min(Math.max(at - storage.now(), 0), LONGEST_MS);
    const cancel = schedule(ms, () => {
      this.#armed = undefined;
      this.#pumping = this.#pump().then((next) => {
        this.#pumping = undefined;
        const earliest = Math.min(next, this.#noted);
        this.#noted = Infinity;
        if (earliest < Infinity) this.#arm(earliest);
      });
    });
    this.#armed = { at, cancel };
  }

  /** Fires all that is due and returns when there is something to do again. */
  async #pump(): Promise<number> {
    const { storage, log } = this.#options;
    try {
      while (!this.#stopped) {
        const due = await this.#rows(storage.now(), TOGETHER);
        if (due.length === 0) return await this.#next();
        await Promise.all(due.map((row) => this.#fire(row)));
      }
      return Infinity;
    } catch (error) {
      log("Timers could not be read", error);
      return storage.now() + RETRY_MS.first;
    }
  }

  async #next(): Promise<number> {
    const [next] = await this.#rows(Number.MAX_SAFE_INTEGER, 1);
    const retries = [...this.#failing.values()].map(({ until }) => until);
    return Math.min(next?.at ?? Infinity, ...retries);
  }

  /** Rows that are due before a time, without those that are left alone. */
  async #rows(before: number, limit: number): Promise<Due[]> {
    const { storage } = this.#options;
    const rows = await storage.due({
      kinds: TIMER_KINDS,
      before,
      limit: limit + this.#failing.size,
    });
    const now = storage.now();
    return rows.filter((row) => (this.#failing.get(keyOf(row))?.until ?? now) <= now);
  }

  async #fire(due: Due): Promise<void> {
    const { storage, fire, log } = this.#options;
    const key = keyOf(due);
    try {
      await fire(due);
      this.#failing.delete(key);
    } catch (error) {
      const before = this.#failing.get(key)?.waitMs ?? RETRY_MS.first / 2;
      const waitMs = Math.min(before * 2, RETRY_MS.longest);
      this.#failing.set(key, { until: storage.now() + waitMs, waitMs });
      log(`Timer ${due.kind} ${due.id} of session ${due.session} failed`, error);
    }
  }
}

function keyOf({ session, kind, id }: Due): string {
  return `${session}\n${kind}\n${id}`;
}
