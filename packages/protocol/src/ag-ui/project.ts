import type { Entry, Scope } from "../entry.ts";
import type { CallEvent, ContentEvent } from "../events.ts";
import type { Run } from "../run.ts";
import { tipOf, type SessionState } from "../state.ts";
import { pathTo } from "../tree.ts";
import { begin, isStateOther } from "./begin.ts";
import { isActivated, resync, statePathOf, targetOf, tellState, snapshotEvent } from "./face.ts";
import type { Face, ProjectionOptions, Shown } from "./face.ts";
import type { AgUiEvent } from "./face-event.ts";
import { createHeld } from "./held.ts";
import { INTERRUPT_TOOL } from "./interrupt.ts";
import { isPatch } from "./json-patch.ts";
import { knownFields } from "./known-fields.ts";
import { isShown } from "./messages.ts";
import { closeAll, closeFrames, closeWhere, createOpenItems } from "./open-items.ts";
import { closingOf, outcomeOf } from "./outcome.ts";
import { frameEvent } from "./project-frames.ts";
import {
  activity,
  continueCall,
  continueText,
  endText,
  resultEvent,
  sealed,
  startCall,
  startText,
  steerEvents,
} from "./project-items.ts";
import { shownMetadata } from "./shown-metadata.ts";
import { isOfState } from "./state-value.ts";
import { tell } from "./tell.ts";

/** A session's entries as one reader's AG-UI events (SPEC 12.3). */
export interface Projection {
  /** The activation whose AG-UI run is open; undefined between two. */
  readonly shown: Shown | undefined;
  /**
   * The events that an entry is to the reader, in order: the same ones for the same history, so that the n-th of an entry
   * is a place to resume at. A delta costs the same however long the session is; what begins, ends or corrects an AG-UI run
   * costs its path.
   *
   * @param state the reader's own, after the entry was reduced; entry and state redacted for it
   */
  project(entry: Entry, state: SessionState): AgUiEvent[];
}

/** A projection for a reader that was shown nothing yet: it begins with the next activation. */
export function createProjection(options: ProjectionOptions): Projection {
  return projectionOf(createFace(options));
}

export function createFace(options: ProjectionOptions): Face {
  return {
    options,
    peer: options.peer ?? "1.0",
    held: createHeld(),
    posted: options.messages,
    open: createOpenItems(),
    shown: undefined,
    changed: false,
    owed: false,
    stateStale: true,
    stateTold: false,
    statePath: undefined,
  };
}

export function projectionOf(face: Face): Projection {
  return {
    get shown() {
      return face.shown;
    },
    project(entry, state) {
      const { event } = entry;
      if (event.type.charCodeAt(0) < 97)
        return projectContent(face, entry, event as ContentEvent, state);
      if (event.type.startsWith("call.")) return projectCall(face, event as CallEvent, state);
      return projectRun(face, entry, state);
    },
  };
}

function projectContent(
  face: Face,
  { runId, round, stepId, stepAttempt }: Entry,
  event: ContentEvent,
  state: SessionState,
): AgUiEvent[] {
  if (isOfState(event)) return projectState(face, runId, event, state);
  if (face.shown === undefined || face.shown.runId !== runId) return [];
  switch (event.type) {
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT":
      return continueText(face, state, event);
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END":
      return continueCall(face, state, event);
    case "TEXT_MESSAGE_START":
    case "REASONING_MESSAGE_START": {
      const item = state.items.get(event.messageId);
      return item && "text" in item ? startText(face, state, item, event) : [];
    }
    case "TEXT_MESSAGE_END":
    case "REASONING_MESSAGE_END":
      return endText(face, state, event);
    case "TOOL_CALL_START": {
      const call = state.calls.get(event.toolCallId);
      return call ? startCall(face, call, event) : [];
    }
    case "ACTIVITY_SNAPSHOT":
    case "ACTIVITY_DELTA":
      return activity(face, state, event);
    case "REASONING_ENCRYPTED_VALUE":
      return sealed(face, state, event);
    case "CUSTOM":
    case "RAW":
      return passed(event);
    default: {
      const scope: Scope = {
        ...(round !== undefined && { round }),
        ...(stepId !== undefined && { stepId }),
        ...(stepAttempt !== undefined && { stepAttempt }),
      };
      return frameEvent(face, event, scope);
    }
  }
}

