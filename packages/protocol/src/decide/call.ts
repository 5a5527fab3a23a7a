import { hasSameArguments } from "../canonical.ts";
import { CALL_TABLE } from "../call-table.ts";
import type { Call, CallOutcome, SettleReason } from "../call.ts";
import { duplicateKey } from "../duplicate-key.ts";
import type { Scope } from "../entry.ts";
import type { CallEvent, InvalidArguments } from "../events.ts";
import { isTooDeep, MOST_DEPTH } from "../nesting.ts";
import { aliasKey, callsOf, type SessionState } from "../state.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { grantOf, needsDecision } from "./rules.ts";
import { record, refuse, type Ruling } from "./ruling.ts";

/** The call a command means: an attempt may use the id its provider gave. */
export function findCall(state: SessionState, callId: string, env: Env): Call | undefined {
  const runId = env.actor.attempt?.runId;
  return state.calls.get(runId === undefined ? callId : toSessionId(state, runId, callId));
}

/** The session's id for the id an attempt uses: its run's newest call under it. */
export function toSessionId(state: SessionState, runId: string, callId: string): string {
  return state.index.aliases.get(aliasKey(runId, callId))?.at(-1) ?? callId;
}

/**
 * The id under which a framework executes a call that was approved. A signature covers the id that the framework knew, so
 * that a signed one goes back under its provider's, as long as that means the call.
 */
export function toFrameworkId(state: SessionState, call: Call): string {
  const { id, runId, providerId, approval } = call;
  if (!approval?.signed || providerId === undefined) return id;
  return toSessionId(state, runId, providerId) === id ? providerId : id;
}

/** How many pending calls a refusal names. A batch may be refused a thousand times. */
const MAX_PENDING = 16;

export function unknownCall(callId: string, state: SessionState): Ruling {
  const pending: string[] = [];
  for (const runId of state.index.live) {
    for (const { id, status } of callsOf(state, runId)) {
      if (status !== "settled" && pending.length < MAX_PENDING) pending.push(id);
    }
  }
  return refuse(
    "unknown_call",
    `This session has no call ${callId}: read its state for the calls that are pending.`,
    {
      pending,
    },
  );
}

export type Side = "client" | "agent";

/** The side that executes the call. */
export function executingSide(call: Call): Side {
  return call.executor === "client" ? "client" : "agent";
}

/**
 * Whether the command comes from the side that executes the call. The agent's side is an attempt of the call's run, or
 * whoever names a claim of that side: a claim outlives its attempt. Another run's attempt is on neither side.
 */
export function isExecutor(call: Call, env: Env, claimId?: string): boolean {
  const { attempt, principal } = env.actor;
  if (call.executor === "client") return attempt === undefined;
  if (attempt?.runId === call.runId) return true;
  if (claimId === undefined) return false;
  return call.claim?.id === claimId ? call.claim.by === principal : heldBefore(call, claimId);
}

/** Whether a claim held the call and no longer does. */
export function heldBefore(call: Call, claimId: string | undefined): boolean {
  return claimId !== undefined && (call.pastClaims?.includes(claimId) ?? false);
}

/** Refuses an attempt that is not the run's current one. */
export function refuseFenced(state: SessionState, call: Call, env: Env): Ruling | undefined {
  const mine = env.actor.attempt;
  const run = state.runs.get(call.runId);
  if (run?.status === "active" && run.id === mine?.runId && run.attempt === mine.attempt)
    return undefined;
  return refuse(
    "attempt_fenced",
    `${mine ? `Attempt ${mine.attempt} of run ${mine.runId} is over` : `Run ${call.runId} is at another attempt`}: claim work again.`,
    {
      attempt: run?.attempt,
    },
  );
}

