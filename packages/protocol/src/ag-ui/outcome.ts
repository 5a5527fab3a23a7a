import type { Call } from "../call.ts";
import type { Run } from "../run.ts";
import { callsOf, type SessionState } from "../state.ts";
import { accountOf } from "./account.ts";
import type { AgUiEvent, Peer } from "./face-event.ts";
import { INTERRUPT_TOOL, interruptsOf } from "./interrupt.ts";
import type { Closing } from "./open-items.ts";

export interface OutcomeOptions {
  readonly threadId: string;
  /** The AG-UI run's id. */
  readonly runId: string;
  readonly peer: Peer;
}

/**
 * How an activation ends on the AG-UI face, from what became of its run (SPEC 12.3.12). Calls of clients that wait are named
 * in their order; an interrupt is told only where none of them waits.
 */
export function outcomeOf(state: SessionState, run: Run, options: OutcomeOptions): AgUiEvent {
  const { threadId, runId, peer } = options;
  const { usage, result } = accountOf(run);
  const used = usage && { usage };
  const ended = { type: "RUN_FINISHED" as const, threadId, runId, ...used };
  if (run.status === "ended" && run.outcome === "error") {
    const { code, message } = run.error ?? {
      code: run.reason ?? "error",
      message: "The run failed.",
    };
    return { type: "RUN_ERROR", message, code, ...used };
  }
  if (run.status === "ended" && run.outcome === "cancelled") {
    // Before 1.0 nothing else is neither a success nor a failure.
    return peer === "1.0"
      ? { ...ended, outcome: { type: "cancelled" } }
      : { type: "RUN_ERROR", message: "The run was cancelled.", code: "cancelled", ...used };
  }
  const finished = { ...ended, ...(result !== undefined && { result }) };
  if (run.status !== "suspended") return { ...finished, outcome: { type: "success" } };
  const pendingToolCallIds = pendingCalls(state, run);
  const [first, ...others] = interruptsOf(state, run.id);
  if (pendingToolCallIds.length === 0 && first)
    return { ...finished, outcome: { type: "interrupt", interrupts: [first, ...others] } };
  const names = peer === "1.0" && pendingToolCallIds.length > 0 && { pendingToolCallIds };
  return { ...finished, outcome: { type: "success", ...names } };
}

/** Calls of a run's newest activation that wait for the application, in their order: what a stock client is to answer. */
export function pendingCalls(state: SessionState, run: Run): string[] {
  // What an earlier activation left was settled before this one began.
  const since = run.activation?.attempt ?? 0;
  const calls = callsOf(state, run.id).filter(({ attempt }) => attempt >= since);
  return calls.flatMap((call) => (waitsForApplication(call) ? [call.id] : []));
}

function waitsForApplication({ executor, status, name }: Call): boolean {
  if (executor !== "client" || name === INTERRUPT_TOOL) return false;
  return status === "open" || status === "claimed";
}

/** How what is still open ends with a run. */
export function closingOf(run: Run): Closing {
  if (run.status === "ended") return run.outcome === "complete" ? "finished" : "broken";
  return run.status === "suspended" ? "waiting" : "finished";
}
