import type { AgUiViolation } from "./rules.ts";
import { violates } from "./rules.ts";
import type { VerifyState } from "./state.ts";
import { TEXTS } from "./texts.ts";
import type { AgUiEvent, AgUiEventOf } from "./vocabulary.ts";

type SubagentEvent = AgUiEventOf<"SUBAGENT_STARTED" | "SUBAGENT_FINISHED" | "SUBAGENT_ERROR">;

export function subagentStarted(
  { open: { subagents }, ended }: VerifyState,
  event: AgUiEventOf<"SUBAGENT_STARTED">,
): AgUiViolation | undefined {
  const { type, subagentRunId: id, parentSubagentRunId: parent } = event;
  if (typeof id !== "string") return violates("V14", TEXTS.without(type, "subagentRunId"));
  if (typeof event.name !== "string") return violates("V14", TEXTS.without(type, "name"));
  if (subagents.has(id)) return violates("V14", TEXTS.subagentActive(id));
  if (ended.has(id)) return violates("V14", TEXTS.subagentOver(id));
  if (parent !== undefined && !subagents.has(parent) && !ended.has(parent)) {
    return violates("V14", TEXTS.subagentParent(parent));
  }
  subagents.add(id);
  return undefined;
}

export function subagentEnded(
  { open: { subagents }, ended }: VerifyState,
  event: AgUiEventOf<"SUBAGENT_FINISHED" | "SUBAGENT_ERROR">,
): AgUiViolation | undefined {
  const { type, subagentRunId: id } = event;
  if (typeof id !== "string") return violates("V15", TEXTS.without(type, "subagentRunId"));
  if (type === "SUBAGENT_ERROR" && typeof event.message !== "string") {
    return violates("V15", TEXTS.without(type, "message"));
  }
  if (!subagents.delete(id)) return violates("V15", TEXTS.subagentUnknown(type, id));
  ended.add(id);
  return undefined;
}

/**
 * V6: the nulls of attribution and of a subagent's life cycle. Enforcement refuses them before, as malformed; these
 * are for producers whose events never went through it.
 */
export function nullsOf(event: AgUiEvent): AgUiViolation | undefined {
  const { type } = event;
  if ("subagentRunId" in event && isNull(event.subagentRunId)) {
    return violates("V6", TEXTS.nullField(type, "subagentRunId"));
  }
  switch (type) {
    case "SUBAGENT_STARTED":
    case "SUBAGENT_FINISHED":
    case "SUBAGENT_ERROR":
      return nullsOfSubagent(event);
    case "RUN_FINISHED": {
      if (event.outcome?.type !== "interrupt" || !Array.isArray(event.outcome.interrupts)) {
        return undefined;
      }
      const bad = event.outcome.interrupts.find((it) => isNull(it.subagentRunId));
      return bad && violates("V6", TEXTS.nullInterruptTag(bad.id));
    }
    default:
      return undefined;
  }
}

const OPTIONAL = {
  SUBAGENT_STARTED: ["description", "parentSubagentRunId", "parentToolCallId", "parentMessageId"],
  SUBAGENT_FINISHED: ["outcome"],
  SUBAGENT_ERROR: ["code"],
} as const;

function nullsOfSubagent(event: SubagentEvent): AgUiViolation | undefined {
  const { type } = event;
  const fields: Readonly<Record<string, unknown>> = { ...event };
  for (const field of OPTIONAL[type]) {
    if (isNull(fields[field])) return violates("V6", TEXTS.nullField(type, field));
  }
  if (type !== "SUBAGENT_FINISHED" || event.outcome === undefined) return undefined;
  const outcome: { readonly type?: unknown; readonly interruptIds?: unknown } = event.outcome;
  if (outcome.type !== "success" && outcome.type !== "suspended") {
    return violates("V6", TEXTS.subagentOutcome(type, String(outcome.type)));
  }
  const { interruptIds } = outcome;
  if (isNull(interruptIds)) {
    return violates("V6", TEXTS.nullField(type, "outcome.interruptIds"));
  }
  return Array.isArray(interruptIds) && interruptIds.some((id) => typeof id !== "string")
    ? violates("V6", TEXTS.interruptIds(type))
    : undefined;
}

/** Of fields whose type says that they cannot be: what never was enforced may have them all the same. */
function isNull(value: unknown): boolean {
  return value === null;
}
