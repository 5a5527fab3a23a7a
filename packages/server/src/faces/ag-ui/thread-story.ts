import { requestedId, type SessionState } from "@holdfast/protocol";
import {
  agUiMessages,
  joinThread,
  outcomeOf,
  type AgUiFaceEvent,
  type ProjectionOptions,
  type Resumed,
} from "@holdfast/protocol/ag-ui";
import { BEHIND_ALL } from "./cursor.ts";
import type { Outgoing, Story } from "./feed.ts";

/** An AG-UI run that a reader asked for, and the activation it stands for. */
export interface Asked {
  readonly id: string;
  readonly runId: string;
  readonly activation: number;
}

/** Which AG-UI run an activation is to a reader: the one it names, else the first that was asked for. */
export function runIdOf(state: SessionState, asked?: Asked): ProjectionOptions["runIdOf"] {
  return (runId, attempt) => {
    if (asked?.runId === runId && asked.activation === attempt) return asked.id;
    const run = state.runs.get(runId);
    return run ? requestedId(run, attempt) : `${runId}:${attempt}`;
  };
}

/**
 * A thread for whoever joins it (SPEC 12.4.3): the activation under way, whole, or else the last one; then all that follow,
 * until nothing is under way and nothing is about to be.
 */
export function threadStory(
  state: SessionState,
  options: ProjectionOptions,
  resumed?: Resumed,
): Story {
  const { prelude, projection } = resumed
    ? { prelude: resumed.events, projection: resumed.projection }
    : joining(state, options);
  return {
    prelude,
    projection,
    tell: (now, events, { isWhole }) => ({
      events,
      isOver: isWhole && projection.shown === undefined && !isAtWork(now),
    }),
  };
}

function joining(
  state: SessionState,
  options: ProjectionOptions,
): Pick<Story, "prelude" | "projection"> {
  const { prelude, projection } = joinThread(state, options);
  const events = prelude.length > 0 ? prelude : untouched(state, options);
  return { prelude: afterState(events, state), projection };
}

/** Whether a run is active, or will be without anybody's doing. */
export function isAtWork(state: SessionState): boolean {
  return [...state.index.live].some((id) => {
    const run = state.runs.get(id);
    return run?.status === "active" || (run?.status === "queued" && run.behind.length === 0);
  });
}

/** Events made of a state as a whole: only the last of them is a place to go on from. */
export function afterState(events: readonly AgUiFaceEvent[], { head }: SessionState): Outgoing[] {
  return events.map((event, at) =>
    at === events.length - 1 ? { event, cursor: { offset: head, index: BEHIND_ALL } } : { event },
  );
}

/** A thread in which no activation ever began, and none will: what users said in it. */
function untouched(
  state: SessionState,
  { threadId, peer = "1.0" }: ProjectionOptions,
): AgUiFaceEvent[] {
  const tip = state.index.nodes.at(-1);
  const run = tip === undefined ? undefined : state.runs.get(tip);
  if (!run || isAtWork(state)) return [];
  const runId = requestedId(run, run.attempt + 1);
  return [
    { type: "RUN_STARTED", threadId, runId, ...(peer === "1.0" && { protocolVersion: "1.0" }) },
    { type: "MESSAGES_SNAPSHOT", messages: agUiMessages(state, { peer }) },
    outcomeOf(state, run, { threadId, runId, peer }),
  ];
}
