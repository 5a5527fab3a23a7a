import { CALL_TABLE } from "../call-table.ts";
import { isApproved, type Call } from "../call.ts";
import type { AgentItem } from "../command.ts";
import type { Scope } from "../entry.ts";
import type { EventOf } from "../events.ts";
import { omit } from "../omit.ts";
import { hintsOf } from "../reduce/content.ts";
import type { Run } from "../run.ts";
import {
  checkArguments,
  findCall,
  gateCall,
  refuseMove,
  replayOf,
  requestApproval,
  settleCall,
  toSessionId,
  unknownCall,
} from "./call.ts";
import { breach, repeatsTooOften } from "./budget.ts";
import { isRoundOpen, releaseClaim } from "./release.ts";
import type { Draft } from "./draft.ts";
import { refuseMuchMetadata, settleLongArguments } from "./limits.ts";
import type { Env } from "./env.ts";
import { needsDecision } from "./rules.ts";
import { APPLIED, record, refuse, type Made, type Ruling } from "./ruling.ts";

type Item<T extends AgentItem["type"]> = Extract<AgentItem, { type: T }>;

/** Proposes a call, reopens one with further arguments, or gives a used id's new call an id of the session's own. */
export function startCall(
  draft: Draft,
  env: Env,
  run: Run,
  said: EventOf<"TOOL_CALL_START">,
  scope: Scope,
): Ruling {
  // Only a reader is told so, and by the server.
  const item = said.redacted ? omit(said, "redacted") : said;
  const known = draft.state.calls.get(toSessionId(draft.state, run.id, item.toolCallId));
  if (!known) {
    record(draft, env, item, scope);
    return APPLIED;
  }
  const move = CALL_TABLE.start[known.status];
  if (move === "sequence_violation" && known.runId === run.id) {
    return refuse(
      "sequence_violation",
      `TOOL_CALL_START for call ${item.toolCallId}, which is open already: end it first.`,
    );
  }
  const same =
    known.runId === run.id &&
    known.round === scope.round &&
    isOfStep(known, scope) &&
    known.name === item.toolCallName &&
    known.subagentRunId === item.subagentRunId;
  if (same && (move === "reopen" || (move === "reopen_implicit" && known.claim?.implicit))) {
    const grown = refuseMuchMetadata(known, item.metadata, env);
    if (grown) return grown;
    record(draft, env, { ...item, toolCallId: known.id }, scope);
    return APPLIED;
  }
  const toolCallId = scopedId(item.toolCallId, env);
  const metadata = {
    ...item.metadata,
    holdfast: { ...hintsOf(item.metadata), providerCallId: item.toolCallId },
  };
  record(draft, env, { ...item, toolCallId, metadata }, scope);
  return APPLIED;
}

/** Whether something was written by the attempt of the step that a batch belongs to; or both belong to none (SPEC 5.7.8). */
export function isOfStep(row: StepName, batch: StepName): boolean {
  return row.stepId === batch.stepId && row.stepAttempt === batch.stepAttempt;
}

type StepName = Pick<Scope, "stepId" | "stepAttempt">;

function notOfStep(call: Call): Ruling {
  const where = call.stepId === undefined ? "no step" : `another step or attempt of one`;
  return refuse(
    "sequence_violation",
    `Call ${call.id} was proposed in ${where}: its arguments are completed there.`,
  );
}

/** An id within `[A-Za-z0-9_-]{1,64}` that still shows where it came from. */
function scopedId(providerId: string, env: Env): string {
  const suffix = env.newId("call").replaceAll(/[^A-Za-z0-9_-]/g, "_");
  return `${providerId.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 63 - suffix.length)}_${suffix}`;
}

/** Further arguments of an open call, or their end, where they are checked. */
export function endArguments(
  draft: Draft,
  env: Env,
  run: Run,
  item: EventOf<"TOOL_CALL_ARGS"> | EventOf<"TOOL_CALL_END">,
  scope: Scope,
): Ruling {
  const toolCallId = toSessionId(draft.state, run.id, item.toolCallId);
  const call = draft.state.calls.get(toolCallId);
  if (!call) return unknownCall(toolCallId, draft.state);
  const move =
    call.runId === run.id
      ? CALL_TABLE[item.type === "TOOL_CALL_ARGS" ? "arguments" : "end"][call.status]
      : "sequence_violation";
  if (move === "call_settled") return refuseMove(move, call);
  if (move === "sequence_violation") {
    return refuse(
      "sequence_violation",
      `${item.type} for call ${call.id}, which is ${call.status}: start it again first.`,
    );
  }
  if (!isOfStep(call, scope)) return notOfStep(call);
  if (item.type === "TOOL_CALL_ARGS") {
    const settled = settleLongArguments(draft, env, call, item, scope);
    if (settled) return settled;
  }
  const grown = refuseMuchMetadata(call, item.metadata, env);
  if (grown) return grown;
  record(draft, env, toolCallId === item.toolCallId ? item : { ...item, toolCallId }, scope);
  return move === "end" ? endCall(draft, env, run, call.id, scope) : APPLIED;
}

