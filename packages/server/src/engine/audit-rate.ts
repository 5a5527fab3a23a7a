import type { RefusalKind } from "../storage/storage.ts";
import type { Dropped } from "./audit-record.ts";

/** How many refusals of one kind and actor a session's audit takes at once. */
export const AUDIT_BURST = 32;

/** How long until it takes one more, in milliseconds. */
export const AUDIT_REFILL_MS = 10_000;

/** Sessions, and actors in each, that are counted; beyond, those that were counted longest are forgotten. */
const MOST = { sessions: 4096, actors: 64 } as const;

/** How much of a session's audit each of its actors may use, so that no flood of one keeps others out. */
export class AuditRate {
  readonly #bySession = new Map<string, Map<string, Bucket>>();

  get empty(): boolean {
    return this.#bySession.size === 0;
  }

  /** Whether one more may be kept, which counts as kept then. */
  take(session: string, actor: string, kind: RefusalKind, now: number): boolean {
    const bucket = this.#bucket(session, actor, kind, now);
    if (bucket.left < 1) return false;
    bucket.left -= 1;
    return true;
  }

  /** Counts one that is not kept. */
  drop(session: string, actor: string, kind: RefusalKind, now: number): void {
    const bucket = this.#bucket(session, actor, kind, now);
    if (bucket.dropped === 0) bucket.since = now;
    bucket.dropped += 1;
    bucket.last = now;
  }

  /** Fills up what was used, and takes the counts of what was not kept, at most `most` of them. */
  sweep(now: number, most: number): { readonly session: string; readonly dropped: Dropped }[] {
    const found: { readonly session: string; readonly dropped: Dropped }[] = [];
    for (const [session, buckets] of this.#bySession) {
      for (const [key, bucket] of buckets) {
        if (bucket.dropped > 0 && found.length < most) {
          const { actor, kind, dropped: count, since, last: at } = bucket;
          found.push({ session, dropped: { actor, kind, count, since, at } });
          bucket.dropped = 0;
        }
        refill(bucket, now);
        if (bucket.left === AUDIT_BURST && bucket.dropped === 0) buckets.delete(key);
      }
      if (buckets.size === 0) this.#bySession.delete(session);
    }
    return found;
  }

  /** The session is gone. */
  forget(session: string): void {
    this.#bySession.delete(session);
  }

  #bucket(session: string, actor: string, kind: RefusalKind, now: number): Bucket {
    const buckets = entryOf(this.#bySession, session, MOST.sessions, () => new Map());
    const bucket = entryOf(buckets, `${kind} ${actor}`, MOST.actors, () => ({
      actor,
      kind,
      left: AUDIT_BURST,
      filledAt: now,
      dropped: 0,
      since: 0,
      last: 0,
    }));
    refill(bucket, now);
    return bucket;
  }
}

interface Bucket {
  readonly actor: string;
  readonly kind: RefusalKind;
  left: number;
  filledAt: number;
  dropped: number;
  since: number;
  last: number;
}

function refill(bucket: Bucket, now: number): void {
  const more = Math.floor((now - bucket.filledAt) / AUDIT_REFILL_MS);
  if (more < 1) return;
  bucket.left = Math.min(AUDIT_BURST, bucket.left + more);
  bucket.filledAt += more * AUDIT_REFILL_MS;
}

/** What a map has under a key, or else what is made for it, in the place of the oldest where there are too many. */
function entryOf<V>(map: Map<string, V>, key: string, most: number, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const [oldest] = map.size >= most ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  const made = make();
  map.set(key, made);
  return made;
}
