import type { ContentEvent, EventOf } from "./events.ts";
import { isObject } from "./json.ts";
import { hintsOf } from "./reduce/content.ts";
import type { Sees, ToolOf } from "./sight.ts";

/** A content event without what its reader may not see; the event itself where that is nothing (SPEC 7.5). */
export function redactContent(event: ContentEvent, sees: Sees, toolOf: ToolOf): ContentEvent {
  const hides = (callId: string) => !sees(toolOf(callId));
  switch (event.type) {
    case "TOOL_CALL_START":
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END":
      return hides(event.toolCallId) ? redactToolCall(event) : withoutRaw(event);
    case "REASONING_ENCRYPTED_VALUE":
      if (event.subtype !== "tool-call" || !hides(event.entityId)) return withoutRaw(event);
      return {
        ...scopeOf(event),
        subtype: event.subtype,
        entityId: event.entityId,
        encryptedValue: "",
      };
    case "CUSTOM": {
      // What a codec keeps of a call it does not know names that call.
      const value: unknown = event.value;
      const callId = isObject(value) ? value["toolCallId"] : undefined;
      if (typeof callId !== "string" || !hides(callId)) return withoutRaw(event);
      return { ...scopeOf(event), name: event.name, value: null };
    }
    case "RAW":
      return { ...scopeOf(event), event: null };
    case "SUBAGENT_STARTED":
    case "SUBAGENT_FINISHED":
    case "SUBAGENT_ERROR":
      return redactSubagent(event);
    case "TEXT_MESSAGE_START":
    case "TEXT_MESSAGE_CONTENT":
    case "TEXT_MESSAGE_END":
    case "REASONING_START":
    case "REASONING_MESSAGE_START":
    case "REASONING_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_END":
    case "REASONING_END":
    case "STATE_SNAPSHOT":
    case "STATE_DELTA":
    case "ACTIVITY_SNAPSHOT":
    case "ACTIVITY_DELTA":
    case "STEP_STARTED":
    case "STEP_FINISHED":
      return withoutRaw(event);
    default:
      return bare(event);
  }
}

/** Of an event that this version does not know, its type alone. */
function bare(event: never): ContentEvent {
  return { type: (event as ContentEvent).type } as ContentEvent;
}

/** Names each field that is kept. The hints stay, since reducing needs them. */
function redactToolCall(
  event: EventOf<"TOOL_CALL_START" | "TOOL_CALL_ARGS" | "TOOL_CALL_END">,
): ContentEvent {
  const { toolCallId } = event;
  switch (event.type) {
    case "TOOL_CALL_START": {
      const { toolCallName, parentMessageId, metadata } = event;
      const { executor, argumentsEncoding, providerCallId, deadlineAt } = hintsOf(metadata);
      const hints = {
        ...(executor !== undefined && { executor }),
        ...(argumentsEncoding !== undefined && { argumentsEncoding }),
        ...(providerCallId !== undefined && { providerCallId }),
        ...(deadlineAt !== undefined && { deadlineAt }),
      };
      return {
        ...scopeOf(event),
        toolCallId,
        toolCallName,
        ...(parentMessageId !== undefined && { parentMessageId }),
        ...(Object.keys(hints).length > 0 && { metadata: { holdfast: hints } }),
        redacted: true,
      };
    }
    case "TOOL_CALL_ARGS":
      return { ...scopeOf(event), toolCallId, delta: "" };
    case "TOOL_CALL_END":
      return { ...scopeOf(event), toolCallId };
  }
}

/** What a subagent was told and brought back is the data of a tool that is not known. */
function redactSubagent(
  event: EventOf<"SUBAGENT_STARTED" | "SUBAGENT_FINISHED" | "SUBAGENT_ERROR">,
): ContentEvent {
  const { subagentRunId } = event;
  switch (event.type) {
    case "SUBAGENT_STARTED": {
      const { name, parentSubagentRunId, parentToolCallId, parentMessageId } = event;
      return {
        ...scopeOf(event),
        subagentRunId,
        name,
        ...(parentSubagentRunId !== undefined && { parentSubagentRunId }),
        ...(parentToolCallId !== undefined && { parentToolCallId }),
        ...(parentMessageId !== undefined && { parentMessageId }),
      };
    }
    case "SUBAGENT_FINISHED":
      return {
        ...scopeOf(event),
        subagentRunId,
        ...(event.result !== undefined && { result: null }),
      };
    case "SUBAGENT_ERROR":
      return { ...scopeOf(event), subagentRunId, message: "" };
  }
}

/** What a content event says of its place. */
function scopeOf<E extends ContentEvent>({ type, timestamp, subagentRunId }: E) {
  return {
    type,
    ...(timestamp !== undefined && { timestamp }),
    ...(subagentRunId !== undefined && { subagentRunId }),
  } as Pick<E, "type" | "timestamp" | "subagentRunId">;
}

/** What a framework adds beside the event is of no known tool. */
function withoutRaw<E extends ContentEvent>(event: E): E {
  if (event.rawEvent === undefined) return event;
  const { rawEvent: _, ...rest } = event;
  return rest as E;
}
