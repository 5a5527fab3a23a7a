import type { Call } from "../call.ts";
import type { Entry } from "../entry.ts";
import type { Offset } from "../offset.ts";
import { reduce } from "../reduce/index.ts";
import type { Run } from "../run.ts";
import { fromRows, toRows, type SessionState } from "../state.ts";
import { pathTo } from "../tree.ts";
import type { ProjectionOptions } from "./face.ts";
import type { AgUiEvent } from "./face-event.ts";
import { createFace, nextOf, projectionOf, type Projection } from "./project.ts";

/** A place in what a reader was sent: behind the `index`-th event, from 0, of the entry at `offset`. */
export interface Cursor {
  readonly offset: Offset;
  readonly index: number;
}

/** An event with the cursor behind it. */
export interface Sent {
  readonly cursor: Cursor;
  readonly event: AgUiEvent;
}

export interface Resumed {
  /** What the reader was not sent. */
  readonly events: readonly Sent[];
  /** Goes on with the entry after the state's head. */
  readonly projection: Projection;
}

/**
 * From which entry on {@link resumeThread} needs the log, itself included: where the activation began that a reader is shown.
 * Undefined while none goes on: then a reader joins anew. Who is shown one run alone may have missed its end: theirs
 * is the last that the run had.
 */
export function resumesFrom(
  state: SessionState,
  options: Pick<ProjectionOptions, "runId">,
): Offset | undefined {
  return shownRun(state, options)?.activation?.offset;
}

/**
 * Goes on behind a cursor, by projecting the activation again and leaving out what was sent (SPEC 12.3.7). `reset` where that
 * is not certain to give the same events: the cursor is not in this activation, or something lies in it that depends on what
 * its reader held: a snapshot, a message that steered it. Then the reader joins anew. Costs the state and the activation.
 *
 * @param state the reader's own, at its head
 * @param entries from {@link resumesFrom} to the state's head
 */
export function resumeThread(
  state: SessionState,
  entries: readonly Entry[],
  cursor: Cursor,
  options: ProjectionOptions,
): Resumed | "reset" {
  const run = shownRun(state, options);
  const from = run?.activation?.offset;
  // What was sent with the activation's first entry depends on what its reader held.
  if (!run || from === undefined || cursor.offset <= from || cursor.offset > state.head)
    return "reset";
  if (entries[0]?.offset !== from) return "reset";
  // Who is shown one run alone is told, of the others, of those that it comes after.
  const path = options.runId === undefined ? undefined : new Set(pathTo(state, run.id));
  const isBeside = ({ runId = "" }: Entry) => path?.has(runId) ?? true;
  if (entries.some((it) => isOthers(it, run, state) && isBeside(it))) return "reset";
  if (isSteered(run, entries)) return "reset";
  const past = rewind(state, run, from);
  const face = createFace(options);
  const projection = projectionOf(face);
  const events: Sent[] = [];
  for (const entry of entries) {
    reduce(past, entry);
    const projected = projection.project(entry, past);
    if (entry.offset > from && projected.some(isReset)) return "reset";
    projected.forEach((event, index) => {
      const { offset } = entry;
      const isNew = offset > cursor.offset || (offset === cursor.offset && index > cursor.index);
      if (isNew) events.push({ cursor: { offset, index }, event });
    });
  }
  return { events, projection };
}

function shownRun(state: SessionState, options: Pick<ProjectionOptions, "runId">): Run | undefined {
  const own = options.runId === undefined ? undefined : state.runs.get(options.runId);
  return nextOf({ options }, state) ?? (own?.activation && own);
}

/** Whether something steers the run, or did: nobody knows any more which readers held that message, and where. */
function isSteered({ steers = [] }: Run, entries: readonly Entry[]): boolean {
  return (
    steers.some(({ consumed }) => consumed === undefined) ||
    entries.some(({ event }) => event.type === "run.steer_settled" && event.consumed)
  );
}

/** Whether an entry is of another run's attempt, so that the reader may have been shown that one then. */
function isOthers({ runId, attempt, event }: Entry, shown: Run, state: SessionState): boolean {
  if (runId === undefined || runId === shown.id) return false;
  const ends = event.type === "run.ended" || event.type === "run.suspended";
  return attempt !== undefined || (ends && state.runs.get(runId)?.activation !== undefined);
}

function isReset({ type }: AgUiEvent): boolean {
  return type === "MESSAGES_SNAPSHOT" || type === "RUN_STARTED";
}

/**
 * The state without what came at or after an offset, as far as projecting what came then needs it: calls and messages of
 * before are as they are now.
 */
function rewind(state: SessionState, shown: Run, from: Offset): SessionState {
  const rows = toRows(state);
  const isBefore = ({ offset }: { readonly offset: Offset }) => offset < from;
  return fromRows(from, {
    session: rows.session,
    messages: rows.messages.filter(isBefore),
    runs: rows.runs
      .filter(isBefore)
      .map((run) => (run.id === shown.id ? beforeActivation(run, from) : run)),
    items: rows.items.filter(isBefore),
    calls: rows.calls.filter(isBefore).map((call) => beforeItsEnd(call, from)),
  });
}

/** A call that went on beyond an offset: how it ended is news behind that. */
function beforeItsEnd(call: Call, from: Offset): Call {
  if (call.settledOffset === undefined || call.settledOffset < from) return call;
  const { outcome: _outcome, reason: _reason, message: _message, answer: _answer, ...open } = call;
  const { settledAt: _at, settledOffset: _offset, settledBy: _by, ...waits } = open;
  return { ...waits, status: "open" };
}

function beforeActivation(run: Run, from: Offset): Run {
  const { activation, steps: _steps, steers, ...now } = run;
  const { outcome: _outcome, reason: _reason, error: _error, endedAt: _endedAt, ...open } = now;
  const rest = activation?.ended ? { ...open, status: "queued" as const } : now;
  const known = steers?.filter(({ offset }) => offset < from);
  return {
    ...rest,
    openRounds: [],
    // Those that were read before have their place already, and are not read again.
    ...(known && { steers: known }),
  };
}
