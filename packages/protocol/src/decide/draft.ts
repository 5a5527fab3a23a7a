import { isAct } from "../act.ts";
import type { Entry, Scope } from "../entry.ts";
import type { Event } from "../events.ts";
import { toOffset } from "../offset.ts";
import type { RowKind } from "../reduce/changes.ts";
import { reduce } from "../reduce/index.ts";
import { producerKey, type Producer, type SessionState } from "../state.ts";

/** A changed row, by kind and id; its value is read from the state when the batch is sealed. */
export interface TouchedRow {
  readonly kind: RowKind | "producer";
  readonly id: string;
}

/** By kind and id. */
type Touched = Map<TouchedRow["kind"], Map<string, TouchedRow>>;

/** Who an event is recorded under, and when. */
export interface Author {
  readonly actor: string;
  /** Unix milliseconds, from the server's clock. */
  readonly now: number;
}

/**
 * The uncommitted tail of a session's log: `emit` gives each event its offset, folds it into the state at once, and
 * keeps it until `seal` hands the batch to storage. Adjacent deltas of one open item become one entry before their
 * offset is given, so what is sent is what is stored.
 *
 * The state runs ahead of storage; if a sealed batch fails to commit, draft and state are thrown away together.
 */
export interface Draft {
  readonly state: SessionState;
  /** True while nothing was emitted or touched since the last seal. */
  readonly empty: boolean;
  emit(author: Author, event: Event, scope?: Scope): void;
  /** Notes a producer's last batch; stored with the commit, not part of the log. */
  note(producer: Producer): void;
  /** Ends the batch and begins the next. */
  seal(): Sealed;
}

export interface Sealed {
  readonly after: string;
  readonly entries: Entry[];
  readonly touched: TouchedRow[];
  /** How many of the entries record an act. */
  readonly acts: number;
}

/**
 * @param seq the sequence of `state.head` in `epoch`
 * @param salt makes the salt of an act's entry; without it, acts have none
 */
export function createDraft(
  state: SessionState,
  epoch: string,
  seq: number,
  salt?: () => string,
): Draft {
  let entries: Entry[] = [];
  let touched: Touched = new Map();
  let after = state.head;
  let acts = 0;
  const touch = (kind: TouchedRow["kind"], id: string) => {
    const rows = touched.get(kind);
    if (rows) rows.set(id, { kind, id });
    else touched.set(kind, new Map([[id, { kind, id }]]));
  };
  const changes = { touch };
  return {
    state,
    get empty() {
      return entries.length === 0 && touched.size === 0;
    },
    emit({ actor, now }, event, scope = {}) {
      const last = entries.at(-1);
      const merged = last && mergeDelta(last, actor, event, scope);
      if (merged && last) {
        // The state folds the new delta alone; the entry says the sum of both.
        reduce(state, { ...last, event }, changes);
        entries[entries.length - 1] = merged;
        return;
      }
      seq += 1;
      const act = isAct(event);
      if (act) acts += 1;
      const entry: Entry = {
        offset: toOffset(epoch, seq),
        at: now,
        actor,
        ...scope,
        event,
        ...(act && salt && { salt: salt() }),
      };
      reduce(state, entry, changes);
      entries.push(entry);
    },
    note(producer) {
      const key = producerKey(producer);
      state.producers.set(key, producer);
      touch("producer", key);
    },
    seal() {
      const rows = [...touched.values()].flatMap((byId) => [...byId.values()]);
      const sealed = { after, entries, touched: rows, acts };
      entries = [];
      acts = 0;
      touched = new Map();
      after = state.head;
      return sealed;
    },
  };
}

/** One entry for two adjacent plain deltas of the same item, or undefined where they must stay two. */
function mergeDelta(last: Entry, actor: string, event: Event, scope: Scope): Entry | undefined {
  const before = last.event;
  if (!isPlainDelta(before) || !isPlainDelta(event) || before.type !== event.type) return undefined;
  if (idOf(before) !== idOf(event) || last.actor !== actor || !sameScope(last, scope))
    return undefined;
  return { ...last, event: { ...before, delta: before.delta + event.delta } };
}

type Delta = Extract<
  Event,
  { type: "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT" | "TOOL_CALL_ARGS" }
>;

/** A delta with nothing but its id and text; any further field keeps it apart. */
function isPlainDelta(event: Event): event is Delta {
  switch (event.type) {
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT":
    case "TOOL_CALL_ARGS":
      return Object.keys(event).length === 3;
    default:
      return false;
  }
}

function idOf(event: Delta): string {
  return event.type === "TOOL_CALL_ARGS" ? event.toolCallId : event.messageId;
}

function sameScope(a: Scope, b: Scope): boolean {
  return (
    a.runId === b.runId &&
    a.attempt === b.attempt &&
    a.round === b.round &&
    a.stepId === b.stepId &&
    a.stepAttempt === b.stepAttempt
  );
}
