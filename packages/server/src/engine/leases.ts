/** Until when an attempt, or an explicit claim, holds. */
export interface Lease {
  /** A new holder replaces the old one. */
  readonly holder: string;
  /** Unix milliseconds. */
  readonly until: number;
}

/** The leases of one session: of active attempts by run, of explicit claims by call. */
export interface SessionLeases {
  readonly lease: Map<string, Lease>;
  readonly claim: Map<string, Lease>;
}

/**
 * All leases, by session; they outlive the actors. In memory only: a renewal costs no write, and after a restart every
 * holder that storage knows of gets one full term of grace.
 */
export class Leases {
  readonly #bySession = new Map<string, SessionLeases>();

  /** A session's leases, to be changed in place. */
  of(session: string): SessionLeases {
    let leases = this.#bySession.get(session);
    if (!leases) this.#bySession.set(session, (leases = { lease: new Map(), claim: new Map() }));
    return leases;
  }

  /** Nobody holds it any more. */
  drop(session: string, kind: keyof SessionLeases, id: string): void {
    this.#bySession.get(session)?.[kind].delete(id);
  }

  /** The session was forgotten: keeps its leases only where there are any. */
  release(session: string): void {
    const leases = this.#bySession.get(session);
    if (leases?.lease.size === 0 && leases.claim.size === 0) this.#bySession.delete(session);
  }

  /** The session is gone, and all its holders with it. */
  delete(session: string): void {
    this.#bySession.delete(session);
  }
}
