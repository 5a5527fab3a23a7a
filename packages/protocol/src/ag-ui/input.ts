import type { Tool, ToolCall } from "@ag-ui/core";
import { requestedId } from "../activation.ts";
import { isApproved, type Call } from "../call.ts";
import { resultOf } from "../history.ts";
import type { Run } from "../run.ts";
import { callsOf, type SessionState } from "../state.ts";
import type { ToolDeclaration } from "../tool.ts";
import { pathTo } from "../tree.ts";
import { textOf } from "./content-parts.ts";
import { INTERRUPT_TOOL } from "./interrupt.ts";
import { agUiMessages, userMessage } from "./messages.ts";
import { ownIds, type OwnIds } from "./own-ids.ts";
import { resumeOf } from "./resume-entries.ts";
import { agUiState } from "./state-value.ts";
import type { AgUiInput, AgUiMessage } from "./vocabulary.ts";

/** What an agent is asked with, and which messages that steer the run are in it. */
export interface AgUiRunInput {
  readonly input: AgUiInput;
  readonly steers: readonly string[];
}

/**
 * The input of the AG-UI run with which a run's current attempt goes on (SPEC 12.5): the run's path as messages, under the
 * agent's own ids, every call with a result but those that its resume entries decide; the tools that clients execute;
 * an entry for every interrupt that is open; state, context, instructions and further properties as they were asked for last.
 */
export function agUiInput(
  state: SessionState,
  { runId }: { readonly runId: string },
): AgUiRunInput {
  const run = state.runs.get(runId);
  if (!run) throw new RangeError(`This state has no run ${runId}.`);
  const path = pathTo(state, runId);
  const { entries, calls } = resumeOf(state, path);
  const steering = steersOf(state, run);
  const { context, forwardedProps, parentRunId, instructions } = run.input ?? {};
  const messages = [
    // Like the context, as they were sent.
    ...((instructions ?? []) as AgUiMessage[]),
    ...history(state, path, calls),
    ...steering.map(({ message }) => message),
  ];
  const input: AgUiInput = {
    threadId: state.session.id,
    runId: requestedId(run, run.attempt),
    protocolVersion: "1.0",
    ...(parentRunId !== undefined && { parentRunId }),
    state: stateOf(state, path, run),
    messages,
    tools: toolsOf(run),
    // As it was sent: what is no context is for the agent to refuse.
    context: (context ?? []) as AgUiInput["context"],
    forwardedProps: forwardedProps ?? {},
    ...(entries.length > 0 && { resume: [...entries] }),
  };
  return { input, steers: steering.map(({ id }) => id) };
}

/** What whoever asked for this activation says it is; else what the thread's runs made of it. */
function stateOf(state: SessionState, path: readonly string[], run: Run): unknown {
  const isAsked = run.requests?.some(({ activation }) => activation === run.activation?.attempt);
  const asked = run.input?.state;
  if (isAsked && asked !== undefined) return asked;
  const said = agUiState(state, path);
  return said === undefined ? (asked ?? {}) : said;
}

function toolsOf({ clientTools = [], tools: own }: Run): Tool[] {
  const isOwn = (name: string) => own.some((tool) => tool.name === name);
  return clientTools
    .filter(({ name }) => name !== INTERRUPT_TOOL && !isOwn(name))
    .map(({ name, description = "", parameters }: ToolDeclaration) => {
      return { name, description, ...(parameters && { parameters }) };
    });
}

/** Messages that wait to steer the run, at the end of its history; while a call is to be executed first, none (SPEC 8.7). */
function steersOf(state: SessionState, { id, steers = [] }: Run) {
  const isRunnable = callsOf(state, id).some(
    ({ status, executor }) => status === "open" && executor !== "client",
  );
  if (isRunnable) return [];
  return steers.flatMap(({ messageId, consumed }) => {
    const node = consumed === undefined ? state.messages.get(messageId) : undefined;
    return node ? [{ id: messageId, message: userMessage(node, messageId, "1.0") }] : [];
  });
}

function history(
  state: SessionState,
  path: readonly string[],
  decided: ReadonlySet<string>,
): AgUiMessage[] {
  const ids = ownIds(state, path);
  const runId = path.at(-1);
  const list = agUiMessages(state, runId === undefined ? {} : { runId });
  const told = new Set<string>();
  for (const message of list) if (message.role === "tool") told.add(message.toolCallId);
  return list.flatMap((message): AgUiMessage[] => {
    switch (message.role) {
      case "activity": // theirs to show, and nobody's to read
        return [];
      case "tool":
        return decided.has(message.toolCallId) ? [] : [toolMessage(state, message, ids)];
      case "assistant": {
        const { toolCalls, ...rest } = message;
        if (!toolCalls) return [{ ...message, id: ids.message(message.id) }];
        const named = { ...rest, id: ids.message(message.id), toolCalls: toolCalls.map(renamed) };
        const open = toolCalls.filter(({ id }) => !told.has(id) && !decided.has(id));
        return [named, ...open.flatMap(({ id }) => pendingMessage(state.calls.get(id), ids))];
      }
      default:
        return [{ ...message, id: ids.message(message.id) }];
    }
  });

  function renamed(call: ToolCall): ToolCall {
    return { ...call, id: ids.call(call.id) };
  }
}

/** A result as an agent gets it: one that failed says so where the protocol has a place for that. */
function toolMessage(
  state: SessionState,
  message: Extract<AgUiMessage, { role: "tool" }>,
  ids: OwnIds,
): AgUiMessage {
  const call = state.calls.get(message.toolCallId);
  const failed = call?.outcome !== undefined && call.outcome !== "ok";
  return {
    ...message,
    ...(failed && { error: message.error ?? textOf(message.content) }),
    id: ids.message(message.id),
    toolCallId: ids.call(message.toolCallId),
  };
}

/** Nobody but its agent executes it, and AG-UI can ask for that in words alone. */
const APPROVED =
  "Approved, with these arguments, and not executed yet: call it again with the same id to execute it.";

/** Of a call that has no result: what is to be said of that. Made for this history, never stored. */
function pendingMessage(call: Call | undefined, ids: OwnIds): AgUiMessage[] {
  const result = call && resultOf(call);
  if (!call || result?.kind !== "note") return [];
  const text = isApproved(call) ? APPROVED : result.text;
  return [
    {
      id: `result:${call.id}`,
      role: "tool",
      toolCallId: ids.call(call.id),
      content: text,
      error: text,
    },
  ];
}
