import { erase, isAct } from "./act.ts";
import type { Entry, ErasedMark } from "./entry.ts";
import type { ContentEvent, Event } from "./events.ts";
import { isObject, type Metadata } from "./json.ts";

/** What is erased: all that one call or one message says. */
export type ErasedTarget = { readonly callId: string } | { readonly messageId: string };

/**
 * An entry without what it says of the target, or undefined where it says nothing of it or was erased before. Offset,
 * time, actor, scope and type stay, and so do ids and closed choices; reduced, the log gives the same state as before
 * once the erasure itself is reduced (SPEC 6.21). A salt goes with the content it hid.
 *
 * @param digest SHA-256, hex, of the UTF-8 text
 */
export function eraseEntry(
  entry: Entry,
  target: ErasedTarget,
  mark: ErasedMark,
  digest: (text: string) => string,
): Entry | undefined {
  const event = entry.erased ? undefined : withoutContent(entry.event, target);
  if (!event) return undefined;
  const { erased, ...rest } = erase(entry, event, digest);
  // The chain holds the digest of an act, which is salted; of anything else it would tell what a short text was.
  return { ...rest, erased: { ...mark, ...(isAct(entry.event) && erased) } };
}

/** The event with everything empty that it says of the target; undefined where that is nothing. */
export function withoutContent(event: Event, target: ErasedTarget): Event | undefined {
  const isOfCall = "callId" in target;
  const id = isOfCall ? target.callId : target.messageId;
  if (event.type === "CUSTOM")
    return namesIn(event.value, id) ? { ...event, value: { id } } : undefined;
  if (event.type === "RAW")
    return namesIn(event.event, id) ? { ...bare(event), event: { id } } : undefined;
  if (event.type === "REASONING_ENCRYPTED_VALUE") {
    const kind = isOfCall ? "tool-call" : "message";
    if (event.entityId !== id || event.subtype !== kind) return undefined;
    return { ...bare(event), subtype: event.subtype, entityId: id, encryptedValue: "" };
  }
  return isOfCall ? ofCall(event, id) : ofMessage(event, id);
}

/** Whether something a framework sent is about what is erased. */
function namesIn(value: unknown, id: string): boolean {
  if (!isObject(value)) return false;
  return [value["id"], value["messageId"], value["toolCallId"]].includes(id);
}

function ofMessage(event: Event, id: string): Event | undefined {
  if (!("messageId" in event) || event.messageId !== id) return undefined;
  switch (event.type) {
    case "message.added": {
      const { metadata: _, ...rest } = event;
      return { ...rest, content: "" };
    }
    case "TEXT_MESSAGE_START":
      return {
        ...bare(event),
        messageId: id,
        ...(event.role !== undefined && { role: event.role }),
        ...(event.subagentRunId !== undefined && { subagentRunId: event.subagentRunId }),
      };
    case "REASONING_MESSAGE_START":
      return {
        ...bare(event),
        messageId: id,
        role: event.role,
        ...(event.subagentRunId !== undefined && { subagentRunId: event.subagentRunId }),
      };
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT":
      return { ...bare(event), messageId: id, delta: "" };
    case "TEXT_MESSAGE_END":
    case "REASONING_MESSAGE_END":
    case "REASONING_START":
    case "REASONING_END":
      return { ...bare(event), messageId: id };
    case "ACTIVITY_SNAPSHOT":
      return { ...bare(event), messageId: id, activityType: event.activityType, content: {} };
    case "ACTIVITY_DELTA":
      return { ...bare(event), messageId: id, activityType: event.activityType, patch: [] };
    default:
      return undefined;
  }
}

function ofCall(event: Event, id: string): Event | undefined {
  if ("toolCallId" in event) return event.toolCallId === id ? ofArguments(event, id) : undefined;
  if (!("callId" in event) || event.callId !== id) return undefined;
  switch (event.type) {
    case "call.arguments_replaced":
      return { type: event.type, callId: id, arguments: "" };
    case "call.annotated":
      return { type: event.type, callId: id, metadata: {} };
    case "call.invalid":
      return { type: event.type, callId: id, error: { message: "" } };
    case "call.approval_requested": {
      const { reason: _, metadata: __, ...rest } = event;
      return { ...rest, digest: "" };
    }
    case "call.decided": {
      const { reason: _, payload: __, arguments: edited, ...rest } = event;
      return { ...rest, digest: "", ...(edited !== undefined && { arguments: "" }) };
    }
    case "call.progressed":
      return { type: event.type, callId: id, progress: null };
    case "call.answered":
    case "call.answer_replaced": {
      const { metadata: _, ...rest } = event;
      return { ...rest, answer: { type: "text", text: "" } };
    }
    case "call.settled": {
      const { message, ...rest } = event;
      return message === undefined ? undefined : rest;
    }
    default:
      return undefined;
  }
}

function ofArguments(
  event: Extract<Event, { toolCallId: string }>,
  toolCallId: string,
): Event | undefined {
  switch (event.type) {
    case "TOOL_CALL_START":
      return {
        ...bare(event),
        toolCallId,
        toolCallName: event.toolCallName,
        ...(event.parentMessageId !== undefined && { parentMessageId: event.parentMessageId }),
        ...(event.subagentRunId !== undefined && { subagentRunId: event.subagentRunId }),
        ...hintsOnly(event.metadata),
      };
    case "TOOL_CALL_ARGS":
      return { ...bare(event), toolCallId, delta: "" };
    case "TOOL_CALL_END":
      return { ...bare(event), toolCallId };
    default:
      return undefined;
  }
}

/** What the protocol itself reads stays (SPEC 2.3.1). */
function hintsOnly(metadata: Metadata | undefined): { metadata?: Metadata } {
  const holdfast = metadata?.["holdfast"];
  return holdfast === undefined ? {} : { metadata: { holdfast } };
}

/** The event's type alone: whatever a framework put beside the known fields is content. */
function bare<T extends ContentEvent["type"]>({ type }: { type: T }): { type: T } {
  return { type };
}
