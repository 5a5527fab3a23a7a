import type { Draft, Env } from "@holdfast/protocol";
import type { Due, Storage } from "../storage/storage.ts";
import type { SessionActor } from "./actor.ts";
import type { Delivery } from "./deliveries.ts";

/** A delivery that was given up, and whose it is. */
export interface DeadDelivery extends Delivery {
  readonly session: string;
}

export interface DeadPage {
  readonly dead: readonly DeadDelivery[];
  /** Where to go on; absent where there is no more. */
  readonly next?: string;
}

interface Context {
  readonly storage: Storage;
  readonly act: <T>(
    session: string,
    work: (draft: Draft, env: Env, on: SessionActor) => T,
  ) => Promise<T | undefined>;
}

/** How many dead deliveries are looked at: those beyond show when older ones are gone. */
const MOST = 10_000;

/** Dead deliveries of all sessions, oldest first. @param query.after a page's `next` */
export async function readDead(
  { storage, act }: Context,
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<DeadPage> {
  const rows = await storage.due({ kinds: ["dead"], before: Number.MAX_SAFE_INTEGER, limit: MOST });
  const ordered = rows
    .map((row) => ({ row, place: placeOf(row) }))
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    .filter(({ place }) => after === undefined || place > after);
  const page = ordered.slice(0, limit);
  const found = await Promise.all(
    page.map(({ row: { session, id } }) =>
      act(session, (_draft, _env, on): DeadDelivery | undefined => {
        const delivery = on.deliveries.find(id);
        return delivery?.status === "dead" ? { session, ...delivery } : undefined;
      }),
    ),
  );
  const next = ordered.length > page.length ? page.at(-1)?.place : undefined;
  return { dead: found.filter((it) => it !== undefined), ...(next !== undefined && { next }) };
}

/**
 * Has a dead delivery tried again at once, as if for the first time.
 *
 * @returns false where none of that id is dead, such as when it does not matter any more
 */
export async function redeliver({ storage, act }: Context, id: string): Promise<boolean> {
  const before = Number.MAX_SAFE_INTEGER;
  const [row] = await storage.due({ kinds: ["dead"], group: id, before, limit: 1 });
  if (!row) return false;
  const done = await act(row.session, (_draft, { now }, on) => {
    const delivery = on.deliveries.find(row.id);
    if (delivery?.status !== "dead") return false;
    const { kind, about } = delivery;
    on.deliveries.put({ kind, about, id, status: "pending", tries: 0, since: now, nextAt: now });
    on.due.rearm(kind, about, now);
    return true;
  });
  return done ?? false;
}

/** A row's place in the order of all: as text, so that it is a cursor. */
function placeOf({ at, session, id }: Due): string {
  const place = `${String(at).padStart(15, "0")}\n${session}\n${id}`;
  return Buffer.from(place).toString("hex");
}
