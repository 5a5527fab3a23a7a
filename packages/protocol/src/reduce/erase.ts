import type { Approval, Call } from "../call.ts";
import type { Entry, ErasedMark } from "../entry.ts";
import { withoutContent, type ErasedTarget } from "../erase.ts";
import type { ContentEvent } from "../events.ts";
import type { Offset } from "../offset.ts";
import { omit } from "../omit.ts";
import type { MessageNode } from "../run.ts";
import type { SessionState } from "../state.ts";
import { putCall, putItem, putMessage, type Changes } from "./changes.ts";

/** What stands where something was erased, for people and models: both take no empty text well. */
const PLACEHOLDER = "[erased]";

/**
 * Takes what a call or a message said out of its rows. The rows come out the same whether the log before still says it or
 * was erased already.
 */
export function reduceErasure(state: SessionState, entry: Entry, changes: Changes): void {
  const { event } = entry;
  if (event.type !== "content.erased") return;
  const erased = { by: entry.actor, at: entry.at };
  const { callId, messageId } = event;
  if (callId !== undefined) {
    const call = state.calls.get(callId);
    if (!call) return;
    putCall(state, erasedCall(call, erased), changes);
    eraseEvents(state, call.offset, { callId }, changes);
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
  putItem(state, { ...omit(omit(item, "metadata"), "name"), text: PLACEHOLDER, erased }, changes);
  eraseEvents(state, item.offset, { messageId }, changes);
}

/** Events that were kept whole, since the target began, and say something of it. */
function eraseEvents(
  state: SessionState,
  from: Offset,
  target: ErasedTarget,
  changes: Changes,
): void {
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
