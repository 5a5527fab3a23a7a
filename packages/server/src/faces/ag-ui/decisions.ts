import {
  canonical,
  reject,
  type Call,
  type CallAnswerCommand,
  type CallDecide,
  type Json,
  type Rejection,
  type SessionState,
} from "@holdfast/protocol";
import { interruptOf, INTERRUPT_TOOL, type AgUiInput } from "@holdfast/protocol/ag-ui";
import { callsPending, openInterrupts, type OpenInterrupt } from "./pending.ts";

type ResumeEntry = NonNullable<AgUiInput["resume"]>[number];

export type Decisions =
  | { readonly commands: readonly (CallDecide | CallAnswerCommand)[] }
  | { readonly refused: Rejection };

/**
 * What the resume entries decide, in their order. An entry names one open interrupt, each once, and together they speak
 * of every one that is open in their runs: omission is no word. One whose interrupt ended as the entry says already is
 * no news.
 */
export function decisionsIn(
  { resume = [] }: AgUiInput,
  state: SessionState,
  now: number,
): Decisions {
  const open = new Map(
    [...state.index.live].flatMap((id) => openInterrupts(state, id).map((it) => [it.id, it])),
  );
  const commands: (CallDecide | CallAnswerCommand)[] = [];
  const spoken = new Set<string>();
  for (const entry of resume) {
    const { interruptId } = entry;
    if (spoken.has(interruptId)) return { refused: repeated(interruptId) };
    spoken.add(interruptId);
    const interrupt = open.get(interruptId);
    const past = interrupt ? undefined : closedInterrupt(state, interruptId);
    if (interrupt) {
      if (isExpired(interrupt, entry, now)) return { refused: expired(interrupt) };
      commands.push(commandOf(interrupt.call, interruptId, entry));
    } else if (!past) {
      return { refused: invented(interruptId) };
    } else if (!isSettledSo(past, entry)) {
      commands.push(commandOf(past, interruptId, entry));
    }
  }
  const missing = missingIn(
    state,
    [...spoken].flatMap((id) => open.get(id) ?? []),
    spoken,
  );
  return missing ? { refused: missing } : { commands };
}

function missingIn(
  state: SessionState,
  named: readonly OpenInterrupt[],
  spoken: ReadonlySet<string>,
): Rejection | undefined {
  const runs = [...new Set(named.map(({ call }) => call.runId))].flatMap((id) => {
    const isMissing = openInterrupts(state, id).some((it) => !spoken.has(it.id));
    return isMissing ? (state.runs.get(id) ?? []) : [];
  });
  return runs.length > 0 ? callsPending(state, runs) : undefined;
}

/** The call whose interrupt had this id and is over. */
function closedInterrupt(state: SessionState, id: string): Call | undefined {
  for (const call of [...state.calls.values()].toReversed()) {
    if (call.approval?.id === id) return call;
    if (call.name === INTERRUPT_TOOL && interruptOf({ ...call, status: "open" })?.id === id)
      return call;
  }
  return undefined;
}

function commandOf(
  call: Call,
  interruptId: string,
  entry: ResumeEntry,
): CallDecide | CallAnswerCommand {
  const { status, payload } = entry;
  const said = payload as Json | undefined;
  if (call.approval?.id === interruptId) {
    const approved = isApproved(entry);
    const edited = approved ? editedIn(call, payload) : undefined;
    const reason = approved ? undefined : textIn(payload, "reason");
    return {
      type: "call.decide",
      callId: call.id,
      approvalId: interruptId,
      approved,
      ...(reason !== undefined && { reason }),
      ...(edited !== undefined && { arguments: edited }),
      ...(said !== undefined && { payload: said }),
    };
  }
  const answer = { type: "json", value: said ?? null } as const;
  return status === "resolved"
    ? { type: "call.answer", callId: call.id, outcome: "ok", answer }
    : { type: "call.answer", callId: call.id, outcome: "error", declined: true, answer };
}

function isApproved({ status, payload }: ResumeEntry): boolean {
  return status === "resolved" && memberOf(payload, "approved") !== false;
}

/** Other arguments to run with, where the payload has some and they are not those that were shown. */
function editedIn(call: Call, payload: unknown): string | undefined {
  const given = memberOf(payload, "editedArguments") ?? memberOf(payload, "arguments");
  if (given === undefined || given === null) return undefined;
  const text = typeof given === "string" ? given : JSON.stringify(given);
  return sameArguments(call.arguments, text) ? undefined : text;
}

function sameArguments(shown: string, given: string): boolean {
  if (shown === given) return true;
  try {
    return canonical(JSON.parse(shown)) === canonical(JSON.parse(given));
  } catch {
    return false;
  }
}

function textIn(payload: unknown, name: string): string | undefined {
  const text = memberOf(payload, name);
  return typeof text === "string" ? text : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** Whether what the entry says has become true already, by whoever. */
function isSettledSo(call: Call, entry: ResumeEntry): boolean {
  const decision = call.approval?.decision;
  if (decision && decision.approved === isApproved(entry)) {
    return !decision.approved || editedIn(call, entry.payload) === undefined;
  }
  if (entry.status === "cancelled") return !decision && call.outcome !== "ok";
  const { answer } = call;
  return (
    call.outcome === "ok" &&
    !decision &&
    answer?.answer.type === "json" &&
    canonical(answer.answer.value) === canonical(entry.payload ?? null)
  );
}

/** What expired is not resolved any more, though its time was not noticed yet; to cancel it is always right. */
function isExpired({ expiresAt }: OpenInterrupt, { status }: ResumeEntry, now: number): boolean {
  return status === "resolved" && expiresAt !== undefined && expiresAt <= now;
}

function expired({ id, call, expiresAt }: OpenInterrupt): Rejection {
  return reject(
    "stale_decision",
    `resume: interrupt ${id} expired: cancel it, in an entry with the status cancelled.`,
    { interruptId: id, callId: call.id, expiresAt },
  );
}

function repeated(interruptId: string): Rejection {
  return reject("invalid_request", `resume: two entries name interrupt ${interruptId}: send one.`, {
    interruptId,
  });
}

function invented(interruptId: string): Rejection {
  return reject(
    "unknown_call",
    `resume: this thread never had an interrupt ${interruptId}: name those that its last run ended with.`,
    { interruptId },
  );
}
