import type { Frame, Offset } from "@holdfast/protocol";

/** What a frame means to a reader that has everything up to its cursor. */
export type Sequenced =
  /** Exactly what follows the cursor; `frame.after` is the cursor. */
  | { readonly type: "deliver"; readonly frame: Frame; readonly cursor: Offset }
  /** Nothing new in it. */
  | { readonly type: "skip" }
  /** The entries after `after` up to `until` are missing and must be read first. */
  | { readonly type: "hole"; readonly after: Offset; readonly until: Offset };

/**
 * Puts one frame in its place (SPEC 3.2): pure, so that any order of deliveries can be tested. A frame that was seen
 * is skipped, one that overlaps the cursor is cut, one beyond it shows a hole.
 */
export function sequence(cursor: Offset, frame: Frame): Sequenced {
  const last = frame.entries.at(-1);
  if (!last || last.offset <= cursor) return { type: "skip" };
  if (frame.after > cursor) return { type: "hole", after: cursor, until: frame.after };
  const entries =
    frame.after === cursor ? frame.entries : frame.entries.filter((entry) => entry.offset > cursor);
  return { type: "deliver", frame: { after: cursor, entries }, cursor: last.offset };
}
