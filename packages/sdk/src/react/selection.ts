import { useMemo, useSyncExternalStore } from "react";
import type { Session } from "../client/index.ts";

/**
 * Renders with what `select` makes of a session. `select` runs at most once per notification and must give the same
 * object where nothing it shows has changed; a new `select` starts over, so keep it with `useCallback` or `useMemo`.
 */
export function useSelection<T>(session: Session, select: (session: Session) => T): T {
  const read = useMemo(() => readerOf(session, select), [session, select]);
  return useSyncExternalStore(session.subscribe, read, read);
}

function readerOf<T>(session: Session, select: (session: Session) => T): () => T {
  let known: { readonly version: number; readonly value: T } | undefined;
  return () => {
    // Between notifications the state runs on; React wants the same answer for as long.
    if (known?.version !== session.version)
      known = { version: session.version, value: select(session) };
    return known.value;
  };
}

/** A selection that keeps its last list where the new one holds the same things. */
export function sameList<T>(select: (session: Session) => readonly T[]): typeof select {
  let known: readonly T[] = [];
  return (session) => {
    const next = select(session);
    if (next.length !== known.length || next.some((it, at) => it !== known[at])) known = next;
    return known;
  };
}