/** The words of every refusal that a cell of the call table names by its code alone. */
export function refuseMove(
  code: "not_ready" | "approval_required" | "call_settled" | "not_claimed",
  call: Call,
): Ruling {
  switch (code) {
    case "not_ready":
      return refuse(
        code,
        `Call ${call.id} is still ${call.status}: wait until its arguments are complete and its round is closed.`,
      );
    case "approval_required":
      return refuse(code, `Call ${call.id} waits for a decision: approve or deny it first.`, {
        ...(call.approval && { approvalId: call.approval.id, digest: call.approval.digest }),
      });
    case "not_claimed":
      return refuse(code, `Call ${call.id} is ${call.status} and nobody holds it: claim it first.`);
    case "call_settled":
      return refuse(
        code,
        `Call ${call.id} ended ${call.outcome}${call.reason ? ` (${call.reason})` : ""}: nothing more can change it.`,
        {
          outcome: call.outcome,
          ...(call.reason !== undefined && { reason: call.reason }),
          settledAt: call.settledAt,
          settledBy: call.settledBy,
        },
      );
  }
}

export function notExecutor(call: Call): Ruling {
  const who = call.executor === "client" ? "a client" : "its agent";
  return refuse(
    "not_executor",
    `Call ${call.id} (${call.name}) is executed by ${who}: only that side claims and answers it.`,
  );
}

/** Settles a call other than by an answer. The scope says whose doing it is: an attempt's own is no news to it. */
export function settleCall(
  draft: Draft,
  env: Env,
  call: Call,
  end: {
    readonly outcome: Exclude<CallOutcome, "ok" | "denied">;
    readonly reason: SettleReason;
    readonly message?: string;
  },
  scope: Scope = { runId: call.runId },
): void {
  record(draft, env, { type: "call.settled", callId: call.id, ...end }, scope);
}

/** What happens to a call when no more arguments can come: the `close` and `truncate` moves. */
export function closeCall(draft: Draft, env: Env, call: Call, scope: Scope): void {
  const move = CALL_TABLE.round_close[call.status];
  if (move === "truncate") {
    return settleCall(
      draft,
      env,
      call,
      {
        outcome: "error",
        reason: "truncated",
        message: "The arguments broke off before they were complete.",
      },
      scope,
    );
  }
  if (move !== "close") return;
  const isGated = needsDecision(draft.state, call, env);
  const ambiguous = isGated && !call.invalid ? findAmbiguity(call, call.arguments) : undefined;
  if (ambiguous)
    record(draft, env, { type: "call.invalid", callId: call.id, error: ambiguous }, scope);
  const invalid = call.invalid ?? ambiguous;
  if (
    invalid &&
    call.executor !== "provider" &&
    draft.state.session.policy.invalidArguments === "answer"
  ) {
    return settleCall(
      draft,
      env,
      call,
      { outcome: "error", reason: "invalid_arguments", message: invalid.message },
      scope,
    );
  }
  if (!isGated) return openCall(draft, env, call, scope);
  if (!call.approval) requestApproval(draft, env, call, { by: "policy" }, scope);
  else if (call.approval.digest !== env.digest(call.arguments)) {
    const { by, reason, signed, expiresAt, metadata } = call.approval;
    const again = {
      by,
      ...(reason !== undefined && { reason }),
      ...(signed && { signed }),
      ...(expiresAt !== undefined && { expiresAt }),
      ...(metadata && { metadata }),
    };
    requestApproval(draft, env, call, again, scope);
  }
  gateCall(draft, env, call, scope);
}

/** The call waits for a decision upon what was requested. */
export function gateCall(draft: Draft, env: Env, { id }: Pick<Call, "id">, scope: Scope): void {
  const call = draft.state.calls.get(id);
  if (!call) return;
  const { approvalMs, escalateMs } = call.tool ?? {};
  const expiresAt = sooner(call.approval?.expiresAt, approvalMs, env);
  record(
    draft,
    env,
    {
      type: "call.gated",
      callId: call.id,
      ...(expiresAt !== undefined && { expiresAt }),
      ...(escalateMs !== undefined && { escalateAt: env.now + escalateMs }),
    },
    scope,
  );
  approveByGrant(draft, env, call.id);
}