/** Of the state a reader is told by whichever run of its path says it, while it is shown one. */
function projectState(
  face: Face,
  runId: string | undefined,
  event: ContentEvent,
  state: SessionState,
): AgUiEvent[] {
  const isOurs =
    face.shown?.runId === runId ||
    (face.shown && runId !== undefined && statePathOf(face, state).includes(runId));
  if (!isOurs) {
    face.stateStale = true;
    return [];
  }
  if (event.type === "STATE_DELTA" && !isPatch(event.delta)) return [];
  face.stateTold = true;
  return passed(event);
}

function passed(event: ContentEvent): AgUiEvent[] {
  const known = knownFields(event);
  const metadata = shownMetadata(event.metadata);
  return known ? [metadata ? { ...known, metadata } : known] : [];
}

function projectRun(face: Face, entry: Entry, state: SessionState): AgUiEvent[] {
  const { event, runId } = entry;
  const run = runId === undefined ? undefined : state.runs.get(runId);
  const isShownRun = run !== undefined && face.shown?.runId === run.id;
  switch (event.type) {
    case "attempt.started":
      return run && !face.shown && mayShow(face, run) ? begin(face, state, run) : [];
    case "attempt.lost":
    case "attempt.released":
      return isShownRun ? closeFrames(face.open, "broken", face.peer, () => true) : [];
    case "round.superseded":
    case "step.superseded":
      return isShownRun ? withdrawn(face, state, entry) : [];
    case "run.queued":
    case "run.suspended":
    case "run.ended": {
      if (!run || isActivated(run)) return [];
      if (isShownRun) return finish(face, state, run);
      face.owed = true;
      return [];
    }
    case "run.steer_settled":
      return isShownRun && event.consumed ? steerEvents(face, state, event.messageId) : [];
    case "content.erased":
      return changed(face, state);
    default:
      return [];
  }
}

function mayShow({ options }: Parameters<typeof nextOf>[0], run: Run): boolean {
  return options.runId === undefined || options.runId === run.id;
}

/** Something that the reader may hold was changed: it is told at once where it can be. */
function changed(face: Face, state: SessionState): AgUiEvent[] {
  face.changed = true;
  return face.shown ? resync(face, state) : [];
}

/** What was written in a round or a step is gone: what of it was open ends, and the reader is told what is left. */
function withdrawn(face: Face, state: SessionState, { event }: Entry): AgUiEvent[] {
  const isOver = (scope: Scope) =>
    event.type === "round.superseded"
      ? scope.round === event.round
      : event.type === "step.superseded" &&
        scope.stepId === event.stepId &&
        scope.stepAttempt === event.stepAttempt;
  const events = [
    ...closeWhere(face.open, (kind, id) => isOverIn(state, kind, id)),
    ...closeFrames(face.open, "broken", face.peer, isOver),
    ...changed(face, state),
  ];
  // What it said of the state is gone too.
  if (face.stateTold) events.push(...tellState(face, state));
  return events;
}

function isOverIn(state: SessionState, kind: "item" | "call", id: string): boolean {
  if (kind === "call") return state.calls.get(id)?.status !== "streaming";
  const item = state.items.get(id);
  return !(item && "text" in item && item.status === "open");
}

/** The activation is over: everything ends, the reader is brought up to date, and the next one is shown that waited. */
function finish(face: Face, state: SessionState, run: Run): AgUiEvent[] {
  const { shown, peer } = face;
  if (!shown) return [];
  const { threadId } = face.options;
  const events = closeAll(face.open, closingOf(run), peer);
  if (!isLast(face, state, run)) face.changed = true;
  face.shown = undefined;
  const follower = nextOf(face, state);
  if (!follower && (face.changed || face.owed)) events.push(...bringUpToDate(face, state));
  events.push(outcomeOf(state, run, { threadId, runId: shown.id, peer }));
  if (follower) events.push(...begin(face, state, follower));
  return events;
}

