import type { Offset, ToolOf } from "@holdfast/protocol";
import type { Batch, Storage } from "../storage/storage.ts";
import { batchAfter, isSameLife } from "./frame.ts";
import { entriesFor, type Visibility } from "./visibility.ts";

/** A finite read of the log. */
export interface Page {
  readonly after: Offset;
  /** JSON of an array of entries. */
  readonly entries: string;
  /** Where to go on. */
  readonly offset: Offset;
  /** Nothing more was there. */
  readonly upToDate: boolean;
  /** The key of the visibility it was made for; absent where it is everything. */
  readonly visibility?: string;
}

export interface PageRange {
  readonly after: Offset;
  readonly head: Offset;
  readonly limit: number;
  readonly visibility: Visibility;
  readonly toolOf: ToolOf;
}

/** How much JSON a page holds before it ends early. */
const PAGE_BYTES = 4 << 20;

/**
 * Reads at most `limit` entries after a cursor that lies in the log, up to `head`; undefined where the session was made
 * anew meanwhile.
 */
export async function readPage(
  storage: Storage,
  session: string,
  { after, head, limit, visibility, toolOf }: PageRange,
): Promise<Page | undefined> {
  const parts: string[] = [];
  let cursor = after;
  let count = 0;
  let bytes = 0;
  while (cursor < head && count < limit && bytes < PAGE_BYTES) {
    const batches = await storage.entries(session, cursor, PAGE_BYTES - bytes);
    if (batches.length === 0) break;
    for (const stored of batches) {
      if (count === limit) break;
      if (!isSameLife(stored.last, head)) return undefined;
      const batch = first(batchAfter(stored, cursor), limit - count);
      parts.push(entriesFor(batch.json, visibility, toolOf).slice(1, -1));
      cursor = batch.last;
      count += batch.count;
      bytes += batch.json.length;
    }
  }
  return {
    after,
    entries: `[${parts.join(",")}]`,
    offset: cursor,
    upToDate: cursor >= head,
    ...(visibility.key !== "" && { visibility: visibility.key }),
  };
}

/** The first entries of a batch. */
function first(batch: Batch, limit: number): Batch {
  if (batch.count <= limit) return batch;
  const entries = (JSON.parse(batch.json) as { offset: Offset }[]).slice(0, limit);
  return {
    after: batch.after,
    last: entries.at(-1)?.offset ?? batch.after,
    count: entries.length,
    json: JSON.stringify(entries),
  };
}
