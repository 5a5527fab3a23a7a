import { canonical } from "../canonical.ts";
import type { EventItem } from "../item.ts";
import type { Run } from "../run.ts";
import { partsOf, type SessionState } from "../state.ts";
import {
  noteOwners,
  snapshotEvent,
  statePathOf,
  steersHeld,
  targetOf,
  tellState,
  type Face,
} from "./face.ts";
import type { AgUiEvent, AgUiMessage } from "./face-event.ts";
import { createHeld, type Held } from "./held.ts";
import { isShown } from "./messages.ts";
import { createOpenItems } from "./open-items.ts";
import { frameEvent } from "./project-frames.ts";
import { startCall, startText } from "./project-items.ts";
import { toldState } from "./state-value.ts";
import { tell } from "./tell.ts";

/**
 * Begins to show a run's activation: RUN_STARTED with what the reader was not told, a snapshot where that is more than
 * additions, the state where it is another, and a start for everything that is open already.
 */
export function begin(face: Face, state: SessionState, run: Run): AgUiEvent[] {
  const { runId, attempt } = { runId: run.id, attempt: run.activation?.attempt ?? run.attempt };
  const id = face.options.runIdOf(runId, attempt);
  face.shown = { runId, attempt, id };
  return [...startRun(face, state, id), ...reopen(face, state, run)];
}

/** RUN_STARTED and all that brings a reader to where the thread is. */
export function startRun(face: Face, state: SessionState, runId: string): AgUiEvent[] {
  const { options, peer } = face;
  face.open = createOpenItems();
  const thread = targetOf(face, state);
  takePosted(face, thread);
  const target = [...thread, ...steersHeld(face, state)];
  const told = tell(face.held, target, { peer, changed: face.changed });
  face.changed = false;
  face.owed = false;
  const messages = told.kind === "append" ? [...told.messages] : [];
  const { threadId } = options;
  noteOwners(face, messages, false);
  const events: AgUiEvent[] = [
    {
      type: "RUN_STARTED",
      threadId,
      runId: runId,
      ...(peer === "1.0" && { protocolVersion: "1.0" }),
      // What a client of before 1.0 wants to find in an input, though the protocol asks for less.
      ...(messages.length > 0 && {
        input: {
          threadId,
          runId: runId,
          messages,
          state: {},
          tools: [],
          context: [],
          forwardedProps: {},
        },
      }),
    },
  ];
  if (told.kind === "snapshots")
    for (const snapshot of told.snapshots) events.push(snapshotEvent(face, snapshot));
  if (isStateOther(face, state)) events.push(...tellState(face, state));
  face.statePath = statePathOf(face, state).at(-1);
  return events;
}

/** Whether the reader's state may be another than the path's. */
export function isStateOther(face: Face, state: SessionState): boolean {
  const { statePath, stateStale, options } = face;
  const path = statePathOf(face, state);
  if (statePath !== undefined) return stateStale || !path.includes(statePath);
  if (options.state === undefined) return true;
  face.stateTold = true;
  face.stateStale = false;
  return canonical(options.state) !== canonical(toldState(state, path));
}

/** Compares what the reader posted with what the session has, once. */
function takePosted(face: Face, target: readonly AgUiMessage[]): void {
  const { posted } = face;
  if (!posted) return;
  face.posted = undefined;
  face.held = heldOf(posted, target);
  const known = new Map(target.map((message) => [message.id, message]));
  const differs = posted.some((message) => {
    const ours = known.get(message.id);
    return ours !== undefined && !saysTheSame(ours, message);
  });
  if (differs) face.changed = true;
}

/** Whether a client's list is what the session has, activities apart, which no client posts (SPEC 12.3.5). */
export function isSameHistory(
  ours: readonly AgUiMessage[],
  posted: readonly AgUiMessage[],
): boolean {
  const list = ours.filter(({ role }) => role !== "activity");
  const theirs = posted.filter(({ role }) => role !== "system" && role !== "developer");
  return (
    list.length === theirs.length &&
    list.every((message, at) => {
      const other = theirs[at];
      return other?.id === message.id && saysTheSame(message, other);
    })
  );
}

