import type { Approval, Call } from "../call.ts";
import type { Entry, ErasedMark } from "../entry.ts";
import { echoIn, withoutContent, type Echo } from "../erase.ts";
import type { ContentEvent } from "../events.ts";
import type { TextItem } from "../item.ts";
import type { Offset } from "../offset.ts";
import { omit } from "../omit.ts";
import type { MessageNode, Run } from "../run.ts";
import { partsOf, type SessionState } from "../state.ts";
import { putCall, putItem, putMessage, putRun, type Changes } from "./changes.ts";

/** What stands where something was erased, for people and models: both take no empty text well. */
const PLACEHOLDER = "[erased]";

/**
 * Takes what a call, a message or a run said out of its rows. The rows come out the same whether the log before still says it or
 * was erased already.
 */
export function reduceErasure(state: SessionState, entry: Entry, changes: Changes): void {
  const { event } = entry;
  if (event.type !== "content.erased") return;
  const erased = { by: entry.actor, at: entry.at };
  const { callId, messageId, runId } = event;
  if (callId !== undefined) {
    const call = state.calls.get(callId);
    if (!call) return;
    putCall(state, erasedCall(call, erased), changes);
    const subagents = [...state.items.values()].flatMap((item) => {
      const echo = item.kind === "event" ? echoIn(item, { callId }) : undefined;
      return echo ?? [];
    });
    for (const target of [{ callId }, ...subagents])
      eraseEvents(state, call.offset, target, changes);
  } else if (runId !== undefined) {
    eraseRun(state, runId, erased, changes);
  } else if (messageId !== undefined) {
    eraseMessage(state, messageId, erased, changes);
  }
}

function eraseMessage(
  state: SessionState,
  messageId: string,
  erased: ErasedMark,
  changes: Changes,
): void {
  const message = state.messages.get(messageId);
  if (message) {
    const next: MessageNode = { ...omit(message, "metadata"), content: PLACEHOLDER, erased };
    putMessage(state, next, changes);
    for (const item of state.items.values()) {
      if (item.kind === "steer" && item.message.id === messageId)
        putItem(state, { ...item, message: next }, changes);
    }
    return eraseEvents(state, message.offset, { messageId }, changes);
  }
  const item = state.items.get(messageId);
  if (item?.kind !== "text" && item?.kind !== "reasoning") return;
  putItem(state, erasedText(item, erased), changes);
  eraseEvents(state, item.offset, { messageId }, changes);
}

/** What was erased before keeps the mark of that. */
function eraseRun(state: SessionState, runId: string, erased: ErasedMark, changes: Changes): void {
  const run = state.runs.get(runId);
  if (!run) return;
  for (const { kind, id } of partsOf(state, runId)) {
    const call = kind === "call" ? state.calls.get(id) : undefined;
    const item = kind === "item" ? state.items.get(id) : undefined;
    if (call && !call.erased) putCall(state, erasedCall(call, erased), changes);
    if (item?.kind === "event") {
      const event = withoutContent(item.event, { runId });
      if (event) putItem(state, { ...item, event: event as ContentEvent }, changes);
    }
    if ((item?.kind === "text" || item?.kind === "reasoning") && !item.erased)
      putItem(state, erasedText(item, erased), changes);
  }
  const { metadata: _, input: __, requests, reason, error, ...rest } = run;
  const next: Run = {
    ...rest,
    ...(requests && { requests: requests.map((request) => ({ ...request, digest: "" })) }),
    ...(reason !== undefined && run.outcome !== "cancelled" && { reason }),
    ...(error && { error: { code: error.code, message: PLACEHOLDER } }),
    erased,
  };
  putRun(state, next, changes);
}

function erasedText(item: TextItem, erased: ErasedMark): TextItem {
  return { ...omit(omit(item, "metadata"), "name"), text: PLACEHOLDER, erased };
}

/** Events that were kept whole, since the target began, and say something of it. */
function eraseEvents(state: SessionState, from: Offset, target: Echo, changes: Changes): void {
  for (const item of state.items.values()) {
    if (item.kind !== "event" || item.offset < from) continue;
    const event = withoutContent(item.event, target);
    // What was content is content without what it said.
    if (event) putItem(state, { ...item, event: event as ContentEvent }, changes);
  }
}

function erasedCall(call: Call, erased: ErasedMark): Call {
  const { invalid: _, message: __, metadata: ___, approval, progress, answer, ...rest } = call;
  return {
    ...rest,
    arguments: "",
    ...(approval && { approval: erasedApproval(approval) }),
    ...(progress !== undefined && { progress: null }),
    ...(answer && {
      answer: { ...omit(answer, "metadata"), answer: { type: "text", text: PLACEHOLDER } },
    }),
    erased,
  };
}

function erasedApproval(approval: Approval): Approval {
  const { reason: _, metadata: __, decision, ...rest } = approval;
  if (!decision) return { ...rest, digest: "" };
  const { reason: ___, payload: ____, edited, ...decided } = decision;
  return {
    ...rest,
    digest: "",
    decision: { ...decided, digest: "", ...(edited && { edited: { from: "" } }) },
  };
}
