import { emptyState, reduce, toOffset, type Entry, type SessionState } from "@holdfast/protocol";
import {
  createProjection,
  joinThread,
  type AgUiEvent,
  type AgUiMessage,
  type Peer,
  type Projection,
  type ProjectionOptions,
} from "@holdfast/protocol/ag-ui";

export function optionsFor(peer: Peer = "1.0"): ProjectionOptions {
  return { threadId: "s1", peer, runIdOf: (runId, attempt) => `${runId}:${attempt}` };
}

/** The state of a reader that was told nothing of the desk's session yet. */
export function emptyReader(): SessionState {
  return emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
}

export interface Watched {
  /** What a reader was sent that watched from the beginning, by entry. */
  readonly live: AgUiEvent[][];
  /** The run that it was shown after each entry. */
  readonly shown: (string | undefined)[];
  /** What readers were sent that joined before the n-th entry. */
  readonly joined: Map<number, AgUiEvent[]>;
  readonly state: SessionState;
}

/**
 * Lets a session be watched live, and joined at some cuts.
 *
 * @param cuts how many entries were there when somebody joined
 */
export function watch(
  entries: readonly Entry[],
  {
    peer = "1.0",
    cuts = [],
    messages,
  }: { peer?: Peer; cuts?: readonly number[]; messages?: AgUiMessage[] } = {},
): Watched {
  const options = { ...optionsFor(peer), ...(messages && { messages }) };
  const state = emptyReader();
  const live = createProjection(options);
  const sent: AgUiEvent[][] = [];
  const shown: (string | undefined)[] = [];
  const joined = new Map<number, AgUiEvent[]>();
  const joiners: { projection: Projection; events: AgUiEvent[] }[] = [];
  const join = (cut: number) => {
    if (!cuts.includes(cut)) return;
    const { prelude, projection } = joinThread(state, options);
    joined.set(cut, prelude);
    joiners.push({ projection, events: prelude });
  };
  entries.forEach((entry, at) => {
    join(at);
    reduce(state, entry);
    sent.push(live.project(entry, state));
    shown.push(live.shown?.runId);
    for (const { projection, events } of joiners) events.push(...projection.project(entry, state));
  });
  join(entries.length);
  return { live: sent, shown, joined, state };
}
