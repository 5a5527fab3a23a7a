import { parseOffset, type Entry, type Offset, type ToolOf } from "@holdfast/protocol";
import type { Batch } from "../storage/storage.ts";
import { cursorOf, entriesFor, type Visibility } from "./visibility.ts";

/** A commit as its readers get it. */
export interface FrameText {
  readonly after: Offset;
  readonly last: Offset;
  /** Where a reader of the same visibility goes on: `last`, for who sees everything. */
  readonly cursor: string;
  /** The key of that visibility. */
  readonly visibility: string;
  /** JSON of the protocol's `Frame`. */
  readonly text: string;
}

/**
 * The one place where a commit becomes what a reader may see of it. Made once per commit and visibility; who sees
 * everything gets the text that was stored.
 */
export function frame(
  commit: Pick<Batch, "after" | "last" | "json">,
  visibility: Visibility,
  toolOf: ToolOf,
): FrameText {
  const { after, last } = commit;
  const entries = entriesFor(commit.json, visibility, toolOf);
  return {
    after,
    last,
    cursor: cursorOf(last, visibility),
    visibility: visibility.key,
    text: `{"after":${JSON.stringify(after)},"entries":${entries}}`,
  };
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
