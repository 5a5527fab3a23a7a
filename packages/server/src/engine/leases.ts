/**
 * Until when each attempt and each explicit claim holds. In memory only: a renewal costs no write, and after a
 * restart every holder that storage knows of gets one full term of grace.
 */
export class Leases {
  readonly #held = new Map<string, { readonly holder: string; until: number }>();

  /** Begins or extends a lease. A new holder replaces the old one. */
  set(session: string, kind: LeaseKind, id: string, holder: string, until: number): void {
    const key = keyOf(session, kind, id);
    const lease = this.#held.get(key);
    if (lease?.holder === holder) lease.until = until;
    else this.#held.set(key, { holder, until });
  }

  /** Unix milliseconds, or undefined where nothing is known of this holder. */
  until(session: string, kind: LeaseKind, id: string, holder: string): number | undefined {
    const lease = this.#held.get(keyOf(session, kind, id));
    return lease?.holder === holder ? lease.until : undefined;
  }

  drop(session: string, kind: LeaseKind, id: string): void {
    this.#held.delete(keyOf(session, kind, id));
  }
}

export type LeaseKind = "lease" | "claim";

function keyOf(session: string, kind: LeaseKind, id: string): string {
  return `${session}\n${kind}\n${id}`;
}
