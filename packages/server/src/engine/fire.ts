import { decideTimer, type Draft, type Env, type Timer } from "@holdfast/protocol";
import type { Due } from "../storage/storage.ts";
import type { DueIndex } from "./due-index.ts";
import type { DueKind, Wanted } from "./due.ts";

/** How long a timer that changed nothing is left alone, in milliseconds. */
const NOTHING_CAME_OF_IT = 60_000;

/**
 * Lets an index row that is due act on its session: the row is only a hint, so one that came early (its lease was
 * renewed) is armed again, and one that nothing wants is removed. Afterwards the row is gone or lies in the future.
 */
export function fireDue(draft: Draft, env: Env, index: DueIndex, due: Due): void {
  const kind = due.kind as DueKind; // what TIMER_KINDS asked for
  const row = index.get(kind, due.id);
  const timer = row && timerOf(kind, due.id, row);
  if (!row || !timer) {
    index.remove(kind, due.id, due.group);
    return;
  }
  const at =
    kind === "lease" || kind === "claim"
      ? index.leaseEnd(kind, due.id, row.holder, env.now)
      : row.at;
  if (at > env.now) {
    index.rearm(kind, due.id, at);
    return;
  }
  const before = draft.state.head;
  decideTimer(draft, timer, env);
  if (draft.state.head === before) index.rearm(kind, due.id, env.now + NOTHING_CAME_OF_IT);
}

function timerOf(kind: DueKind, id: string, { holder }: Wanted): Timer | undefined {
  switch (kind) {
    case "lease":
      return { type: "lease", runId: id, attempt: Number(holder) };
    case "claim":
      return { type: "claim", callId: id, claimId: holder };
    case "approval":
    case "deadline":
    case "escalation":
      return { type: kind, callId: id };
    case "work":
    case "expiry":
    case "erasure":
    case "unsigned":
    case "wake":
    case "waiting":
    case "escalated":
      return undefined;
  }
}
