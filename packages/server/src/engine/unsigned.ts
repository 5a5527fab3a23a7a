import type { Offset } from "@holdfast/protocol";
import { SIGN_AFTER_MS } from "./checkpoints.ts";
import type { DueIndex } from "./due-index.ts";

/** When acts are signed at the latest, whoever was to do it, in milliseconds: later than they are signed anyway. */
export const SIGN_AT_LATEST_MS = 2 * SIGN_AFTER_MS;

/**
 * The index row that says that a session has acts without a checkpoint. It is written in the commit of the first of them
 * and removed once a checkpoint has them all, so that a server that starts again finds what a crash left unsigned, and
 * nothing else.
 */
export class Unsigned {
  readonly #session: string;
  readonly #due: DueIndex;
  /** Storage may have the row. */
  #mayStand: boolean;
  /** The head of the newest commit with acts; undefined where there was none since the session was loaded. */
  #actedAt: Offset | undefined;
  #signedAt: Offset | undefined;

  /** @param isNew storage has nothing of the session yet */
  constructor(session: string, due: DueIndex, isNew: boolean) {
    this.#session = session;
    this.#due = due;
    this.#mayStand = !isNew;
  }

  /** Storage may have a row that a checkpoint takes away. */
  get mayStand(): boolean {
    return this.#mayStand;
  }

  /** A checkpoint has all acts up to an offset; the next commit says so. */
  signed(upTo: Offset): void {
    this.#signedAt = upTo;
  }

  /** Derives the change that belongs in the commit up to `head`. */
  seal(acts: number, head: Offset, now: number): void {
    const known = this.#actedAt !== undefined;
    if (acts > 0) this.#actedAt = head;
    const signed = this.#signedAt;
    this.#signedAt = undefined;
    if (signed !== undefined && (this.#actedAt ?? "") <= signed) {
      this.#due.remove("unsigned", this.#session, "");
      this.#mayStand = false;
      this.#actedAt = undefined;
    } else if (signed !== undefined || (acts > 0 && !known)) {
      this.#due.add("unsigned", this.#session, now + SIGN_AT_LATEST_MS);
      this.#mayStand = true;
    }
  }
}
