import type { Event, EventOf } from "./events.ts";

/** What of a run's events is not told by the call or message they are of; each without what its run says there. */
export function ofRun(event: Event): Event | undefined {
  switch (event.type) {
    case "run.annotated":
      return { type: event.type, metadata: {} };
    case "run.requested": {
      const { type, requestId, activation } = event;
      return { type, requestId, activation, digest: "" };
    }
    case "run.ended": {
      const { type, outcome, reason, error } = event;
      const words = error !== undefined || (outcome === "cancelled" && reason !== undefined);
      if (!words) return undefined;
      return {
        type,
        outcome,
        // Of a cancelled one a person may have said it; of any other it is a code.
        ...(outcome !== "cancelled" && reason !== undefined && { reason }),
        ...(error && { error: { code: error.code, message: "" } }),
      };
    }
    case "round.superseded":
      return { ...event, reason: "" };
    case "STATE_SNAPSHOT":
      return { type: event.type, snapshot: {} };
    case "STATE_DELTA":
      return { type: event.type, delta: [] };
    case "CUSTOM":
      return { type: event.type, name: event.name, value: null };
    case "RAW":
      return { type: event.type, event: null };
    case "STEP_STARTED":
    case "STEP_FINISHED":
      return { type: event.type, stepName: event.stepName };
    case "SUBAGENT_STARTED":
    case "SUBAGENT_FINISHED":
    case "SUBAGENT_ERROR":
      return ofSubagent(event);
    default:
      return undefined;
  }
}

/** Without what a subagent was told and brought back. */
export function ofSubagent(
  event: EventOf<"SUBAGENT_STARTED" | "SUBAGENT_FINISHED" | "SUBAGENT_ERROR">,
): Event {
  const { subagentRunId } = event;
  switch (event.type) {
    case "SUBAGENT_STARTED": {
      const { type, name, parentSubagentRunId, parentToolCallId, parentMessageId } = event;
      return {
        type,
        subagentRunId,
        name,
        ...(parentSubagentRunId !== undefined && { parentSubagentRunId }),
        ...(parentToolCallId !== undefined && { parentToolCallId }),
        ...(parentMessageId !== undefined && { parentMessageId }),
      };
    }
    case "SUBAGENT_FINISHED":
      return {
        type: event.type,
        subagentRunId,
        ...(event.result !== undefined && { result: null }),
      };
    case "SUBAGENT_ERROR":
      return { type: event.type, subagentRunId, message: "" };
  }
}
