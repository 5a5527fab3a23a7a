import {
  callsOf,
  reject,
  type Call,
  type Rejection,
  type Run,
  type SessionState,
} from "@holdfast/protocol";
import { interruptOf } from "@holdfast/protocol/ag-ui";

/** A call that AG-UI readers know as an interrupt, and its id there. */
export interface OpenInterrupt {
  readonly id: string;
  readonly call: Call;
  /** After which only a cancel is taken, Unix milliseconds. */
  readonly expiresAt?: number;
}

/** A run's calls that are not settled, in order. */
export function pendingCalls(state: SessionState, runId: string): Call[] {
  return callsOf(state, runId).filter(({ status }) => status !== "settled");
}

/** Those of them that are interrupts. */
export function openInterrupts(state: SessionState, runId: string): OpenInterrupt[] {
  return pendingCalls(state, runId).flatMap((call) => {
    const interrupt = interruptOf(call);
    if (!interrupt) return [];
    const expiresAt = call.status === "gated" ? call.approval?.expiresAt : call.deadlineAt;
    return [{ id: interrupt.id, call, ...(expiresAt !== undefined && { expiresAt }) }];
  });
}

/** Whether somebody spoke of every interrupt of a run. */
export function isCovered(
  state: SessionState,
  runId: string,
  settling: readonly { readonly callId: string }[],
): boolean {
  const spoken = new Set(settling.map(({ callId }) => callId));
  return openInterrupts(state, runId).every(({ call }) => spoken.has(call.id));
}

/** What waits in runs that cannot go on, by name. */
export function callsPending(state: SessionState, runs: readonly Run[]): Rejection {
  const ids = runs.map(({ id }) => id);
  const interrupts = ids.flatMap((id) => openInterrupts(state, id).map((it) => it.id));
  const calls = ids.flatMap((id) => pendingCalls(state, id).map((it) => it.id));
  const what = [
    ...(interrupts.length > 0 ? [`resume or cancel interrupts ${interrupts.join(", ")}`] : []),
    ...(calls.length > interrupts.length ? [`answer calls ${calls.join(", ")}`] : []),
  ];
  return reject(
    "calls_pending",
    `This thread waits for the client: ${what.join(" and ")}, all in one request.`,
    { runId: ids.at(-1), calls, interrupts },
  );
}
