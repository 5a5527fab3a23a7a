import type { Entry } from "@holdfast/protocol";

/** What an entry says beyond its type, in a few words. */
export function entryGist(entry: Entry): string {
  const { event } = entry;
  if ("delta" in event && typeof event.delta === "string") return quoted(event.delta);
  switch (event.type) {
    case "message.added":
      return typeof event.content === "string" ? quoted(event.content) : "";
    case "CUSTOM":
      return event.name;
    case "TOOL_CALL_START":
      return event.toolCallName;
    case "run.queued":
      return event.reason;
    case "run.ended":
      return event.reason ? `${event.outcome}, ${event.reason}` : event.outcome;
    case "attempt.started":
      return `attempt ${entry.attempt ?? ""}, ${event.worker}`;
    case "attempt.lost":
      return event.reason;
    case "round.opened":
    case "round.closed":
    case "round.superseded":
      return `round ${event.round}`;
    case "tools.advertised":
      return event.tools.map((tool) => tool.name).join(", ");
    case "call.decided":
      return event.approved ? "approved" : "denied";
    case "call.answered":
      return event.outcome;
    case "call.settled":
      return `${event.outcome}, ${event.reason}`;
    case "call.released":
      return event.reason;
    default:
      return "";
  }
}

function quoted(text: string): string {
  const line = text.replaceAll("\n", "⏎");
  return `“${line.length > 60 ? `${line.slice(0, 59)}…` : line}”`;
}
