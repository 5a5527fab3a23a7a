import type { Due, Storage } from "../storage/storage.ts";
import { TIMER_KINDS } from "./due.ts";

export interface TimersOptions {
  readonly storage: Storage;
  readonly schedule: (ms: number, run: () => void) => () => void;
  /** Acts on one row that is due. Afterwards it is gone or lies in the future; a rejection leaves it for later. */
  fire(due: Due): Promise<void>;
  readonly log: (message: string, error: unknown) => void;
}

/** Rows that are fired together. */
const TOGETHER = 100;
/** How long to leave rows alone whose firing failed, in milliseconds. */
const RETRY_MS = 1000;
/** The longest a platform timer is set for, in milliseconds. */
const LONGEST_MS = 60 * 60 * 1000;

/**
 * Fires index rows when their time comes, whichever session they are of, loaded or not. There is one platform timer,
 * set for the earliest row.
 */
export class Timers {
  readonly #options: TimersOptions;
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

  /** Fires all that is due and returns when the next row is. Sessions whose rows fail hold up no others. */
  async #pump(): Promise<number> {
    const { storage, log } = this.#options;
    const failed = new Set<string>();
    let limit = TOGETHER;
    const read = (before: number) => storage.due({ kinds: TIMER_KINDS, before, limit });
    try {
      for (;;) {
        const due = await read(storage.now());
        if (this.#stopped) return Infinity;
        const rows = due.filter(({ session }) => !failed.has(session));
        await Promise.all(
          rows.map(async (row) => {
            if (!(await this.#fire(row))) failed.add(row.session);
          }),
        );
        if (rows.length > 0) continue;
        if (due.length < limit) break;
        // All of these failed: there may be others behind them.
        limit *= 4;
      }
      const next = (await read(Number.MAX_SAFE_INTEGER)).find(
        ({ session }) => !failed.has(session),
      );
      const retry = failed.size > 0 ? storage.now() + RETRY_MS : Infinity;
      return Math.min(next?.at ?? Infinity, retry);
    } catch (error) {
      log("Timers could not be read", error);
      return storage.now() + RETRY_MS;
    }
  }

  async #fire(due: Due): Promise<boolean> {
    try {
      await this.#options.fire(due);
      return true;
    } catch (error) {
      this.#options.log(`Timer ${due.kind} ${due.id} of session ${due.session} failed`, error);
      return false;
    }
  }
}