/**
 * Whether a run ends the thread that its reader sees next. Where it is on another path, that is another thread; and what
 * runs beside each other say of one activity stands in the order of their nodes, not of the log.
 */
function isLast({ options }: Face, state: SessionState, run: Run): boolean {
  const tip = options.runId ?? tipOf(state);
  const path = tip === undefined ? [] : pathTo(state, tip);
  const at = path.indexOf(run.id);
  return at !== -1 && !path.slice(at + 1).some((id) => state.runs.get(id)?.activation);
}

function bringUpToDate(face: Face, state: SessionState): AgUiEvent[] {
  const { peer, changed: isChanged } = face;
  const target = targetOf(face, state);
  const told = tell(face.held, target, { peer, changed: isChanged });
  face.changed = false;
  face.owed = false;
  const events =
    told.kind === "snapshots"
      ? told.snapshots.map((it) => snapshotEvent(face, it))
      : told.messages.length > 0
        ? [snapshotEvent(face, [...face.held.own, ...target])]
        : [];
  return isStateOther(face, state) ? [...events, ...tellState(face, state)] : events;
}

/** The run that is active and was not shown, the one that began first. */
export function nextOf(
  face: { readonly options: Pick<ProjectionOptions, "runId"> },
  state: SessionState,
): Run | undefined {
  let first: Run | undefined;
  for (const id of state.index.live) {
    const run = state.runs.get(id);
    if (!run || !isActivated(run) || !mayShow(face, run)) continue;
    if (!first || (run.activation?.offset ?? "") < (first.activation?.offset ?? "")) first = run;
  }
  return first;
}

function projectCall(face: Face, event: CallEvent, state: SessionState): AgUiEvent[] {
  const call = state.calls.get(event.callId);
  const isTold = face.held.home(event.callId) !== undefined;
  if (!call) {
    // Dropped: it only repeated another.
    if (!isTold) return [];
    return [...closeCall(face, event.callId), ...changed(face, state)];
  }
  if (call.name === INTERRUPT_TOOL) return [];
  switch (event.type) {
    case "call.arguments_replaced": {
      if (!isTold) return [];
      // Nothing was sent of them yet: the text is just what comes next.
      if (face.open.calls.get(call.id) !== false) return changed(face, state);
      face.open.calls.set(call.id, true);
      return [{ type: "TOOL_CALL_ARGS", toolCallId: call.id, delta: call.arguments }];
    }
    case "call.decided": {
      const edited = event.arguments !== undefined && isTold ? changed(face, state) : [];
      return event.approved ? edited : [...edited, ...settled(face, call)];
    }
    case "call.answered":
    case "call.settled":
      return settled(face, call);
    case "call.answer_replaced":
      return isTold ? changed(face, state) : [];
    case "call.annotated":
    case "call.progressed": {
      const isSeen = shownMetadata(event.metadata) !== undefined && !call.redacted;
      if (isTold && isSeen) face.changed = true;
      return [];
    }
    default:
      return [];
  }
}

function closeCall({ open }: Face, callId: string): AgUiEvent[] {
  return closeWhere(open, (kind, id) => kind === "call" && id === callId);
}

/**
 * What ended a call. The agent's side is told as it comes; a client's word, or that there is none, is news for the end of
 * the run: nobody may answer a client's call in its stream.
 */
function settled(face: Face, call: Parameters<typeof resultEvent>[1]): AgUiEvent[] {
  const events = closeCall(face, call.id);
  const isTold = face.held.home(call.id) !== undefined;
  if (!isShown(call)) {
    if (isTold) face.changed = true;
  } else if (call.executor === "client" || face.shown?.runId !== call.runId || !isTold) {
    face.owed = true;
  } else {
    events.push(...resultEvent(face, call));
  }
  return events;
}
