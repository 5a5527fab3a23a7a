import type { AgUiMessage, Peer } from "./face-event.ts";
import type { Held } from "./held.ts";

/** How a reader gets from what it holds to a list: what is added behind the rest, or whole lists, to be sent in order. */
export type Telling =
  | { readonly kind: "append"; readonly messages: readonly AgUiMessage[] }
  | { readonly kind: "snapshots"; readonly snapshots: readonly AgUiMessage[][] };

/**
 * Brings a reader to a list, as cheaply as its reducer allows: that adds behind the rest, replaces in place, and never
 * moves a message. `held` is as the reader is afterwards.
 *
 * @param changed what the reader holds may say something else than the list, though its ids agree
 */
export function tell(
  held: Held,
  target: readonly AgUiMessage[],
  { peer, changed }: { readonly peer: Peer; readonly changed: boolean },
): Telling {
  const same = commonLength(held, target);
  if (same === held.list.length && !changed) return append(held, target.slice(same));
  const ids = target.map(({ id }) => id);
  const isEnough = isSame(held.idsAfter(target, peer), ids);
  const lists = isEnough ? [target] : [...cleared(held, target, same), target];
  for (const list of lists) held.snapshot(list, peer);
  return { kind: "snapshots", snapshots: lists.map((list) => [...held.own, ...list]) };
}

function append(held: Held, messages: readonly AgUiMessage[]): Telling {
  for (const message of messages) {
    const entry = held.push({
      id: message.id,
      role: message.role,
      owner: message.subagentRunId,
      hasContent: message.content !== undefined,
    });
    if (message.role !== "assistant") continue;
    for (const { id } of message.toolCalls ?? []) held.setHome(id, entry);
  }
  return { kind: "append", messages };
}

/** How many messages stand where they belong, from the first on. */
function commonLength({ list }: Held, target: readonly AgUiMessage[]): number {
  const differs = list.findIndex(({ id }, at) => target[at]?.id !== id);
  return differs === -1 ? Math.min(list.length, target.length) : differs;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, at) => id === b[at]);
}

/**
 * What leaves of the reader's list what stands where it belongs, and nothing else, so that the next snapshot puts the rest in
 * order. Reasoning and activities would stay, since a snapshot without any leaves them alone: turned into messages of
 * another kind first, they do not.
 */
function cleared(held: Held, target: readonly AgUiMessage[], same: number): AgUiMessage[][] {
  const kept = target.slice(0, same);
  const stubborn = held.list.slice(same).filter(({ role }) => {
    return role === "reasoning" || role === "activity";
  });
  if (stubborn.length === 0) return [kept];
  const turned = stubborn.map(({ id }): AgUiMessage => ({ id, role: "assistant", content: "" }));
  const returns = target.some(({ id }) => stubborn.some((it) => it.id === id));
  return returns ? [[...kept, ...turned], kept] : [[...kept, ...turned]];
}
