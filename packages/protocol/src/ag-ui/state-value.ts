import type { ContentEvent } from "../events.ts";
import type { Offset } from "../offset.ts";
import { partsOf, tipOf, type SessionState } from "../state.ts";
import { pathTo } from "../tree.ts";
import { patched } from "./json-patch.ts";

/**
 * The thread's state: what the runs of a path said of it, in log order, from `{}` on. Undefined where nobody said
 * anything. A patch that does not apply is skipped. Costs what was said since the last snapshot, and a look at the path.
 *
 * @param path ids of nodes; by default those up to the newest one
 */
export function agUiState(
  state: SessionState,
  path: readonly string[] = defaultPath(state),
): unknown {
  const said = changesOf(state, path);
  if (said.length === 0) return undefined;
  let value: unknown = {};
  for (const { event } of said) {
    if (event.type === "STATE_SNAPSHOT") value = event.snapshot;
    else if (event.type === "STATE_DELTA") value = (patched(value, event.delta) ?? { value }).value;
  }
  return value;
}

/** The thread's state as whoever is told of it has it: `{}` where nobody said anything. It may be null. */
export function toldState(state: SessionState, path: readonly string[]): unknown {
  const value = agUiState(state, path);
  return value === undefined ? {} : value;
}

interface Change {
  readonly offset: Offset;
  readonly event: ContentEvent;
}

/** What was said of the state, from the newest snapshot on. */
function changesOf(state: SessionState, path: readonly string[]): Change[] {
  const found: Change[] = [];
  let snapshot = "";
  for (const nodeId of path.toReversed()) {
    for (const { kind, id, offset } of partsOf(state, nodeId).toReversed()) {
      if (offset < snapshot) break;
      const item = kind === "item" ? state.items.get(id) : undefined;
      if (item?.kind !== "event" || !isOfState(item.event)) continue;
      found.push({ offset, event: item.event });
      if (item.event.type === "STATE_SNAPSHOT" && offset > snapshot) snapshot = offset;
    }
  }
  return found
    .filter(({ offset }) => offset >= snapshot)
    .sort((a, b) => (a.offset < b.offset ? -1 : 1));
}

export function isOfState({ type }: { readonly type: string }): boolean {
  return type === "STATE_SNAPSHOT" || type === "STATE_DELTA";
}

function defaultPath(state: SessionState): string[] {
  const tip = tipOf(state);
  return tip === undefined ? [] : pathTo(state, tip);
}
