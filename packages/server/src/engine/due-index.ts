import type { SessionState, TouchedRow } from "@holdfast/protocol";
import type { Due, DueChange } from "../storage/storage.ts";
import { dueOfCall, dueOfRun, dueOfSession, type DueKind, type Terms, type Wanted } from "./due.ts";
import type { SessionLeases } from "./leases.ts";

/**
 * Which index rows one session has in storage, and the changes that wait for the next commit. A row is written when
 * what it is about begins, and removed when it ends; in between only {@link rearm} writes it.
 */
export class DueIndex {
  readonly #terms: Terms;
  readonly #leases: SessionLeases;
  readonly #rows = new Map<string, Wanted>();
  #changes: DueChange[] = [];

  /** @param state as stored: its rows are there already */
  constructor(state: SessionState, terms: Terms, leases: SessionLeases) {
    this.#terms = terms;
    this.#leases = leases;
    this.#load(dueOfSession(state.session, 0), state.session.id);
    for (const id of state.index.live) this.#load(dueOfRun(state.runs.get(id), 0, terms), id);
    for (const call of state.calls.values()) {
      if (call.status !== "settled") this.#load(dueOfCall(call, 0, terms), call.id);
    }
  }

  /** Derives the changes that a batch's touched rows ask for. */
  note(state: SessionState, touched: readonly TouchedRow[], now: number): void {
    for (const { kind, id } of touched) {
      if (kind === "run") this.#compare(dueOfRun(state.runs.get(id), now, this.#terms), id);
      else if (kind === "call") this.#compare(dueOfCall(state.calls.get(id), now, this.#terms), id);
      else if (kind === "session") this.#compare(dueOfSession(state.session, now), id);
    }
  }

  /** What a row is about, or undefined where there is none. */
  get(kind: DueKind, id: string): Wanted | undefined {
    return this.#rows.get(keyOf(kind, id));
  }

  /** Writes a row that no state asks for, in the next commit; it stays until it is removed. */
  add(kind: DueKind, id: string, at: number): void {
    this.#changes.push({ kind, id, at, group: "" });
  }

  /** Writes a row again with another time, in the next commit; nothing where it is gone. */
  rearm(kind: DueKind, id: string, at: number): void {
    const row = this.get(kind, id);
    if (!row) return;
    this.#rows.set(keyOf(kind, id), { ...row, at });
    this.#changes.push({ kind, id, at, group: row.group });
  }

  /** Removes a row that storage has and nobody wants, in the next commit. */
  remove(kind: DueKind, id: string, group: string): void {
    this.#rows.delete(keyOf(kind, id));
    this.#changes.push({ kind, id, at: null, group });
  }

  /** When a lease or claim runs out; who is not known here, since the server started, gets a full term first. */
  leaseEnd(kind: "lease" | "claim", id: string, holder: string, now: number): number {
    const known = this.#leases[kind].get(id);
    if (known?.holder === holder) return known.until;
    const until = now + this.#term(kind);
    this.#leases[kind].set(id, { holder, until });
    return until;
  }

  /** Extends the lease of an attempt that is still the active one by a full term. */
  renewAttempt(state: SessionState, runId: string, attempt: number, now: number): void {
    const run = state.runs.get(runId);
    if (run?.status !== "active" || run.attempt !== attempt) return;
    this.#extend(runId, attempt, now + this.#terms.leaseMs);
  }

  /**
   * Holds an attempt that is still the active one up to a time, in storage too: a server that starts again meanwhile
   * does not look at it before.
   *
   * @returns up to when it is held
   */
  holdAttempt(runId: string, attempt: number, until: number, now: number): number {
    const bounded = Math.min(until, now + LONGEST_HOLD_MS);
    const held = this.#extend(runId, attempt, Math.max(bounded, now + this.#terms.leaseMs));
    this.rearm("lease", runId, held);
    return held;
  }

  /** Whether a lease's row, as storage has it, holds its attempt for longer than heartbeats do. */
  isHeld(row: Due, now: number): boolean {
    return row.at > now + this.#terms.leaseMs;
  }

  /** Extends a call's explicit claim by a full term. */
  renewClaim(state: SessionState, callId: string, now: number): void {
    const claim = state.calls.get(callId)?.claim;
    if (!claim || claim.implicit) return;
    this.#leases.claim.set(callId, { holder: claim.id, until: now + this.#terms.claimLeaseMs });
  }

  /** The changes since the last call; they belong in the next commit. */
  take(): readonly DueChange[] {
    if (this.#changes.length === 0) return NONE;
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  /** A lease is never shortened. */
  #extend(runId: string, attempt: number, until: number): number {
    const holder = String(attempt);
    const known = this.#leases.lease.get(runId);
    const end = known?.holder === holder ? Math.max(known.until, until) : until;
    this.#leases.lease.set(runId, { holder, until: end });
    return end;
  }

  #load(wanted: Partial<Record<DueKind, Wanted | undefined>>, id: string): void {
    for (const [kind, row] of Object.entries(wanted)) {
      if (row) this.#rows.set(keyOf(kind, id), row);
    }
  }

  #compare(wanted: Partial<Record<DueKind, Wanted | undefined>>, id: string): void {
    for (const kind of Object.keys(wanted) as DueKind[]) {
      const row = wanted[kind];
      const known = this.get(kind, id);
      if (known?.holder === row?.holder) continue;
      if (row) {
        this.#rows.set(keyOf(kind, id), row);
        this.#changes.push({ kind, id, at: row.at, group: row.group });
        if (kind === "lease" || kind === "claim") {
          this.#leases[kind].set(id, { holder: row.holder, until: row.at });
        }
      } else {
        this.#rows.delete(keyOf(kind, id));
        this.#changes.push({ kind, id, at: null, group: known?.group ?? "" });
      }
    }
  }

  #term(kind: "lease" | "claim"): number {
    return kind === "lease" ? this.#terms.leaseMs : this.#terms.claimLeaseMs;
  }
}

/** The longest that nothing may be heard of an attempt, in milliseconds: 24 hours. */
const LONGEST_HOLD_MS = 24 * 60 * 60 * 1000;

const NONE: readonly DueChange[] = [];

function keyOf(kind: string, id: string): string {
  return `${kind}/${id}`;
}
