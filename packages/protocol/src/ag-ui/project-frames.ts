import type { Scope } from "../entry.ts";
import type { ContentEvent } from "../events.ts";
import { isObject } from "../json.ts";
import type { Face } from "./face.ts";
import type { AgUiEvent } from "./face-event.ts";
import { knownFields } from "./known-fields.ts";
import { stepKey } from "./open-items.ts";

/**
 * Steps, reasoning spans and subagents, which a session keeps as they come: what their verifier would refuse is left out.
 */
export function frameEvent(face: Face, said: ContentEvent, scope: Scope): AgUiEvent[] {
  const { open } = face;
  const event = knownFields(said);
  if (!event) return [];
  switch (event.type) {
    case "STEP_STARTED": {
      const { stepName, subagentRunId: owner } = event;
      const key = stepKey(stepName, owner);
      if (typeof stepName !== "string" || open.steps.has(key)) return [];
      open.steps.set(key, { stepName, owner, scope });
      return [event];
    }
    case "STEP_FINISHED":
      return open.steps.delete(stepKey(event.stepName, event.subagentRunId)) ? [event] : [];
    case "REASONING_START": {
      if (open.spans.has(event.messageId)) return [];
      open.spans.set(event.messageId, scope);
      return [ownedAs(event, open.owners.reasoning)];
    }
    case "REASONING_END":
      return open.spans.delete(event.messageId) ? [untagged(event)] : [];
    case "SUBAGENT_STARTED": {
      const { subagentRunId, name, parentSubagentRunId: parent } = event;
      const isKnown = (id: string) => open.subagents.has(id) || open.endedSubagents.has(id);
      if (typeof name !== "string" || isKnown(subagentRunId)) return [];
      open.subagents.set(subagentRunId, scope);
      if (parent === undefined || isKnown(parent)) return [event];
      const { parentSubagentRunId: _, ...rest } = event;
      return [rest];
    }
    case "SUBAGENT_FINISHED":
    case "SUBAGENT_ERROR": {
      if (!open.subagents.delete(event.subagentRunId)) return [];
      open.endedSubagents.add(event.subagentRunId);
      if (event.type === "SUBAGENT_ERROR")
        return [{ ...event, message: typeof event.message === "string" ? event.message : "" }];
      const { outcome, ...rest } = event;
      const isNews = isObject(outcome) && outcome["type"] === "suspended" && face.peer === "0";
      return [isNews ? rest : event];
    }
    default:
      return [];
  }
}

/** An opener with its tag, where nobody else was said to own what it opens. Notes who does. */
export function ownedAs<E extends AgUiEvent & { readonly messageId: string }>(
  event: E,
  owners: Map<string, string | undefined>,
): E {
  const { messageId } = event;
  const tag = "subagentRunId" in event ? event.subagentRunId : undefined;
  if (!owners.has(messageId)) {
    owners.set(messageId, tag);
    return event;
  }
  return tag === owners.get(messageId) ? event : untagged(event);
}

/** What goes on with something says nothing of whose it is: its opener did. */
export function untagged<E extends AgUiEvent>(event: E): E {
  if (!("subagentRunId" in event)) return event;
  const { subagentRunId: _, ...rest } = event;
  return rest as E; // the tag is optional wherever this is asked for
}
