import { parseOffset, type Entry, type Offset } from "@holdfast/protocol";
import type { Batch } from "../storage/storage.ts";

/** What a reader may see of a session. There is one role for now: everything. */
export type Role = "full";

/** A commit as its readers get it. */
export interface FrameText {
  readonly after: Offset;
  readonly last: Offset;
  /** JSON of the protocol's `Frame`. */
  readonly text: string;
}

/**
 * The one place where a commit becomes what a role may see of it. Made once per commit and role; the entries' JSON is
 * the text that was stored.
 */
export function frame(commit: Pick<Batch, "after" | "last" | "json">, _role: Role): FrameText {
  const { after, last, json } = commit;
  return { after, last, text: `{"after":${JSON.stringify(after)},"entries":${json}}` };
}

/** The part of a stored batch that follows `cursor`, which may lie inside it. */
export function batchAfter(batch: Batch, cursor: Offset): Batch {
  if (cursor <= batch.after) return batch;
  const entries = (JSON.parse(batch.json) as Entry[]).filter((entry) => entry.offset > cursor);
  return {
    after: cursor,
    last: batch.last,
    count: entries.length,
    json: JSON.stringify(entries),
  };
}

/** Whether two offsets are of one life of a session; one that was deleted and made again has another. */
export function isSameLife(a: Offset, b: Offset): boolean {
  return parseOffset(a)?.epoch === parseOffset(b)?.epoch;
}

/** Stored batches that follow each other as one, from `cursor` on. At least one batch. */
export function joinBatches(batches: readonly Batch[], cursor: Offset): Batch {
  const [first, ...rest] = batches;
  const last = batches.at(-1);
  if (!first || !last) throw new RangeError("There is nothing to join.");
  const begin = batchAfter(first, cursor);
  const all = [begin, ...rest];
  return {
    after: begin.after,
    last: last.last,
    count: all.reduce((sum, { count }) => sum + count, 0),
    json: `[${all.map(({ json }) => json.slice(1, -1)).join(",")}]`,
  };
}