/** What an agent said must be the same; what a client said itself it may spell as it likes, but in its words. */
function saysTheSame(ours: AgUiMessage, theirs: AgUiMessage): boolean {
  if (ours.role !== theirs.role) return false;
  if (ours.role === "assistant" || ours.role === "reasoning")
    return canonical(saidIn(ours)) === canonical(saidIn(theirs));
  const [own, other] = [wordsIn(ours), wordsIn(theirs)];
  return typeof own !== "string" || typeof other !== "string" || own === other;
}

/** What stands for a failure where nothing else is said is its error. */
function wordsIn(message: AgUiMessage): unknown {
  const { content } = message;
  return content === "" && message.role === "tool" ? (message.error ?? "") : content;
}

function saidIn(message: AgUiMessage) {
  const { content = "", metadata } = message;
  const encryptedValue = "encryptedValue" in message ? message.encryptedValue : undefined;
  return { content, metadata, encryptedValue, calls: callsIn(message) };
}

function callsIn(message: AgUiMessage) {
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
  return calls.map(({ id, function: { name, arguments: text }, encryptedValue, metadata }) => {
    return { id, name, text, encryptedValue, metadata };
  });
}

/** What a client holds that posted these messages: those, and the activities between them. */
function heldOf(posted: readonly AgUiMessage[], target: readonly AgUiMessage[]): Held {
  const known = new Set(target.map(({ id }) => id));
  const isOwn = ({ id, role }: AgUiMessage) =>
    !known.has(id) && (role === "system" || role === "developer");
  const list = posted.filter((message) => !isOwn(message));
  const last = target.findLastIndex(({ id }) => list.some((message) => message.id === id));
  target.slice(0, Math.max(last, 0)).forEach((message, at) => {
    if (message.role !== "activity") return;
    const before = target[at - 1]?.id;
    const place = list.findIndex(({ id }) => id === before);
    if (before === undefined || place !== -1) list.splice(place + 1, 0, message);
  });
  return createHeld(list, posted.filter(isOwn));
}

/** Starts again what was begun before the reader came: its content is in the messages already. */
function reopen(face: Face, state: SessionState, run: Run): AgUiEvent[] {
  const events = reopenFrames(face, state, run);
  for (const { kind, id } of partsOf(state, run.id)) {
    const item = kind === "item" ? state.items.get(id) : undefined;
    const call = kind === "call" ? state.calls.get(id) : undefined;
    if (call?.status === "streaming" && isShown(call)) events.push(...startCall(face, call));
    if ((item?.kind === "text" || item?.kind === "reasoning") && item.status === "open")
      events.push(...startText(face, state, item));
  }
  return events;
}

/** Steps, spans and subagents that the attempt at work began and did not end. */
function reopenFrames(face: Face, state: SessionState, run: Run): AgUiEvent[] {
  if (run.status !== "active") return [];
  const begun = new Map<string, EventItem>();
  for (const { kind, id, offset } of partsOf(state, run.id)) {
    const item = kind === "item" ? state.items.get(id) : undefined;
    if (item?.kind !== "event" || offset < (run.attemptOffset ?? "")) continue;
    const frame = frameOf(item);
    if (frame && !frame.begins) begun.delete(frame.key);
    else if (frame && !begun.has(frame.key)) begun.set(frame.key, item);
  }
  return [...begun.values()].flatMap(({ event, ...scope }) => frameEvent(face, event, scope));
}

function frameOf({ event }: EventItem): { key: string; begins: boolean } | undefined {
  const key = (kind: string, id: string) => `${kind} ${JSON.stringify([event.subagentRunId, id])}`;
  switch (event.type) {
    case "STEP_STARTED":
    case "STEP_FINISHED":
      return { key: key("step", event.stepName), begins: event.type === "STEP_STARTED" };
    case "REASONING_START":
    case "REASONING_END":
      return { key: `span ${event.messageId}`, begins: event.type === "REASONING_START" };
    case "SUBAGENT_STARTED":
    case "SUBAGENT_FINISHED":
    case "SUBAGENT_ERROR":
      return { key: `subagent ${event.subagentRunId}`, begins: event.type === "SUBAGENT_STARTED" };
    default:
      return undefined;
  }
}
