import type { Draft, Env } from "@holdfast/protocol";
import type { Storage } from "../storage/storage.ts";
import type { SessionActor } from "./actor.ts";
import { DEAD, idTag, type Delivery } from "./deliveries.ts";

/** A delivery that was given up, and whose it is. */
export interface DeadDelivery extends Delivery {
  readonly session: string;
}

export interface DeadPage {
  /** Oldest first. */
  readonly dead: readonly DeadDelivery[];
  /** Where to go on; absent where there is no more. There may be one after a page that is not full. */
  readonly next?: string;
}

interface Context {
  readonly storage: Storage;
  readonly act: <T>(
    session: string,
    work: (draft: Draft, env: Env, on: SessionActor) => T,
  ) => Promise<T | undefined>;
}

/** Dead deliveries of all sessions. @param query.after a page's `next` */
export async function readDead(
  storage: Storage,
  query: { readonly after?: string; readonly limit: number },
): Promise<DeadPage> {
  const { rows, next } = await storage.find({ kind: "delivery", tags: [DEAD], ...query });
  return {
    dead: rows.map(({ session, value }) => ({ session, ...(JSON.parse(value) as Delivery) })),
    ...(next !== undefined && { next }),
  };
}

/**
 * Has a dead delivery tried again at once, as if for the first time.
 *
 * @returns false where none of that id is dead, such as when it does not matter any more
 */
export async function redeliver({ storage, act }: Context, id: string): Promise<boolean> {
  const found = await storage.find({ kind: "delivery", tags: [idTag(id)], limit: 1 });
  const [row] = found.rows;
  if (!row) return false;
  const { kind, about } = JSON.parse(row.value) as Delivery;
  const done = await act(row.session, (_draft, { now }, on) => {
    const delivery = on.deliveries.get(kind, about);
    if (delivery?.id !== id || delivery.status !== "dead") return false;
    on.deliveries.put({ kind, about, id, status: "pending", tries: 0, since: now, nextAt: now });
    on.due.rearm(kind, about, now);
    return true;
  });
  return done ?? false;
}
