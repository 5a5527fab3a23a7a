import type { Scope } from "../entry.ts";
import type { AgUiEvent, Peer } from "./face-event.ts";

/** What an AG-UI run has begun and not ended. */
export interface OpenItems {
  /** The ids under which messages stand, by the ids they have in the session. */
  readonly texts: Map<string, string>;
  readonly reasoning: Map<string, string>;
  /** Whether arguments were sent, by call. */
  readonly calls: Map<string, boolean>;
  readonly spans: Map<string, Scope>;
  readonly steps: Map<string, OpenStep>;
  readonly subagents: Map<string, Scope>;
  /** Subagents that ended: AG-UI knows each once in a run. */
  readonly endedSubagents: Set<string>;
  /** Whose a message is, as far as the run has said: that does not change in it. */
  readonly owners: {
    readonly message: Map<string, string | undefined>;
    readonly reasoning: Map<string, string | undefined>;
  };
}

interface OpenStep {
  readonly stepName: string;
  readonly owner: string | undefined;
  readonly scope: Scope;
}

export function createOpenItems(): OpenItems {
  return {
    texts: new Map(),
    reasoning: new Map(),
    calls: new Map(),
    spans: new Map(),
    steps: new Map(),
    subagents: new Map(),
    endedSubagents: new Set(),
    owners: { message: new Map(), reasoning: new Map() },
  };
}

/** How what is open ends: as its run does, or because others are waited for, or because it broke off. */
export type Closing = "finished" | "waiting" | "broken";

/** Ends everything, innermost first. */
export function closeAll(open: OpenItems, how: Closing, peer: Peer): AgUiEvent[] {
  const events: AgUiEvent[] = [
    ...closeWhere(open, () => true),
    ...closeFrames(open, how, peer, () => true),
  ];
  return events;
}

/** Ends messages and calls, by their ids in the session. */
export function closeWhere(
  open: OpenItems,
  isOver: (kind: "item" | "call", id: string) => boolean,
): AgUiEvent[] {
  const events: AgUiEvent[] = [];
  for (const [id, messageId] of open.texts) {
    if (!isOver("item", id)) continue;
    open.texts.delete(id);
    events.push({ type: "TEXT_MESSAGE_END", messageId });
  }
  for (const [id, messageId] of open.reasoning) {
    if (!isOver("item", id)) continue;
    open.reasoning.delete(id);
    events.push({ type: "REASONING_MESSAGE_END", messageId });
  }
  for (const [toolCallId] of open.calls) {
    if (!isOver("call", toolCallId)) continue;
    open.calls.delete(toolCallId);
    events.push({ type: "TOOL_CALL_END", toolCallId });
  }
  return events;
}

/** Ends reasoning spans, steps and subagents of a scope. */
export function closeFrames(
  open: OpenItems,
  how: Closing,
  peer: Peer,
  isOver: (scope: Scope) => boolean,
): AgUiEvent[] {
  const events: AgUiEvent[] = [];
  for (const [messageId, scope] of open.spans) {
    if (!isOver(scope)) continue;
    open.spans.delete(messageId);
    events.push({ type: "REASONING_END", messageId });
  }
  for (const [key, { stepName, owner, scope }] of open.steps) {
    if (!isOver(scope)) continue;
    open.steps.delete(key);
    const tag = owner !== undefined && { subagentRunId: owner };
    events.push({ type: "STEP_FINISHED", stepName, ...tag });
  }
  // The innermost began last.
  for (const [subagentRunId, scope] of [...open.subagents].toReversed()) {
    if (!isOver(scope)) continue;
    open.subagents.delete(subagentRunId);
    open.endedSubagents.add(subagentRunId);
    events.push(endOfSubagent(subagentRunId, how, peer));
  }
  return events;
}

function endOfSubagent(subagentRunId: string, how: Closing, peer: Peer): AgUiEvent {
  if (how === "broken")
    return { type: "SUBAGENT_ERROR", subagentRunId, message: "It broke off with its run." };
  const waits = how === "waiting" && peer === "1.0";
  const outcome = waits && { outcome: { type: "suspended" as const } };
  return { type: "SUBAGENT_FINISHED", subagentRunId, ...outcome };
}

/** A step's name is its owner's; no owner is another than one without a name. */
export function stepKey(stepName: string, owner: string | undefined): string {
  return JSON.stringify([owner ?? null, stepName]);
}
