import { HoldfastError, parseOffset, reject, type Offset } from "@holdfast/protocol";
import type { Cursor } from "@holdfast/protocol/ag-ui";
import type { Visibility } from "../../engine/index.ts";

/** Behind everything of an entry, and of what came before it: where a reader stands that was given a state. */
export const BEHIND_ALL = 1_000_000_000;

/** Where a reader goes on, as the `id:` of an event: opaque to it, and good under its visibility alone. */
export function cursorText({ offset, index }: Cursor, { key }: Pick<Visibility, "key">): string {
  return key === "" ? `${offset}_${index}` : `${offset}_${index}~${key}`;
}

/**
 * What {@link cursorText} said.
 *
 * @param head of the session's log
 * @throws HoldfastError `invalid_offset`, or `reset` for a place that this log does not have, or that was reached under
 *   another visibility
 */
export function readCursor(text: string, head: Offset, { key }: Pick<Visibility, "key">): Cursor {
  const [place = "", seen = ""] = text.split("~", 2);
  const [, offset = "", index = ""] = /^(.*)_(\d{1,10})$/s.exec(place) ?? [];
  const at = parseOffset(offset);
  if (!at) {
    throw new HoldfastError(
      reject(
        "invalid_offset",
        `${JSON.stringify(text.slice(0, 64))} is no id of an event: send the last one that came, or none.`,
      ),
    );
  }
  if (seen !== key || at.epoch !== parseOffset(head)?.epoch || offset > head) throw joinAnew(text);
  return { offset, index: Number(index) };
}

/** What cannot be gone on from is begun anew. */
export function joinAnew(cursor: string): HoldfastError {
  return new HoldfastError(
    reject(
      "reset",
      `What came behind ${cursor} cannot be told again as it was: connect without Last-Event-ID, which says how it is now.`,
    ),
  );
}
