import type { Offset } from "@holdfast/protocol";
import { StorageError, type Storage } from "../storage/storage.ts";
import type { SessionActor } from "./actor.ts";
import { frame, isSameLife, joinBatches, type FrameText } from "./frame.ts";
import type { MayAct } from "./presence.ts";
import { FULL, type Visibility } from "./visibility.ts";

export interface FollowOptions {
  /** Ends the frames. */
  readonly signal?: AbortSignal;
  /** Hears, at once, that the reader fell too far behind and gets no more frames. */
  readonly onSlow?: () => void;
  /** A person reads, who may do this: as long as they do, nobody needs to be told elsewhere of calls that wait for it. */
  readonly person?: MayAct;
  /** Who reads, for the limit on readers of one principal. */
  readonly principal?: string;
  /** What of it the reader sees. Default: everything. */
  readonly visibility?: Visibility;
}

/** How much of the log one read brings in while catching up, in bytes of JSON. */
const PAGE_BYTES = 256 * 1024;

/**
 * Everything after a cursor, then live: no hole, nothing twice. Frames that are there together come together.
 *
 * Ends without an error when the reader is too slow, the session goes away, a commit fails or `signal` says so: the
 * cursor is still good. Leaving the loop releases everything. `join` is called when the reading begins, what it gives
 * when it is over.
 */
export async function* follow(
  actor: SessionActor,
  storage: Storage,
  after: Offset,
  {
    signal,
    onSlow,
    visibility = FULL,
    join,
  }: Omit<FollowOptions, "person" | "principal"> & { readonly join?: () => () => void },
): AsyncGenerator<readonly FrameText[], void, void> {
  actor.pins += 1;
  const leave = join?.();
  let cursor = after;
  let live = actor.subscribe(onSlow, visibility);
  const stop = () => live.close();
  signal?.addEventListener("abort", stop);
  try {
    // Live frames gather during the read that reaches the head, and during no earlier one.
    while (cursor < actor.head) {
      const { head } = actor;
      const batches = await storage.entries(actor.id, cursor, PAGE_BYTES);
      const last = batches.at(-1);
      if (signal?.aborted) return;
      // Deleted meanwhile, and perhaps made again: what is there now is another's.
      if (last ? !isSameLife(last.last, cursor) : actor.dropped) return;
      if (!last) {
        throw new StorageError("damaged", `Session ${actor.id} has no entries after ${cursor}.`);
      }
      const reached = last.last >= head;
      if (!reached) actor.unsubscribe(live);
      yield [frame(joinBatches(batches, cursor), visibility, actor.toolOf)];
      cursor = last.last;
      if (signal?.aborted) return;
      if (reached) break;
      live = actor.subscribe(onSlow, visibility);
    }
    for (;;) {
      if (signal?.aborted) return;
      const frames = await live.take();
      if (!frames) return;
      const fresh = frames.filter((it) => it.last > cursor);
      if (fresh.length > 0) yield fresh;
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    actor.unsubscribe(live);
    actor.pins -= 1;
    leave?.();
  }
}
