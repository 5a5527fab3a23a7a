import { own } from "./ownership.ts";
import { remember } from "./reuse.ts";
import type { AgUiViolation } from "./rules.ts";
import { violates } from "./rules.ts";
import type { MessageKind, VerifyState } from "./state.ts";
import { TEXTS } from "./texts.ts";
import { isFrontend } from "./verify-call.ts";
import type { AgUiEventOf, AgUiMessage } from "./vocabulary.ts";

/**
 * V17: a snapshot says whose each of its messages is, and each of their calls; it opens and closes nothing. What it
 * names may be continued in this run.
 */
export function snapshot(
  state: VerifyState,
  { messages }: AgUiEventOf<"MESSAGES_SNAPSHOT">,
): AgUiViolation | undefined {
  if (!Array.isArray(messages)) return undefined;
  const bad = untagged(messages);
  if (bad) return bad;
  const fabricated = messages.find((it) => isFabricated(state, it));
  for (const message of messages) {
    state.owners[ownersOf(message)].set(message.id, message.subagentRunId);
    remember(state, message.id, kindOf(message));
    for (const { id, function: made } of callsIn(message)) {
      state.owners.call.set(id, message.subagentRunId);
      const known = state.calls.get(id);
      if (known) known.restated = state.runs;
      else addCall(state, id, { name: made?.name, parent: message.id, restated: state.runs });
    }
  }
  answerCalls(state, messages);
  if (fabricated?.role !== "tool") return undefined;
  return violates(
    "D8",
    `Cannot send 'MESSAGES_SNAPSHOT' with an answer to tool call '${fabricated.toolCallId}': its tool is the application's to execute.`,
  );
}

/** The input that RUN_STARTED echoes: history, so it claims only what nothing else did. */
export function history(state: VerifyState, messages: readonly AgUiMessage[]): void {
  for (const message of messages) {
    own(state.owners[ownersOf(message)], message.id, message.subagentRunId);
    if (!state.messages.has(message.id)) {
      state.messages.set(message.id, { kind: kindOf(message), run: 0 });
    }
    for (const { id, function: made } of callsIn(message)) {
      own(state.owners.call, id, message.subagentRunId);
      if (!state.calls.has(id)) addCall(state, id, { name: made?.name, parent: message.id });
    }
  }
  answerCalls(state, messages);
}

/** V6. */
export function untagged(messages: readonly AgUiMessage[]): AgUiViolation | undefined {
  const bad = messages.find(({ subagentRunId }: { subagentRunId?: unknown }) => {
    return subagentRunId === null;
  });
  return bad && violates("V6", TEXTS.nullMessageTag(bad.id));
}

/** D8: a tool message for a call of this run that only the application can have answered, in a later one. */
function isFabricated(state: VerifyState, message: AgUiMessage): boolean {
  if (message.role !== "tool") return false;
  const call = state.calls.get(message.toolCallId);
  return (
    call !== undefined &&
    call.started === state.runs &&
    call.answered === "no" &&
    isFrontend(state, call.name)
  );
}

function answerCalls(state: VerifyState, messages: readonly AgUiMessage[]): void {
  for (const message of messages) {
    const call = message.role === "tool" ? state.calls.get(message.toolCallId) : undefined;
    if (call?.answered === "no") call.answered = "message";
  }
}

function addCall(
  { calls }: VerifyState,
  id: string,
  { name = "", parent, restated = 0 }: { name?: string; parent: string; restated?: number },
): void {
  calls.set(id, { name, parent, started: 0, restated, answered: "no" });
}

function callsIn(message: AgUiMessage) {
  return message.role === "assistant" ? (message.toolCalls ?? []) : [];
}

function kindOf({ role }: AgUiMessage): MessageKind {
  return role === "tool" || role === "reasoning" || role === "activity" ? role : "text";
}

function ownersOf({ role }: AgUiMessage): "message" | "reasoning" | "activity" {
  return role === "reasoning" || role === "activity" ? role : "message";
}
