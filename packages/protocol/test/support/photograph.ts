import type { SessionState } from "@holdfast/protocol";

/**
 * Everything a state holds, for comparing before and after. Rows are compared by identity: they are frozen by
 * {@link freezeRows}, so the same row is the same bytes.
 */
export function photograph(state: SessionState): readonly unknown[] {
  const { index } = state;
  const seen: unknown[] = [state.head, state.session, index.callRevision, index.journal.dropped];
  seen.push(index.journal.ids.length, state.producers.size, index.parts.size);
  for (const rows of mapsOf(state)) {
    seen.push(rows.size);
    for (const row of rows.values()) seen.push(row);
  }
  for (const producer of state.producers.values()) seen.push(producer);
  for (const id of index.nodes) seen.push(id);
  for (const id of index.live) seen.push(id);
  for (const [name, ids] of index.aliases) seen.push(name, ...ids);
  for (const [runId, parts] of index.parts) {
    seen.push(runId, parts.length);
    for (const part of parts) seen.push(part);
  }
  return seen;
}

function mapsOf(state: SessionState): ReadonlyMap<string, object>[] {
  return [state.messages, state.runs, state.items, state.calls];
}

export function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((part, at) => part === b[at]);
}

/** Freezes every row of a state to its depth, so that changing one in place throws. */
export function freezeRows(state: SessionState): void {
  freeze(state.session);
  for (const rows of mapsOf(state)) for (const row of rows.values()) freeze(row);
}

/** A frozen value is taken to be frozen to its depth already. */
export function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const member of Object.values(value)) freeze(member);
}

/** What a reader derives from a state besides its rows, in a comparable form. */
export function indexOf(state: SessionState) {
  const { nodes, live, aliases, parts } = state.index;
  return {
    nodes,
    live: [...live],
    aliases: Object.fromEntries(aliases),
    parts: Object.fromEntries(parts),
  };
}

/** A state's rows by kind and id, so that the order they came in does not matter. */
export function rowsOf(state: SessionState) {
  const byId = <T extends { id: string }>(rows: Iterable<T>) =>
    Object.fromEntries([...rows].map((row) => [row.id, row]));
  return {
    head: state.head,
    session: state.session,
    messages: byId(state.messages.values()),
    runs: byId(state.runs.values()),
    items: byId(state.items.values()),
    calls: byId(state.calls.values()),
  };
}
