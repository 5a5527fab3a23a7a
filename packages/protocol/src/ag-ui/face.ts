import type { Run } from "../run.ts";
import { tipOf, type SessionState } from "../state.ts";
import { pathTo } from "../tree.ts";
import type { AgUiEvent, AgUiMessage, Peer } from "./face-event.ts";
import type { Held } from "./held.ts";
import { messagesAlong, userMessage } from "./messages.ts";
import type { OpenItems } from "./open-items.ts";
import { agUiState, toldState } from "./state-value.ts";
import { tell } from "./tell.ts";

export interface ProjectionOptions {
  readonly threadId: string;
  /** Default `1.0`. */
  readonly peer?: Peer;
  /** The AG-UI run's id of an activation: of a run's, by the number of its first attempt. */
  readonly runIdOf: (runId: string, attempt: number) => string;
  /** Shows this run and no other. Default: whichever is active, one at a time. */
  readonly runId?: string;
  /** What the reader holds already, as it posted it. Default: nothing. */
  readonly messages?: readonly AgUiMessage[];
  /** The state that the reader holds. Without it, it is told. */
  readonly state?: unknown;
}

/** The activation that a reader is shown. */
export interface Shown {
  readonly runId: string;
  /** Its first attempt. */
  readonly attempt: number;
  /** The AG-UI run's id. */
  readonly id: string;
}

/** One reader of the face: what it holds, and what it is owed. */
export interface Face {
  readonly options: ProjectionOptions;
  readonly peer: Peer;
  held: Held;
  /** What the reader posted, until it is compared with what the session has. */
  posted: readonly AgUiMessage[] | undefined;
  open: OpenItems;
  shown: Shown | undefined;
  /** Something that the reader holds says something else by now. */
  changed: boolean;
  /** Something was added that the reader was not told, and is before its run ends. */
  owed: boolean;
  /** The reader's state is not the thread's. */
  stateStale: boolean;
  /** The reader was told of a state. */
  stateTold: boolean;
  /** The last node of the path that its state is of. */
  statePath: string | undefined;
}

/** Whether a run is in the middle of an activation, at work or between an attempt that was lost and the next. */
export function isActivated({ activation }: Run): boolean {
  return activation !== undefined && !activation.ended;
}

/** The messages that a reader should hold. Of runs that are active, only the one it is shown is told of before its end. */
export function targetOf({ options, peer, shown }: Face, state: SessionState): AgUiMessage[] {
  const last = shown?.runId ?? options.runId;
  const tip = last ?? tipOf(state);
  const path = tip === undefined ? [] : pathTo(state, tip);
  return messagesAlong(state, path, peer, (run) => run.id !== shown?.runId && isActivated(run));
}

/** The path whose state a reader has: the session's newest one, where that holds the run it is shown. */
export function statePathOf({ options, shown }: Face, state: SessionState): string[] {
  const runId = shown?.runId ?? options.runId;
  const tip = tipOf(state);
  const path = tip === undefined ? [] : pathTo(state, tip);
  return runId === undefined || path.includes(runId) ? path : pathTo(state, runId);
}

/** Puts the reader's messages right at once. */
export function resync(face: Face, state: SessionState): AgUiEvent[] {
  const target = [...targetOf(face, state), ...steersHeld(face, state)];
  const told = tell(face.held, target, { peer: face.peer, changed: true });
  face.changed = false;
  return told.kind === "append" ? [] : told.snapshots.map((it) => snapshotEvent(face, it));
}

/** A snapshot, which also says whose the messages are. */
export function snapshotEvent(face: Face, messages: readonly AgUiMessage[]): AgUiEvent {
  noteOwners(face, messages, true);
  return { type: "MESSAGES_SNAPSHOT", messages: [...messages] };
}

/** Notes whose messages are, as a stock client's verifier does. */
export function noteOwners(
  { open: { owners } }: Face,
  messages: readonly AgUiMessage[],
  isAuthoritative: boolean,
): void {
  for (const { id, role, subagentRunId } of messages) {
    const bucket = role === "reasoning" ? owners.reasoning : owners.message;
    if (isAuthoritative || !bucket.has(id)) bucket.set(id, subagentRunId);
  }
}

/** Tells the reader the thread's state, where it has or had one. */
export function tellState(face: Face, state: SessionState): AgUiEvent[] {
  const path = statePathOf(face, state);
  face.stateStale = false;
  face.statePath = path.at(-1);
  if (agUiState(state, path) === undefined && !face.stateTold) return [];
  face.stateTold = true;
  return [{ type: "STATE_SNAPSHOT", snapshot: toldState(state, path) }];
}

/** Messages that steer the run it is shown and wait still, which the reader holds since it sent them. */
export function steersHeld({ held, shown, peer }: Face, state: SessionState): AgUiMessage[] {
  const run = shown && state.runs.get(shown.runId);
  const waiting = (run?.steers ?? []).filter(({ consumed }) => consumed === undefined);
  return waiting.flatMap(({ messageId }) => {
    const node = state.messages.get(messageId);
    return node && held.get(messageId) ? [userMessage(node, messageId, peer)] : [];
  });
}
