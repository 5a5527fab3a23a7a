import type { Entry } from "@holdfast/protocol";
import type { Session } from "@holdfast/sdk/client";
import { useEffect, useState } from "react";

const SHOWN = 80;
const PAUSE_MS = 250;

/** Reads entries after an offset, oldest first. */
export type ReadEntries = (after: string) => Promise<{ entries: readonly Entry[]; offset: string }>;

/**
 * The newest entries of a session's log, read in pages as its head moves. Begins a few nodes back, so that opening it
 * costs the end of the log and not all of it.
 */
export function useLogTail(session: Session, read: ReadEntries): readonly Entry[] {
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  useEffect(() => {
    let stopped = false;
    let reading = false;
    let cursor: string | undefined;
    let state = session.state;
    const look = async () => {
      if (reading || stopped || session.state.head === "") return;
      if (state !== session.state) cursor = undefined;
      state = session.state;
      cursor ??= beginning(session);
      if (cursor >= session.state.head) return;
      reading = true;
      try {
        const page = await read(cursor);
        if (stopped) return;
        cursor = page.offset;
        setEntries((known) => merged(known, page.entries));
      } catch {
        // The chip tells of a lost connection; the log goes on once it is back.
        cursor = undefined;
      } finally {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        reading = false;
        void look();
      }
    };
    const unsubscribe = session.subscribe(() => void look());
    void look();
    return () => {
      stopped = true;
      unsubscribe();
    };
  }, [session, read]);
  return entries;
}

function beginning(session: Session): string {
  const { index, messages, runs } = session.state;
  const id = index.nodes.at(-4) ?? index.nodes[0];
  const node = id === undefined ? undefined : (messages.get(id) ?? runs.get(id));
  return node?.offset ?? "";
}

function merged(known: readonly Entry[], news: readonly Entry[]): readonly Entry[] {
  const last = known.at(-1)?.offset ?? "";
  return [...known, ...news.filter((entry) => entry.offset > last)].slice(-SHOWN);
}
