import type { AgentItem } from "../../command.ts";
import { isObject, type Metadata } from "../../json.ts";
import { omit } from "../../omit.ts";
import { isPlainId } from "./ids.ts";
import { withOwn } from "./own.ts";
import { streamName, type AgUiScope } from "./scope.ts";

/** What a session wants to be an id, with at most 256 characters, and AG-UI leaves open. */
const IDS = [
  "subagentRunId",
  "messageId",
  "parentMessageId",
  "entityId",
  "toolCallName",
  "parentSubagentRunId",
  "parentToolCallId",
] as const;

/**
 * Gives items as a session takes them: what cannot be an id there is another, the same each time, and hints to the session
 * that are none are kept as the agent's own.
 */
export function createUsable(
  scope: AgUiScope,
  onChange: (id: string) => void,
): (item: AgentItem) => AgentItem {
  const minted = new Map<string, string>();
  const prefix = `${scope.runId}.${streamName(scope)}`;

  function mint(id: string): string {
    let own = minted.get(id);
    if (own === undefined) {
      own = `${prefix}.o${minted.size + 1}`;
      minted.set(id, own);
      onChange(id);
    }
    return own;
  }

  return (item) => {
    let usable: Record<string, unknown> = item as unknown as Record<string, unknown>;
    // Most of any stream: what a fragment belongs to has its id already.
    if (typeof usable["delta"] === "string" && isBare(usable)) return item;
    for (const field of IDS) {
      const id = usable[field];
      if (typeof id === "string" && !isPlainId(id)) usable = { ...usable, [field]: mint(id) };
    }
    const { metadata } = usable;
    if (isObject(metadata) && !hasGoodHints(metadata)) {
      const { holdfast, ...rest } = metadata;
      usable = { ...omit(usable, "metadata"), ...withOwn(rest as Metadata, { holdfast }) };
    }
    return usable as unknown as AgentItem;
  };
}

function isBare({ subagentRunId, metadata }: Record<string, unknown>): boolean {
  return subagentRunId === undefined && metadata === undefined;
}

/** As a session reads them from a call's metadata. */
function hasGoodHints(metadata: Record<string, unknown>): boolean {
  if (!Object.hasOwn(metadata, "holdfast")) return true;
  const hints = metadata["holdfast"];
  if (!isObject(hints)) return false;
  const { executor, argumentsEncoding: encoding, providerCallId, deadlineAt } = hints;
  return (
    (executor === undefined || executor === "client" || executor === "provider") &&
    (encoding === undefined || encoding === "json" || encoding === "text") &&
    (providerCallId === undefined ||
      (typeof providerCallId === "string" && isPlainId(providerCallId))) &&
    (deadlineAt === undefined || Number.isSafeInteger(deadlineAt))
  );
}

/** Names of fields that a session reads, or a server looks at, whatever type of item they are in. */
const READ: ReadonlySet<string> = new Set([
  ...IDS,
  "approvalId",
  "claimId",
  "code",
  "declined",
  "description",
  "expiresAt",
  "metadata",
  "name",
  "reason",
  "redacted",
  "replace",
  "role",
  "signed",
  "source",
  "steers",
  "timestamp",
]);

/** Whether a property that AG-UI does not describe can stay beside an event's own, and means nothing to a session. */
export function isBeside(name: string): boolean {
  return !READ.has(name);
}
