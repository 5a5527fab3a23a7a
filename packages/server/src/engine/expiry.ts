import { parseOffset, toOffset, type Actor, type Entry, type Offset } from "@holdfast/protocol";
import { StorageError, type Due, type Storage } from "../storage/storage.ts";
import type { Sessions } from "./sessions.ts";

/**
 * Deletes a session whose time to live has passed since its last accepted act. The row is a hint that acts do not touch:
 * where there was one since, it is armed again for the time that follows from that one. A session whose agent is at work
 * is left alone for another term, since a silent agent writes nothing.
 *
 * @returns whether it was deleted
 */
export async function expire(
  sessions: Sessions,
  storage: Storage,
  { session, id, group }: Due,
  actor: Actor,
): Promise<boolean> {
  const { head } = await sessions.need(session);
  const lastAt = await timeOf(storage, session, head);
  const isOver = await sessions.with(session, (on) =>
    on.act(actor, ({ state }, { now }) => {
      const { ttlMs } = state.session;
      if (ttlMs === undefined) {
        on.due.remove("expiry", id, group);
        return false;
      }
      const isAtWork = [...state.index.live].some(
        (runId) => state.runs.get(runId)?.status === "active",
      );
      const since = isAtWork || state.head !== head ? now : lastAt;
      if (since + ttlMs <= now) return true;
      on.due.rearm("expiry", id, since + ttlMs);
      return false;
    }),
  );
  // What was done meanwhile keeps it, and the row is looked at once more.
  return isOver && sessions.remove(session, head);
}

/** When the entry at an offset was written. */
async function timeOf(storage: Storage, session: string, offset: Offset): Promise<number> {
  const place = parseOffset(offset);
  const before = place && toOffset(place.epoch, place.seq - 1);
  const [batch] = before === undefined ? [] : await storage.entries(session, before, 1);
  const last = batch && (JSON.parse(batch.json) as Entry[]).at(-1);
  if (last) return last.at;
  throw new StorageError("damaged", `Session ${session} has no entry at its head, ${offset}.`);
}
