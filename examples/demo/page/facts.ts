import { waitingFor, waitingOf, type Call, type SessionState } from "@holdfast/protocol";
import type { ConversationNode } from "./components/conversation.tsx";
import type { QueuedMessage } from "./components/queue.tsx";
import type { RailFacts } from "./components/rail/rail.tsx";
import { isPerson } from "./format.ts";
import { waitingWords } from "./waiting-words.ts";

/** What the composer and the conversation need to know of a session's runs. */
export interface RunFacts {
  /** What is shown as the conversation: all but what still waits its turn. */
  readonly shown: readonly ConversationNode[];
  readonly queued: readonly QueuedMessage[];
  /** The run that Stop would end. */
  readonly activeRunId: string | undefined;
  /** An attempt is at work, so that a message can steer it. */
  readonly steerable: boolean;
  /** What a message sent now would leave undone. */
  readonly pending: string | undefined;
}

export function runFacts(nodes: readonly ConversationNode[]): RunFacts {
  const queued: QueuedMessage[] = [];
  const hidden = new Set<string>();
  let activeRunId: string | undefined;
  let steerable = false;
  let pending: string | undefined;
  nodes.forEach((node, at) => {
    if (node.type !== "run" || node.run.status === "ended") return;
    const { run, parts } = node;
    const before = nodes[at - 1];
    if (run.status === "suspended") {
      pending = pendingWords(
        parts.flatMap((part) => ("kind" in part || part.status === "settled" ? [] : [part])),
      );
    } else if (run.attempt === 0 && run.behind.length > 0 && before?.type === "message") {
      queued.push({ message: before.message, run });
      hidden.add(node.id).add(before.id);
    } else {
      activeRunId ??= run.id;
      steerable ||= run.status === "active";
    }
  });
  const shown = hidden.size === 0 ? nodes : nodes.filter(({ id }) => !hidden.has(id));
  return { shown, queued, activeRunId, steerable, pending };
}

function pendingWords(calls: readonly Call[]): string {
  const names = [...new Set(calls.map((call) => call.name))].join(" and ");
  return `${names} ${calls.length === 1 ? "is" : "are"} not done yet. A new message leaves ${calls.length === 1 ? "it" : "them"} undone.`;
}

/** What became of messages that steer a run and were not read where the run goes on, by their ids. */
export function steerNotes(nodes: readonly ConversationNode[]): ReadonlyMap<string, string> {
  const notes = new Map<string, string>();
  for (const node of nodes) {
    if (node.type !== "run") continue;
    for (const { messageId, consumed } of node.run.steers ?? []) {
      if (consumed === undefined) notes.set(messageId, "will be read next");
      else if (!consumed) notes.set(messageId, "came too late to be read by that run");
    }
  }
  return notes;
}

/** What the rail shows of a session, its log aside. */
export function railFacts(state: SessionState): Omit<RailFacts, "entries"> {
  const runs = [...state.index.live].flatMap((id) => {
    const run = state.runs.get(id);
    if (!run) return [];
    const waiting = waitingFor(state, run);
    return [{ of: run, forWhom: waitingWords(waiting), since: waiting.since }];
  });
  const calls = [...state.index.live].flatMap((id) =>
    (state.index.parts.get(id) ?? []).flatMap((part) => {
      const call = part.kind === "call" ? state.calls.get(part.id) : undefined;
      if (!call || call.status === "settled") return [];
      const waiting = waitingOf(call);
      return [{ of: call, forWhom: waitingWords(waiting), since: waiting.since }];
    }),
  );
  return { head: state.head, runs, calls, grants: state.session.grants ?? [] };
}

/** People whose acts the conversation tells of, in the order they came; the reader first. */
export function peopleOf(nodes: readonly ConversationNode[], me: string): readonly string[] {
  const people = new Set([me]);
  for (const node of nodes) {
    if (node.type === "message") people.add(node.message.by);
    else
      for (const part of node.parts)
        if (!("kind" in part)) for (const { by } of part.history) people.add(by);
  }
  return [...people].filter(isPerson);
}
