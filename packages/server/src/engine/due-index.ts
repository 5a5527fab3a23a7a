import { callsOf, type Run, type SessionState, type TouchedRow } from "@holdfast/protocol";
import type { DueChange } from "../storage/storage.ts";
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

  /**
   * Removes a row that is still wanted, in the next commit: nothing more comes of it until it is armed again, or what it
   * is about begins anew.
   */
  retire(kind: DueKind, id: string): void {
    const row = this.get(kind, id);
    if (row) this.#changes.push({ kind, id, at: null, group: row.group });
  }

  /** Removes a row that storage has and nobody wants, in the next commit. */
  remove(kind: DueKind, id: string, group: string): void {
    this.#rows.delete(keyOf(kind, id));
    this.#changes.push({ kind, id, at: null, group });
  }

  /** When a lease or claim runs out; who is not known here, since the server started, gets a full term first. */
  leaseEnd(kind: Held, id: string, holder: string, now: number): number {
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
    this.#extend("lease", runId, String(attempt), now, now);
  }

  /**
   * Holds an active attempt and the claims it has up to a time, in storage too: a server that starts again meanwhile
   * does not look at them before.
   *
   * @returns up to when the attempt is held
   */
  holdAttempt(state: SessionState, { id, attempt }: Run, until: number, now: number): number {
    const held = this.#extend("lease", id, String(attempt), until, now);
    this.rearm("lease", id, held);
    for (const { id: callId, claim } of callsOf(state, id)) {
      if (!claim || claim.implicit || claim.attempt !== attempt) continue;
      this.rearm("claim", callId, this.#extend("claim", callId, claim.id, until, now));
    }
    return held;
  }

  /** Extends a call's explicit claim by a full term. */
  renewClaim(state: SessionState, callId: string, now: number): void {
    const claim = state.calls.get(callId)?.claim;
    if (claim && !claim.implicit) this.#extend("claim", callId, claim.id, now, now);
  }

  /** The changes since the last call; they belong in the next commit. */
  take(): readonly DueChange[] {
    if (this.#changes.length === 0) return NONE;
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  /** By a full term, or up to `until` where that is later; a lease is never shortened. */
  #extend(kind: Held, id: string, holder: string, until: number, now: number): number {
    const known = this.#leases[kind].get(id);
    const before = known?.holder === holder ? known.until : 0;
    const end = Math.max(before, until, now + this.#term(kind));
    this.#leases[kind].set(id, { holder, until: end });
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
        // One that was held before its row was written is held all the same.
        const isLease = kind === "lease" || kind === "claim";
        const at = isLease ? this.#extend(kind, id, row.holder, row.at, 0) : row.at;
        this.#rows.set(keyOf(kind, id), { ...row, at });
        this.#changes.push({ kind, id, at, group: row.group });
      } else {
        this.#rows.delete(keyOf(kind, id));
        this.#changes.push({ kind, id, at: null, group: known?.group ?? "" });
      }
    }
  }

  #term(kind: Held): number {
    return kind === "lease" ? this.#terms.leaseMs : this.#terms.claimLeaseMs;
  }
}

type Held = "lease" | "claim";

const NONE: readonly DueChange[] = [];

function keyOf(kind: string, id: string): string {
  return `${kind}/${id}`;
}
