import type { ResumeEntry } from "@ag-ui/core";
import type { Call } from "../call.ts";
import { isObject } from "../json.ts";
import type { Run } from "../run.ts";
import { callsOf, type SessionState } from "../state.ts";
import { AG_UI, INTERRUPT_TOOL } from "./interrupt.ts";

/** What an agent is told of the interrupts that it waits on. */
export interface Resume {
  readonly entries: readonly ResumeEntry[];
  /** Calls that it has the word on, and answers itself. */
  readonly calls: ReadonlySet<string>;
}

/**
 * An entry for every interrupt of the thread's newest run that ended at all, where it ended in interrupts (AG-UI 1.0,
 * Interrupts: a run that failed leaves them open). What became of a call of another run of the session is no decision on
 * anything that may run now, so that is `cancelled`.
 *
 * @param path ids of nodes; the last one is the run that goes on
 */
export function resumeOf(state: SessionState, path: readonly string[]): Resume {
  const entries: ResumeEntry[] = [];
  const decided = new Set<string>();
  const found = lastEnded(state, path);
  for (const interruptId of found?.interrupts ?? []) {
    const call = found && callOf(state, found.run, interruptId);
    const entry = call && entryOf(call, path.at(-1));
    entries.push({ interruptId, status: "cancelled", ...entry });
    if (entry?.status === "resolved" && call?.approval && !call.answer) decided.add(call.id);
  }
  return { entries, calls: decided };
}

interface EndedRun {
  readonly run: Run;
  readonly interrupts: readonly string[];
}

/** The newest run of the path's agents that ended other than by a failure. */
function lastEnded(state: SessionState, path: readonly string[]): EndedRun | undefined {
  for (const nodeId of path.toReversed()) {
    const run = state.runs.get(nodeId);
    const records = run?.metadata?.[AG_UI];
    if (!run || !isObject(records)) continue;
    for (const name of Object.keys(records).sort(byStream).toReversed()) {
      const record = records[name];
      if (!isObject(record) || !ENDS.has(record["outcome"])) continue;
      const { interrupts } = record;
      const ids = Array.isArray(interrupts) ? interrupts : [];
      return { run, interrupts: ids.filter((id) => typeof id === "string") };
    }
  }
  return undefined;
}

const ENDS: ReadonlySet<unknown> = new Set(["success", "interrupt", "cancelled"]);

/** By attempt, then by the stream in it: `2` before `2-1` before `10`. */
function byStream(a: string, b: string): number {
  const [numbers, others] = [a, b].map((name) => name.split(/\D+/, 2).map(Number));
  return (numbers?.[0] ?? 0) - (others?.[0] ?? 0) || (numbers?.[1] ?? 0) - (others?.[1] ?? 0);
}

/** The newest call of a run that stands for an interrupt. */
function callOf(state: SessionState, run: Run, interruptId: string): Call | undefined {
  return callsOf(state, run.id).findLast(({ name, metadata, approval }) => {
    const owner = name === INTERRUPT_TOOL ? metadata : approval?.metadata;
    const kept = owner?.[AG_UI];
    const interrupt = isObject(kept) ? kept["interrupt"] : undefined;
    return isObject(interrupt) && interrupt["id"] === interruptId;
  });
}

/** What a call's end says, word for word; undefined where nobody has said anything that counts. */
function entryOf(
  call: Call,
  runId: string | undefined,
): Pick<ResumeEntry, "status" | "payload"> | undefined {
  if (call.name === INTERRUPT_TOOL) {
    if (call.outcome !== "ok" || !call.answer) return undefined;
    return resolved(payloadOf(call.answer.answer));
  }
  const decision = call.approval?.decision;
  if (!decision || call.runId !== runId) return undefined;
  if (decision.payload !== undefined) return resolved(decision.payload);
  return resolved({
    approved: decision.approved,
    ...(decision.reason !== undefined && { reason: decision.reason }),
    ...(decision.edited && { arguments: jsonOf(call.arguments) }),
  });
}

/** A payload is any JSON but null. */
function resolved(payload: unknown): Pick<ResumeEntry, "status" | "payload"> {
  return { status: "resolved", ...(payload !== null && { payload }) };
}

function payloadOf(answer: NonNullable<Call["answer"]>["answer"]): unknown {
  switch (answer.type) {
    case "json":
      return answer.value;
    case "text":
      return answer.text;
    case "parts":
      return answer.parts;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
