/**
 * Which nodes of a state changed, oldest first, so that what is derived from the state can be brought up to date at
 * the cost of what changed. Bounded: a reader that stayed away too long is told to look at everything.
 */
export interface Journal {
  /** Entries dropped from the front of `ids`. */
  dropped: number;
  readonly ids: string[];
}

const LIMIT = 512;

export function createJournal(): Journal {
  return { dropped: 0, ids: [] };
}

/** Notes that a message, a run, or a part of a run changed. A node that changes many times in a row is noted once. */
export function noteChange(journal: Journal, nodeId: string): void {
  const { ids } = journal;
  if (ids[ids.length - 1] === nodeId) return;
  if (ids.length >= LIMIT) {
    ids.splice(0, LIMIT / 2);
    journal.dropped += LIMIT / 2;
  }
  ids.push(nodeId);
}

/** Where a reader stands after it saw everything; give it to the next {@link changedSince}. */
export function markOf(journal: Journal): number {
  return journal.dropped + journal.ids.length;
}

/** Nodes that may have changed since `mark`; undefined where that is no longer known, so: any of them. */
export function changedSince(journal: Journal, mark: number): Set<string> | undefined {
  // The newest note also stands for changes made after it was read, so it is read again.
  const from = Math.max(mark - 1, 0) - journal.dropped;
  return from < 0 ? undefined : new Set(journal.ids.slice(from));
}
