import type { Call } from "../call.ts";

/** What is known of a message that stands in a list. */
export interface Placed {
  readonly role: string;
  /** The subagent whose message it is; undefined: the agent's own. */
  readonly owner: string | undefined;
}

/** Finds a message of a list. */
export type Lookup = (messageId: string) => Placed | undefined;

const TEXT_ROLES: ReadonlySet<string> = new Set(["assistant", "developer", "system", "user"]);

/**
 * The message that carries a call: its parent, where that is the assistant's and of the call's subagent or not there
 * yet; else one of its own. Both that folds a list and that streams one ask here, so that they agree.
 */
export function placeOfCall(
  { id, parentMessageId, subagentRunId }: Call,
  lookup: Lookup,
): { readonly messageId: string; readonly known: Placed | undefined } {
  const fits = (known: Placed | undefined) =>
    known === undefined ||
    (known.role === "assistant" && (subagentRunId === undefined || subagentRunId === known.owner));
  for (const messageId of [parentMessageId, id]) {
    if (messageId === undefined) continue;
    const known = lookup(messageId);
    if (fits(known)) return { messageId, known };
  }
  return { messageId: `call:${id}`, known: undefined };
}

/**
 * The id under which something stands in a list: its own, unless another kind of message has that already. A session
 * keeps ids apart by kind, AG-UI does not.
 */
export function placeOf(
  kind: "text" | "reasoning" | "activity" | "message",
  id: string,
  lookup: Lookup,
  isUsers: (messageId: string) => boolean,
): string {
  const known = lookup(id);
  if (!known) return id;
  switch (kind) {
    case "text":
      return TEXT_ROLES.has(known.role) && !isUsers(id) ? id : `${kind}:${id}`;
    case "reasoning":
    case "activity":
      return known.role === kind ? id : `${kind}:${id}`;
    case "message":
      return isUsers(id) && known.role === "user" ? id : `${kind}:${id}`;
  }
}
