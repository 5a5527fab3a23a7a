import { isDeepStrictEqual } from "node:util";
import {
  fromRows,
  type Entry,
  type Frame,
  type SessionState,
  type StateRows,
} from "@holdfast/protocol";
import type { FrameText, Snapshot } from "../../engine/index.ts";

/** The entries of a frame, read once for all whom it is sent to. Nobody changes them. */
export function entriesOf(frame: FrameText): readonly Entry[] {
  let entries = read.get(frame);
  if (!entries) {
    ({ entries } = JSON.parse(frame.text) as Frame);
    read.set(frame, entries);
  }
  return entries;
}

const read = new WeakMap<FrameText, readonly Entry[]>();

/**
 * A reader's own state of a session. Its rows, which are replaced and never changed, are those of whoever came before it,
 * where they say the same: what was there when readers come is kept once for all of them.
 */
export function stateOf(
  session: string,
  { offset, text, visibility = "" }: Snapshot,
): SessionState {
  const key = JSON.stringify([session, visibility]);
  const rows = shared(JSON.parse(text) as StateRows, latest.get(key)?.deref());
  latest.set(key, new WeakRef(rows));
  forgotten.register(rows, key);
  const state = fromRows(offset, rows);
  kept.set(state, rows);
  return state;
}

/** The rows that the newest reader came with, of those who see the same of a session, as long as it reads. */
const latest = new Map<string, WeakRef<StateRows>>();
const kept = new WeakMap<SessionState, StateRows>();
const forgotten = new FinalizationRegistry<string>((key) => {
  if (!latest.get(key)?.deref()) latest.delete(key);
});

function shared(rows: StateRows, before: StateRows | undefined): StateRows {
  if (!before) return rows;
  return {
    session: rows.session,
    messages: sameOf(rows.messages, before.messages),
    runs: sameOf(rows.runs, before.runs),
    items: sameOf(rows.items, before.items),
    calls: sameOf(rows.calls, before.calls),
  };
}

function sameOf<T extends { readonly id: string }>(rows: readonly T[], before: readonly T[]): T[] {
  const known = new Map(before.map((row) => [row.id, row]));
  return rows.map((row) => {
    const same = known.get(row.id);
    return same !== undefined && isDeepStrictEqual(row, same) ? same : row;
  });
}
