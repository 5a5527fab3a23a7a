import { isObject, type Metadata } from "../json.ts";
import type { Run } from "../run.ts";
import { partsOf, type SessionState } from "../state.ts";
import { AG_UI } from "./interrupt.ts";

/** What an agent calls what the session calls otherwise: an id it had used before got another. */
export interface OwnIds {
  message(id: string): string;
  call(id: string): string;
}

/**
 * The ids that a path's agent knows its messages and calls by. Of several that it gave one id, the newest has it, as the
 * agent itself would say; they change places, so that no two have one.
 */
export function ownIds(state: SessionState, path: readonly string[]): OwnIds {
  const messages = new Names();
  const calls = new Names();
  for (const nodeId of path) {
    for (const { kind, id } of partsOf(state, nodeId)) {
      if (kind === "item") {
        const item = state.items.get(id);
        if (item && "metadata" in item) messages.add(id, saidId(item.metadata));
        continue;
      }
      const call = state.calls.get(id);
      if (!call) continue;
      calls.add(id, call.providerId);
      if (call.answer) messages.add(call.answer.messageId, saidId(call.answer.metadata));
    }
    for (const [from, to] of renamedIn(state.runs.get(nodeId))) messages.rename(from, to);
  }
  return { message: messages.swapped(), call: calls.swapped() };
}

class Names {
  readonly #newest = new Map<string, string>();

  add(id: string, said: string | undefined): void {
    if (said !== undefined && said !== "" && said !== id) this.#newest.set(said, id);
  }

  /** What was called so before, if anything is, else what has that id. */
  rename(from: string, to: string): void {
    const id = this.#newest.get(from) ?? from;
    this.#newest.delete(from);
    this.add(id, to);
  }

  swapped(): (id: string) => string {
    const names = new Map<string, string>();
    for (const [said, id] of this.#newest) {
      names.set(id, said);
      if (!names.has(said)) names.set(said, id);
    }
    return (id) => names.get(id) ?? id;
  }
}

/** What the agent of a run called otherwise in its snapshots than before, in order. */
function renamedIn(run: Run | undefined): [string, string][] {
  const records = run?.metadata?.[AG_UI];
  if (!isObject(records)) return [];
  return Object.values(records).flatMap((record) => {
    const renamed = isObject(record) ? record["renamed"] : undefined;
    if (!isObject(renamed)) return [];
    return Object.entries(renamed).filter(
      (it): it is [string, string] => typeof it[1] === "string",
    );
  });
}

function saidId(metadata: Metadata | undefined): string | undefined {
  const own = metadata?.[AG_UI];
  const id = isObject(own) ? own["messageId"] : undefined;
  return typeof id === "string" ? id : undefined;
}
