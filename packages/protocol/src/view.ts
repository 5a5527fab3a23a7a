import type { Call } from "./call.ts";
import type { Item } from "./item.ts";
import { changedSince, markOf } from "./journal.ts";
import type { MessageNode, Run } from "./run.ts";
import { tipOf, type SessionState } from "./state.ts";
import { pathTo, wasRead } from "./tree.ts";

/** One piece of a run as it is shown: text, reasoning, a kept event, the beginning of a round, what was said to steer it, or a call. */
export type ViewPart = Item | Call;

/** A user's message as it is shown; one that steered a run and was read is a part of that run instead. */
export interface MessageView {
  readonly type: "message";
  readonly id: string;
  readonly message: MessageNode;
}

/** A run as it is shown, with its content in log order. Superseded calls are left out. */
export interface RunView {
  readonly type: "run";
  readonly id: string;
  readonly run: Run;
  readonly parts: readonly ViewPart[];
}

export type ViewNode = MessageView | RunView;

/** Tells a call from the other parts. */
export function isCall(part: ViewPart): part is Call {
  return !("kind" in part);
}

/** What a view remembers between two looks at its state. Of one reader; made by {@link createViewCache}. */
export interface ViewCache {
  state: SessionState | undefined;
  mark: number;
  /** How many of the state's nodes the path knows of. */
  seen: number;
  /** The last node of the path, shown or not. */
  tip: string | undefined;
  nodes: readonly ViewNode[];
  readonly places: Map<string, number>;
}

export function createViewCache(): ViewCache {
  return { state: undefined, mark: 0, seen: 0, tip: undefined, nodes: [], places: new Map() };
}

/**
 * The path that ends in the session's newest node, oldest node first.
 *
 * Stable by identity: node objects and their `parts` are the ones of the last look where nothing in them changed, the
 * whole array too; a part is the state's own row, which is replaced when it changes and never mutated. A look costs
 * what changed since the last one (for a run, its parts), plus one copy of the array of nodes.
 */
export function viewOf(
  state: SessionState,
  cache: ViewCache = createViewCache(),
): readonly ViewNode[] {
  const { journal, nodes: ids } = state.index;
  const changed = cache.state === state ? changedSince(journal, cache.mark) : undefined;
  let nodes: ViewNode[] | undefined;
  if (changed === undefined || !extendsPath(state, cache) || isSteered(state, cache, changed)) {
    const tip = tipOf(state);
    const path = tip === undefined ? [] : pathTo(state, tip).filter((id) => isShown(state, id));
    nodes = path.map((id) => nodeOf(state, id, knownNode(cache, id)));
    cache.places.clear();
    nodes.forEach((node, at) => cache.places.set(node.id, at));
    if (cache.nodes.length === nodes.length && nodes.every((node, at) => node === cache.nodes[at]))
      nodes = undefined;
  } else {
    for (const id of changed) {
      const at = cache.places.get(id);
      const known = at === undefined ? undefined : (nodes ?? cache.nodes)[at];
      if (at === undefined || known === undefined) continue;
      const next = nodeOf(state, id, known);
      if (next !== known) (nodes ??= [...cache.nodes])[at] = next;
    }
    for (const id of ids.slice(cache.seen)) {
      if (!isShown(state, id)) continue;
      nodes ??= [...cache.nodes];
      cache.places.set(id, nodes.length);
      nodes.push(nodeOf(state, id, undefined));
    }
  }
  cache.state = state;
  cache.mark = markOf(journal);
  cache.seen = ids.length;
  cache.tip = tipOf(state);
  if (nodes) cache.nodes = nodes;
  return cache.nodes;
}

/** Whether every node that came since the last look follows the one before it. */
function extendsPath(state: SessionState, cache: ViewCache): boolean {
  const ids = state.index.nodes;
  let { tip } = cache;
  for (const id of ids.slice(cache.seen)) {
    if (parentOf(state, id) !== tip) return false;
    tip = id;
  }
  return true;
}

/** Whether a run on the path was sent a message or read one: that message may be shown elsewhere now. */
function isSteered(state: SessionState, cache: ViewCache, changed: ReadonlySet<string>): boolean {
  for (const id of changed) {
    const known = knownNode(cache, id);
    if (known?.type === "run" && known.run.steers !== state.runs.get(id)?.steers) return true;
  }
  return false;
}

function isShown(state: SessionState, id: string): boolean {
  const message = state.messages.get(id);
  return !message || !wasRead(state, message);
}

function parentOf(state: SessionState, id: string): string | undefined {
  return (state.messages.get(id) ?? state.runs.get(id))?.parentId;
}

function knownNode(cache: ViewCache, id: string): ViewNode | undefined {
  const at = cache.places.get(id);
  return at === undefined ? undefined : cache.nodes[at];
}

function nodeOf(state: SessionState, id: string, known: ViewNode | undefined): ViewNode {
  const message = state.messages.get(id);
  if (message)
    return known?.type === "message" && known.message === message
      ? known
      : { type: "message", id, message };
  const run = state.runs.get(id);
  if (!run) throw new RangeError(`Node ${id} is neither a message nor a run of this state.`);
  const before = known?.type === "run" ? known : undefined;
  const parts = partsShown(state, id, before?.parts);
  return before && before.run === run && before.parts === parts
    ? before
    : { type: "run", id, run, parts };
}

function partsShown(
  state: SessionState,
  runId: string,
  known: readonly ViewPart[] = [],
): readonly ViewPart[] {
  const parts: ViewPart[] = [];
  for (const { kind, id } of state.index.parts.get(runId) ?? []) {
    const part = kind === "call" ? state.calls.get(id) : state.items.get(id);
    if (part && !(isCall(part) && (part.withdrawn || part.outcome === "superseded")))
      parts.push(part);
  }
  const same = parts.length === known.length && parts.every((part, at) => part === known[at]);
  return same ? known : parts;
}