function endCall(draft: Draft, env: Env, run: Run, callId: string, scope: Scope): Made {
  const call = draft.state.calls.get(callId);
  if (!call) return APPLIED;
  const replayed = replayOf(draft.state, call);
  if (replayed) {
    record(draft, env, { type: "call.replayed", callId, of: replayed.id }, scope);
    return APPLIED;
  }
  if (run.toolsComplete && !call.tool && call.executor !== "provider") {
    const message = `There is no tool called ${call.name}.`;
    settleCall(draft, env, call, { outcome: "error", reason: "unknown_tool", message }, scope);
    return APPLIED;
  }
  if (repeatsTooOften(draft, call)) {
    const { repeats } = draft.state.session.policy.budget;
    const what = `more than ${repeats} calls of ${call.name} with the same arguments`;
    return breach(draft, env, run, what);
  }
  const invalid = refusedArguments(call, env);
  if (invalid) record(draft, env, { type: "call.invalid", callId, error: invalid }, scope);
  // A call that waits for a decision is nobody's to execute yet.
  if (!run.claims && call.executor !== "client" && !needsDecision(draft.state, call, env)) {
    record(
      draft,
      env,
      { type: "call.claimed", callId, claimId: env.newId("claim"), implicit: true },
      scope,
    );
  }
  return APPLIED;
}

/** What a client's tool is not to be given. An agent's framework checks its own tools; the server sees that they are JSON. */
function refusedArguments(call: Call, env: Env) {
  if (call.executor === "provider") return undefined;
  return checkArguments(
    call.executor === "client" ? call : omit(call, "tool"),
    call.arguments,
    env,
  );
}

export function replaceArguments(
  draft: Draft,
  env: Env,
  item: Item<"call.replace_arguments">,
  scope: Scope,
): Ruling {
  const call = findOwn(draft, env, item.callId);
  if (!call) return unknownCall(item.callId, draft.state);
  if (call.status === "settled") return refuseMove("call_settled", call);
  if (call.status !== "streaming") {
    return refuse(
      "sequence_violation",
      `The arguments of call ${call.id} are complete: replace them before TOOL_CALL_END.`,
    );
  }
  if (!isOfStep(call, scope)) return notOfStep(call);
  const settled = settleLongArguments(draft, env, call, item.arguments, scope);
  if (settled) return settled;
  const replaced = { callId: call.id, arguments: item.arguments };
  record(draft, env, { type: "call.arguments_replaced", ...replaced }, scope);
  return APPLIED;
}

/** The framework's word that the arguments cannot be used: the call settles so when its round closes. */
export function invalidateCall(
  draft: Draft,
  env: Env,
  item: Item<"call.invalidate">,
  scope: Scope,
): Ruling {
  const call = findOwn(draft, env, item.callId);
  if (!call) return unknownCall(item.callId, draft.state);
  if (call.status !== "streaming" && !isProposed(draft, call)) return tooLate(call);
  if (!isOfStep(call, scope)) return notOfStep(call);
  record(draft, env, { type: "call.invalid", callId: call.id, error: item.error }, scope);
  return APPLIED;
}

/** The agent wants a decision: the call is gated when its round closes. */
export function askForCall(draft: Draft, env: Env, item: Item<"call.ask">, scope: Scope): Ruling {
  const { type: _, callId, again, ...ask } = item;
  const call = findOwn(draft, env, callId);
  if (!call) return unknownCall(callId, draft.state);
  if (call.status === "streaming") return refuseMove("not_ready", call);
  // Its agent may execute it, and asks anew.
  if (again && isApproved(call) && call.executor !== "client") {
    requestApproval(draft, env, call, { by: "agent", ...ask }, scope);
    gateCall(draft, env, call, scope);
    return APPLIED;
  }
  if (!isProposed(draft, call)) return tooLate(call);
  if (!isOfStep(call, scope)) return notOfStep(call);
  // Whoever waits for a decision does not execute: the attempt's implicit claim ends.
  if (call.claim) releaseClaim(draft, env, call, { reason: "released" }, scope);
  requestApproval(draft, env, call, { by: "agent", ...ask }, scope);
  return APPLIED;
}

/** A call of the attempt's own run; it has no say in another's. */
function findOwn(draft: Draft, env: Env, callId: string): Call | undefined {
  const call = findCall(draft.state, callId, env);
  return call?.runId === env.actor.attempt?.runId ? call : undefined;
}

/** Its arguments are complete, its round is open, and nobody but the attempt itself took it up. */
function isProposed(draft: Draft, call: Call): boolean {
  if (call.status === "ended") return true;
  return call.claim?.implicit === true && isRoundOpen(draft.state, call);
}

function tooLate(call: Call): Ruling {
  if (call.status === "settled") return refuseMove("call_settled", call);
  return refuse(
    "sequence_violation",
    `Call ${call.id} is ${call.status}: that must be said before its round closes.`,
  );
}

export function annotateCall(
  draft: Draft,
  env: Env,
  item: Item<"call.annotate">,
  scope: Scope,
): Ruling {
  const call = findOwn(draft, env, item.callId);
  if (!call) return unknownCall(item.callId, draft.state);
  if (call.erased) return refuseMove("call_settled", call);
  const grown = refuseMuchMetadata(call, item.metadata, env);
  if (grown) return grown;
  record(draft, env, { type: "call.annotated", callId: call.id, metadata: item.metadata }, scope);
  return APPLIED;
}
