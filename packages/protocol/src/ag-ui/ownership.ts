import type { AgUiViolation } from "./rules.ts";
import { violates } from "./rules.ts";
import type { Owner } from "./state.ts";
import { TEXTS } from "./texts.ts";

/**
 * V12: whether an event's tag agrees with the recorded owner of what it continues. No tag never disagrees; what was
 * opened without one is the parent agent's, so any tag disagrees with it. What nobody opened has no owner yet.
 */
export function disagrees(
  owners: ReadonlyMap<string, Owner>,
  event: { readonly type: string; readonly subagentRunId?: string },
  kind: string,
  id: string,
  rule: "V12" | "V18" = "V12",
): AgUiViolation | undefined {
  const tag = event.subagentRunId;
  if (tag === undefined || owners.get(id) === tag || !owners.has(id)) return undefined;
  return violates(rule, TEXTS.owner(event.type, tag, kind, id, owners.get(id)));
}

/** The first to name an id owns it for the whole run, also when it was closed. */
export function own(owners: Map<string, Owner>, id: string, owner: Owner): void {
  if (!owners.has(id)) owners.set(id, owner);
}
