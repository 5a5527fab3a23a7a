import type { Call } from "./call.ts";
import type { Item } from "./item.ts";
import { createJournal, type Journal } from "./journal.ts";
import type { Metadata } from "./json.ts";
import type { Offset } from "./offset.ts";
import { DEFAULT_POLICY, type Policy } from "./policy.ts";
import type { MessageNode, Run } from "./run.ts";
import type { ToolDeclaration } from "./tool.ts";

/** What a session is apart from its nodes and calls. */
export interface SessionRow {
  readonly id: string;
  readonly agent: string;
  readonly createdAt: number;
  /** The principal whose session it is: whoever created it, where nobody else was named. */
  readonly owner?: string;
  readonly policy: Policy;
  readonly metadata?: Metadata;
  /** How long after the last accepted act it is deleted, in milliseconds; absent: never. */
  readonly ttlMs?: number;
  /** It takes no more messages. */
  readonly closed?: { readonly by: string; readonly at: number; readonly reason?: string };
  /** Tools that clients execute, newest advertisement of a name last; the newest 1024. */
  readonly advertised: readonly Advertised[];
  /** Tools that somebody let run without being asked again in this session. */
  readonly grants?: readonly Grant[];
}

export interface Grant {
  readonly tool: string;
  readonly by: string;
  readonly at: number;
}

export interface Advertised {
  readonly tool: ToolDeclaration;
  /** From 1; goes up when the digest of its schema changes. */
  readonly version: number;
  /** Who said so last, and when this version was first advertised. */
  readonly by: string;
  readonly at: number;
  /** When it was advertised last, as far as that was recorded. Unix milliseconds. */
  readonly lastSeen: number;
}

/**
 * Everything derived from a session's log. The maps, each in log order, belong to whoever reduces and change in place;
 * the rows in them never do, so a reader may keep a row and compare it by identity.
 */
export interface SessionState {
  head: Offset;
  session: SessionRow;
  readonly messages: Map<string, MessageNode>;
  readonly runs: Map<string, Run>;
  readonly items: Map<string, Item>;
  readonly calls: Map<string, Call>;
  readonly index: StateIndex;
  /** Kept beside the log by the server, so that a repeated batch is recognised; keyed by {@link producerKey}. */
  readonly producers: Map<string, Producer>;
}

/** The last batch taken from one appender of a run. */
export interface Producer {
  readonly runId: string;
  readonly producer: string;
  readonly attempt: number;
  readonly seq: number;
}

export function producerKey(of: Omit<Producer, "seq">): string {
  return `${of.runId}/${of.attempt}/${of.producer}`;
}

/** The key of a provider's id in a run. */
export function aliasKey(runId: string, providerId: string): string {
  return `${runId}/${providerId}`;
}

/** Derived from the rows alone; neither stored nor sent. */
export interface StateIndex {
  /** Ids of messages and runs in log order. */
  readonly nodes: string[];
  /** Runs that have not ended. */
  readonly live: Set<string>;
  /**
   * A run's calls under each id its provider used again, by {@link aliasKey}, in log order: the newest is what the run's
   * events under that id mean.
   */
  readonly aliases: Map<string, string[]>;
  /** Which run each request is of, by the request's id. */
  readonly requests: Map<string, string>;
  /** A run's items and calls, in log order. */
  readonly parts: Map<string, Part[]>;
  /** Messages and runs that changed, for what is derived from the state and kept. */
  readonly journal: Journal;
  /** Goes up whenever a call changes. */
  callRevision: number;
}

/** A reference to one piece of a run's content. */
export type Part = { readonly kind: "item" | "call"; readonly id: string; readonly offset: Offset };

/** The rows of a state, as stored and sent. */
export interface StateRows {
  readonly session: SessionRow;
  readonly messages: readonly MessageNode[];
  readonly runs: readonly Run[];
  readonly items: readonly Item[];
  readonly calls: readonly Call[];
}

/** The state of a session that was just created. */
export function emptyState(head: Offset, session: { id: string; createdAt: number }): SessionState {
  return {
    head,
    session: { ...session, agent: "", policy: DEFAULT_POLICY, advertised: [] },
    messages: new Map(),
    runs: new Map(),
    items: new Map(),
    calls: new Map(),
    index: {
      nodes: [],
      live: new Set(),
      aliases: new Map(),
      requests: new Map(),
      parts: new Map(),
      journal: createJournal(),
      callRevision: 0,
    },
    producers: new Map(),
  };
}