/** A standing approval decides at once, on the record, in the name of who gave it. */
function approveByGrant(draft: Draft, env: Env, callId: string): void {
  const call = draft.state.calls.get(callId);
  const grant = call && grantOf(draft.state, call.name);
  if (!call?.approval || !grant) return;
  const { id: approvalId, digest } = call.approval;
  const server: Env = { ...env, actor: { principal: "server" } };
  // Nobody's attempt does this, so that it is news to the agent.
  const scope = { runId: call.runId };
  const decided = { type: "call.decided", callId, approvalId, approved: true, digest } as const;
  record(draft, server, { ...decided, automatic: true, onBehalfOf: grant.by }, scope);
  openCall(draft, server, call, scope);
}

/** Asks for a decision upon the call's arguments as they are. */
export function requestApproval(
  draft: Draft,
  env: Env,
  call: Call,
  ask: Pick<
    Extract<CallEvent, { type: "call.approval_requested" }>,
    "by" | "reason" | "signed" | "expiresAt" | "metadata"
  > & {
    readonly approvalId?: string;
  },
  scope: Scope,
): void {
  const { approvalId = env.newId("approval"), ...rest } = ask;
  record(
    draft,
    env,
    {
      type: "call.approval_requested",
      callId: call.id,
      approvalId,
      digest: env.digest(call.arguments),
      ...rest,
    },
    scope,
  );
}

/** The call may be executed from here on; its deadline begins. */
export function openCall(draft: Draft, env: Env, call: Call, scope: Scope): void {
  const { deadlineMs, escalateMs } = call.tool ?? {};
  const deadlineAt = sooner(call.deadlineAt, deadlineMs, env);
  const escalates = escalateMs !== undefined && call.executor === "client";
  record(
    draft,
    env,
    {
      type: "call.opened",
      callId: call.id,
      ...(deadlineAt !== undefined && { deadlineAt }),
      ...(escalates && { escalateAt: env.now + escalateMs }),
    },
    scope,
  );
}

/** The earlier of a time and what is `ms` from now; undefined where there is neither. */
function sooner(at: number | undefined, ms: number | undefined, env: Env): number | undefined {
  if (ms === undefined) return at;
  return Math.min(at ?? Number.POSITIVE_INFINITY, env.now + ms);
}

/** Why arguments cannot be handed to an executor as they are, or undefined. */
export function checkArguments(call: Call, text: string, env: Env): InvalidArguments | undefined {
  if (call.argumentsEncoding === "text") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text.trim() === "" ? "{}" : text);
  } catch (cause) {
    return {
      message: `The arguments are not JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
    };
  }
  if (isTooDeep(text))
    return {
      message: `The arguments are nested too deep, more than ${MOST_DEPTH} levels: flatten them.`,
    };
  return call.tool && env.validate(call.tool, value);
}

/** Why people and programs would not read the same in arguments that are to be decided upon (SPEC 4.7.8), or undefined. */
export function findAmbiguity(call: Call, text: string): InvalidArguments | undefined {
  if (call.argumentsEncoding === "text" || !isJson(text)) return undefined;
  const pointer = duplicateKey(text);
  if (pointer === undefined) return undefined;
  return {
    message: `The arguments name ${pointer} twice: name each member once.`,
    paths: [pointer],
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** How many uses of one id a further one is compared with. */
const MAX_USES = 256;

/**
 * The settled call that `call` only repeats: same run, name and arguments under one provider id, among the first and the
 * newest uses of it. One that was taken back is proposed anew.
 */
export function replayOf({ calls, index }: SessionState, call: Call): Call | undefined {
  const { id, runId, name, providerId } = call;
  if (providerId === undefined) return undefined;
  const uses = index.aliases.get(aliasKey(runId, providerId)) ?? [];
  const isReplayed = (otherId: string) => {
    const other = calls.get(otherId);
    if (other?.status !== "settled" || other.withdrawn || other.erased) return false;
    if (other.id === id) return false;
    return other.runId === runId && other.name === name && hasSameArguments(other, call);
  };
  const found = [providerId, ...uses.slice(-MAX_USES)].find(isReplayed);
  return found === undefined ? undefined : calls.get(found);
}
