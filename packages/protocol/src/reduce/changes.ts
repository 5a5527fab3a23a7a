import type { Call } from "../call.ts";
import type { Item } from "../item.ts";
import { noteChange } from "../journal.ts";
import type { MessageNode, Run } from "../run.ts";
import { addAlias, addPart, dropAlias, partsOf, type Part, type SessionState } from "../state.ts";

export type RowKind = "session" | "message" | "run" | "item" | "call";

/** Hears which rows a reduction changed. */
export interface Changes {
  touch(kind: RowKind, id: string): void;
}

export const NO_CHANGES: Changes = { touch() {} };

export function putRun(state: SessionState, run: Run, changes: Changes): void {
  if (!state.runs.has(run.id)) state.index.nodes.push(run.id);
  state.runs.set(run.id, run);
  if (run.status === "ended") state.index.live.delete(run.id);
  else state.index.live.add(run.id);
  noteChange(state.index.journal, run.id);
  changes.touch("run", run.id);
}

export function putMessage(state: SessionState, message: MessageNode, changes: Changes): void {
  if (!state.messages.has(message.id)) state.index.nodes.push(message.id);
  state.messages.set(message.id, message);
  noteChange(state.index.journal, message.id);
  changes.touch("message", message.id);
}

export function putItem(state: SessionState, item: Item, changes: Changes): void {
  if (!state.items.has(item.id))
    addPart(state, item.runId, { kind: "item", id: item.id, offset: item.offset });
  setItem(state, item);
  changes.touch("item", item.id);
}

export function putCall(state: SessionState, call: Call, changes: Changes): void {
  if (!state.calls.has(call.id)) {
    addPart(state, call.runId, { kind: "call", id: call.id, offset: call.offset });
    addAlias(state, call);
  }
  setCall(state, call);
  changes.touch("call", call.id);
}

/** Replaces the row of an item that is there already, without a word to storage. */
export function setItem(state: SessionState, item: Item): void {
  state.items.set(item.id, item);
  noteChange(state.index.journal, item.runId);
}

/** Replaces the row of a call that is there already, without a word to storage. */
export function setCall(state: SessionState, call: Call): void {
  state.calls.set(call.id, call);
  state.index.callRevision += 1;
  noteChange(state.index.journal, call.runId);
}

/** Takes parts out of a run's content. The log keeps what they said. */
export function dropParts(
  state: SessionState,
  runId: string,
  isDropped: (part: Part) => boolean,
  changes: Changes,
): void {
  const parts = partsOf(state, runId);
  const kept = parts.filter((part) => !isDropped(part));
  if (kept.length === parts.length) return;
  const dropped = parts.filter(isDropped);
  if (kept.length === 0) state.index.parts.delete(runId);
  else state.index.parts.set(runId, kept);
  for (const part of dropped) {
    if (part.kind === "item") state.items.delete(part.id);
    else dropCall(state, part.id);
    changes.touch(part.kind, part.id);
  }
  state.index.callRevision += 1;
  noteChange(state.index.journal, runId);
}

function dropCall(state: SessionState, id: string): void {
  const call = state.calls.get(id);
  state.calls.delete(id);
  if (call) dropAlias(state, call);
}