/** Builds a state from rows in any order. */
export function fromRows(head: Offset, rows: StateRows): SessionState {
  const state = emptyState(head, rows.session);
  state.session = rows.session;
  for (const node of inLogOrder([...rows.messages, ...rows.runs])) {
    state.index.nodes.push(node.id);
    if ("role" in node) {
      state.messages.set(node.id, node);
    } else {
      state.runs.set(node.id, node);
      if (node.status !== "ended") state.index.live.add(node.id);
      for (const { id } of node.requests ?? []) state.index.requests.set(id, node.id);
    }
  }
  for (const row of inLogOrder([...rows.items, ...rows.calls])) {
    const { id, offset } = row;
    if ("kind" in row) {
      state.items.set(id, row);
      addPart(state, row.runId, { kind: "item", id, offset });
    } else {
      state.calls.set(id, row);
      addPart(state, row.runId, { kind: "call", id, offset });
      addAlias(state, row);
    }
  }
  return state;
}

/**
 * Another state with the same rows, to try something on: what is done to it leaves this one as it is. Costs a look at
 * every row, and copies none.
 */
export function copyState(state: SessionState): SessionState {
  const { index } = state;
  return {
    head: state.head,
    session: state.session,
    messages: new Map(state.messages),
    runs: new Map(state.runs),
    items: new Map(state.items),
    calls: new Map(state.calls),
    index: {
      nodes: [...index.nodes],
      live: new Set(index.live),
      aliases: new Map([...index.aliases].map(([key, ids]) => [key, [...ids]])),
      requests: new Map(index.requests),
      parts: new Map([...index.parts].map(([key, parts]) => [key, [...parts]])),
      journal: { dropped: index.journal.dropped, ids: [...index.journal.ids] },
      callRevision: index.callRevision,
    },
    producers: new Map(state.producers),
  };
}

/** The rows of a state. Costs the state's size. */
export function toRows(state: SessionState): StateRows {
  return {
    session: state.session,
    messages: [...state.messages.values()],
    runs: [...state.runs.values()],
    items: [...state.items.values()],
    calls: [...state.calls.values()],
  };
}

/** A run's parts, in log order; the array is the state's own. */
export function partsOf(state: SessionState, runId: string): readonly Part[] {
  return state.index.parts.get(runId) ?? [];
}

/** Appends to a run's parts. Only for `reduce`. */
export function addPart(state: SessionState, runId: string, part: Part): void {
  const parts = state.index.parts.get(runId);
  if (parts) parts.push(part);
  else state.index.parts.set(runId, [part]);
}

/** Points a provider's id at its newest call. Only for `reduce`. */
export function addAlias({ index: { aliases } }: SessionState, call: Call): void {
  if (call.providerId === undefined) return;
  const key = aliasKey(call.runId, call.providerId);
  const known = aliases.get(key);
  if (known) known.push(call.id);
  else aliases.set(key, [call.id]);
}

/** The provider's id means the call before this one again, where there was one. Only for `reduce`. */
export function dropAlias({ index: { aliases } }: SessionState, call: Call): void {
  if (call.providerId === undefined) return;
  const key = aliasKey(call.runId, call.providerId);
  const known = aliases.get(key) ?? [];
  known.splice(known.lastIndexOf(call.id), 1);
  if (known.length === 0) aliases.delete(key);
}

/** A run's calls, in log order. */
export function callsOf(state: SessionState, runId: string): Call[] {
  const calls: Call[] = [];
  for (const part of partsOf(state, runId)) {
    const call = part.kind === "call" ? state.calls.get(part.id) : undefined;
    if (call) calls.push(call);
  }
  return calls;
}

/** The last node of the path. */
export function tipOf(state: SessionState): string | undefined {
  return state.index.nodes.at(-1);
}

function inLogOrder<T extends { readonly offset: Offset }>(rows: T[]): T[] {
  return rows.sort((a, b) => (a.offset < b.offset ? -1 : a.offset > b.offset ? 1 : 0));
}
