import { toRows, type SessionState } from "@holdfast/protocol";

/**
 * Everything a state holds, for comparing before and after. Rows are compared by identity: they are frozen by
 * {@link freezeRows}, so the same row is the same bytes.
 */
export function photograph(state: SessionState): readonly unknown[] {
  const { index } = state;
  return [
    state.head,
    state.session,
    ...Object.values(toRows(state)).flat(),
    ...[...state.producers].flat(),
    ...index.nodes,
    ...index.live,
    ...[...index.aliases].flat(),
    ...[...index.parts].flatMap(([runId, parts]) => [runId, ...parts]),
    index.callRevision,
    index.journal.dropped + index.journal.ids.length,
  ];
}

export function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((part, at) => part === b[at]);
}

const frozen = new WeakSet<object>();

/** Freezes every row of a state to its depth, so that changing one in place throws. */
export function freezeRows(state: SessionState): void {
  for (const rows of Object.values(toRows(state))) freeze(rows);
}

export function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || frozen.has(value)) return;
  frozen.add(value);
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
