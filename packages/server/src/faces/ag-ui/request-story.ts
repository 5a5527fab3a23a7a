import type { Offset, Run, SessionState } from "@holdfast/protocol";
import {
  createProjection,
  joinThread,
  outcomeOf,
  type AgUiFaceEvent,
  type ProjectionOptions,
  type Resumed,
} from "@holdfast/protocol/ag-ui";
import type { Moment, Outgoing, Story, Told } from "./feed.ts";
import { openInterrupts, pendingCalls } from "./pending.ts";
import { afterState, type Asked } from "./thread-story.ts";

export interface RequestStoryOptions extends ProjectionOptions {
  /** The state from which on what was asked holds. */
  readonly since: Offset;
  /** What was posted went to other runs as well: they are told of too, as they come. */
  readonly showsAll: boolean;
  /** The reader has its beginning, and goes on behind that. */
  readonly resumed?: Resumed;
}

/**
 * One activation for whoever asked for it (SPEC 12.4.2), with those of its run that follow by themselves. Nothing is told
 * until it begins. Where it does not, because its run ended first or waits for nothing but decisions, that is told.
 */
export function requestStory(
  state: SessionState,
  asked: Asked,
  { since, showsAll, resumed, ...options }: RequestStoryOptions,
): Story {
  const { runId } = asked;
  const own = { ...options, runId };
  const { prelude, projection, ...from } = resumed
    ? { prelude: resumed.events, projection: resumed.projection, begun: true }
    : beginning(state, asked, showsAll ? options : own);
  let { begun } = from;

  function tell(now: SessionState, events: readonly Outgoing[], { entry, isWhole }: Moment): Told {
    const run = now.runs.get(runId);
    const { shown } = projection;
    if (shown?.runId === runId && shown.attempt >= asked.activation) begun = true;
    const isBetween = !run || now.head < since || (!begun && !isWhole);
    if (isBetween) return { events, isOver: false };
    if (run.status !== "ended" && run.status !== "suspended") {
      return { events, isOver: showsAll && isWhole && !shown && waitsBehind(now, run) };
    }
    if (begun) return { events: entry ? upToEnd(events) : events, isOver: true };
    if (run.status === "suspended" && pendsOthers(now, runId)) return { events, isOver: false };
    const last = lastWord(now, run, asked, own).map((event) => ({ event }));
    return { events: [...events, ...last], isOver: true };
  }

  return { prelude, projection, tell };
}

/** An activation that began is joined; one to come is waited for. */
function beginning(
  state: SessionState,
  { runId, activation }: Asked,
  options: ProjectionOptions,
): Pick<Story, "prelude" | "projection"> & { readonly begun: boolean } {
  const latest = state.runs.get(runId)?.activation;
  if (!latest || latest.attempt < activation) {
    return { prelude: [], projection: createProjection(options), begun: false };
  }
  const { prelude, projection } = joinThread(state, { ...options, runId, snapshot: false });
  return { prelude: afterState(prelude, state), projection, begun: true };
}

/** Whether a run cannot start before somebody settles the calls of another. */
function waitsBehind(state: SessionState, { behind }: Run): boolean {
  return behind.some((id) => state.runs.get(id)?.status === "suspended");
}

/** Whether somebody else may still answer what a run waits for. */
function pendsOthers(state: SessionState, runId: string): boolean {
  return pendingCalls(state, runId).length > openInterrupts(state, runId).length;
}

/** What follows the end of the run is of another. */
function upToEnd(events: readonly Outgoing[]): readonly Outgoing[] {
  const end = events.findIndex(
    ({ event: { type } }) => type === "RUN_FINISHED" || type === "RUN_ERROR",
  );
  return end < 0 ? events : events.slice(0, end + 1);
}

/** How it stands with an activation that did not begin. */
function lastWord(
  state: SessionState,
  run: Run,
  { id }: Asked,
  options: ProjectionOptions,
): readonly AgUiFaceEvent[] {
  const { threadId, peer = "1.0" } = options;
  const { prelude } = joinThread(state, { ...options, runIdOf: () => id, snapshot: false });
  if (prelude.length > 0) return prelude;
  return [
    { type: "RUN_STARTED", threadId, runId: id, ...(peer === "1.0" && { protocolVersion: "1.0" }) },
    outcomeOf(state, run, { threadId, runId: id, peer }),
  ];
}
