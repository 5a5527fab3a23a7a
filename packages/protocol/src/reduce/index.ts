import type { Entry } from "../entry.ts";
import type { SessionState } from "../state.ts";
import { reduceCall } from "./call.ts";
import { reduceContent } from "./content.ts";
import { reduceErasure } from "./erase.ts";
import { reduceRun } from "./run.ts";
import { reduceSession } from "./session.ts";
import { NO_CHANGES, type Changes } from "./changes.ts";

/**
 * Folds the next entry into a state (SPEC 3.3). Total: an entry that makes no sense for the state changes only `head`.
 *
 * Owns `state` and changes its maps in place; rows are replaced, never mutated. The cost depends neither on the
 * session's length nor on the open item's. `changes` hears of every row that must be stored again: a delta alone
 * touches none, since the row of an open item is written when it opens and when it closes.
 */
export function reduce(state: SessionState, entry: Entry, changes: Changes = NO_CHANGES): void {
  state.head = entry.offset;
  const { event } = entry;
  if (event.type.charCodeAt(0) < 97) {
    reduceContent(state, entry, changes);
  } else if (event.type.startsWith("call.")) {
    reduceCall(state, entry, changes);
  } else if (
    event.type.startsWith("run.") ||
    event.type.startsWith("attempt.") ||
    event.type.startsWith("round.") ||
    event.type.startsWith("step.")
  ) {
    reduceRun(state, entry, changes);
  } else if (event.type === "content.erased") {
    reduceErasure(state, entry, changes);
  } else {
    reduceSession(state, entry, changes);
  }
}

/** Folds a commit's worth of entries. */
export function reduceAll(state: SessionState, entries: readonly Entry[], changes?: Changes): void {
  for (const entry of entries) reduce(state, entry, changes);
}
