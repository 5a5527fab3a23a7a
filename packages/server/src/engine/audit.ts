import type { AuditAddition, Storage } from "../storage/storage.ts";
import { AUDIT_REFILL_MS, AuditRate } from "./audit-rate.ts";
import { droppedRecord, kindOf, recordOf } from "./audit-record.ts";
import type { Refusal } from "./refusal.ts";

/** How long records wait for company, in milliseconds. */
const FLUSH_MS = 250;

/** The most records that wait or are being written: of one actor, and of all. */
const MOST_HELD = { ofActor: 64, ofAll: 512 } as const;

export interface AuditOptions {
  readonly storage: Storage;
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
  readonly salt: () => string;
  /** Called when records of a session were written. */
  readonly written: (session: string, count: number) => void;
}

/**
 * What was refused, on its way to the audit of its session. Nobody waits for it: records are written a moment later,
 * many sessions' together, apart from any commit. A crash loses those that still wait; so does a write that fails, which
 * is logged.
 *
 * What one actor has kept is bounded by {@link AuditRate} in each session, and by its share of what may wait in all of
 * them together. What is beyond is counted, and the count is recorded when the rate is looked after next.
 */
export class Audit {
  readonly #options: AuditOptions;
  readonly #rate = new AuditRate();
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #heldBy = new Map<string, number>();
  readonly #writes = new Set<Promise<void>>();
  #held = 0;
  #flushing: (() => void) | undefined;
  #sweeping: (() => void) | undefined;
  #closed = false;

  constructor(options: AuditOptions) {
    this.#options = options;
  }

  /** Takes refusals that were given. Never waits and never throws. */
  note(session: string, refusals: readonly Refusal[]): void {
    if (this.#closed) return;
    const now = this.#options.storage.now();
    for (const refusal of refusals) {
      const { principal } = refusal.actor;
      const kind = kindOf(refusal);
      if (this.#hasRoom(principal) && this.#rate.take(session, principal, kind, now)) {
        this.#add(session, principal, recordOf(refusal, this.#options.salt()));
      } else {
        this.#rate.drop(session, principal, kind, now);
      }
    }
    this.#sweeping ??= this.#options.schedule(AUDIT_REFILL_MS, () => this.#sweep());
  }

  /** Writes what waits, and resolves when everything noted before is written or lost. */
  async flush(): Promise<void> {
    this.#flushing?.();
    this.#flushing = undefined;
    for (const [session, waiting] of this.#waiting) {
      const write = this.#write(session, waiting).finally(() => this.#writes.delete(write));
      this.#writes.add(write);
    }
    this.#waiting.clear();
    await Promise.all(this.#writes);
  }

  /** The session is gone, and with it what waits for it. */
  forget(session: string): void {
    this.#release(this.#waiting.get(session) ?? []);
    this.#waiting.delete(session);
    this.#rate.forget(session);
  }

  /** Takes nothing more, and writes what waits, counts included. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#sweeping?.();
    this.#sweeping = undefined;
    await this.flush();
    this.#addDropped();
    await this.flush();
  }

  #hasRoom(actor: string): boolean {
    const mine = this.#heldBy.get(actor) ?? 0;
    return mine < MOST_HELD.ofActor && this.#held < MOST_HELD.ofAll;
  }

  #add(session: string, actor: string, record: AuditAddition): void {
    const waiting = this.#waiting.get(session) ?? [];
    this.#waiting.set(session, waiting);
    waiting.push({ actor, record });
    this.#held += 1;
    this.#heldBy.set(actor, (this.#heldBy.get(actor) ?? 0) + 1);
    if (!this.#closed) this.#flushing ??= this.#options.schedule(FLUSH_MS, () => void this.flush());
  }

  #release(waiting: readonly Waiting[]): void {
    this.#held -= waiting.length;
    for (const { actor } of waiting) {
      const left = (this.#heldBy.get(actor) ?? 0) - 1;
      if (left > 0) this.#heldBy.set(actor, left);
      else this.#heldBy.delete(actor);
    }
  }

  async #write(session: string, waiting: readonly Waiting[]): Promise<void> {
    const records = waiting.map(({ record }) => record);
    try {
      await this.#options.storage.addAudit(session, records);
      this.#options.written(session, records.length);
    } catch (error) {
      this.#options.log(`${records.length} audit records of session ${session} are lost`, error);
    } finally {
      this.#release(waiting);
    }
  }

  #sweep(): void {
    this.#sweeping = undefined;
    this.#addDropped();
    if (this.#rate.empty) return;
    this.#sweeping = this.#options.schedule(AUDIT_REFILL_MS, () => this.#sweep());
  }

  #addDropped(): void {
    const room = MOST_HELD.ofAll - this.#held;
    for (const { session, dropped } of this.#rate.sweep(this.#options.storage.now(), room)) {
      this.#add(session, dropped.actor, droppedRecord(dropped));
    }
  }
}

interface Waiting {
  readonly actor: string;
  readonly record: AuditAddition;
}
