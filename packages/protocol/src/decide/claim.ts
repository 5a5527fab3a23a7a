import { CALL_TABLE } from "../call-table.ts";
import type { Call } from "../call.ts";
import type { CallProgress, CommandBody } from "../command.ts";
import type { Scope } from "../entry.ts";
import type { Draft } from "./draft.ts";
import {
  executingSide,
  findCall,
  heldBefore,
  isExecutor,
  notExecutor,
  refuseFenced,
  refuseMove,
  unknownCall,
} from "./call.ts";
import type { Env } from "./env.ts";
import { refuseMuchMetadata } from "./limits.ts";
import { passBarrier } from "./next.ts";
import { releaseClaim } from "./release.ts";
import { needsDecision } from "./rules.ts";
import { APPLIED, record, refuse, type Ruling } from "./ruling.ts";

type ClaimCommand<T extends string> = Extract<CommandBody, { type: T }>;

/** Grants the right to execute a call to one holder at a time. */
export function claimCall(draft: Draft, command: ClaimCommand<"call.claim">, env: Env): Ruling {
  const call = findCall(draft.state, command.callId, env);
  if (!call) return unknownCall(command.callId, draft.state);
  if (call.status === "settled") return refuseMove("call_settled", call);
  if (!isExecutor(call, env)) return notExecutor(call);
  if (executesOther(call, command.toolDigest)) return otherSchema(call);
  const side = executingSide(call);
  if (side === "agent") {
    const fenced = refuseFenced(draft.state, call, env);
    if (fenced) return fenced;
  }
  switch (CALL_TABLE[`claim:${side}`][call.status]) {
    case "claim_ungated":
      if (needsDecision(draft.state, call, env)) return refuseMove("approval_required", call);
      return grant(draft, call, command, env);
    case "claim":
      return grant(draft, call, command, env);
    case "held":
      // The same attempt asks again where its verdict was lost; people on two devices share a principal, so a
      // client's own claim is recognised by its command id alone.
      if (
        side === "agent" &&
        call.claim &&
        !call.claim.implicit &&
        call.claim.attempt === env.actor.attempt?.attempt &&
        call.claim.by === env.actor.principal
      ) {
        return { claimId: call.claim.id, callId: call.id, repeated: true };
      }
      return claimHeld(call);
    case "approval_required":
      return refuseMove("approval_required", call);
    default:
      return refuseMove("not_ready", call);
  }
}

/** Whether the claimer's tool has another schema than the one the call was proposed with. */
function executesOther({ tool }: Call, toolDigest: string | undefined): boolean {
  return toolDigest !== undefined && tool?.digest !== undefined && tool.digest !== toolDigest;
}

function otherSchema({ id, name, tool }: Call): Ruling {
  return refuse(
    "not_executor",
    `Call ${id} was proposed with another schema of ${name} than yours: leave it to a client that has that one, or reload.`,
    { toolDigest: tool?.digest },
  );
}

function grant(draft: Draft, call: Call, command: ClaimCommand<"call.claim">, env: Env): Ruling {
  if (call.manual && !command.force) {
    return refuse(
      "retry_unsafe",
      `Call ${call.id} was claimed before and its holder was lost: it may have run. Claim it with force, answer it, or cancel it.`,
    );
  }
  const claimId = env.newId("claim");
  record(
    draft,
    env,
    { type: "call.claimed", callId: call.id, claimId, ...(command.force && { forced: true }) },
    scopeOf(call, env),
  );
  return { claimId, callId: call.id };
}

/** A holder's word that it is still at work. Its lease is the engine's to extend; nothing is recorded. */
export function renewCall(draft: Draft, command: ClaimCommand<"call.renew">, env: Env): Ruling {
  const call = findCall(draft.state, command.callId, env);
  if (!call) return unknownCall(command.callId, draft.state);
  return refuseUnlessHeld(call, command.claimId, "renew", env) ?? APPLIED;
}

/** A holder's word that nothing ran: the call is open again, even one that is not safe to retry. */
export function releaseCall(draft: Draft, command: ClaimCommand<"call.release">, env: Env): Ruling {
  const call = findCall(draft.state, command.callId, env);
  if (!call) return unknownCall(command.callId, draft.state);
  const refused = refuseUnlessHeld(call, command.claimId, "release", env);
  if (refused) return refused;
  releaseClaim(draft, env, call, { reason: "released" }, scopeOf(call, env));
  passBarrier(draft, env, call.runId);
  return APPLIED;
}

/** How far the execution is; replaces what was reported before. */
export function progressCall(draft: Draft, command: CallProgress, env: Env): Ruling {
  const call = findCall(draft.state, command.callId, env);
  if (!call) return unknownCall(command.callId, draft.state);
  if (call.status === "settled") return refuseMove("call_settled", call);
  if (!isExecutor(call, env, command.claimId)) return notExecutor(call);
  const held = call.claim && !call.claim.implicit;
  if (!held && executingSide(call) === "agent") {
    const fenced = refuseFenced(draft.state, call, env);
    if (fenced) return fenced;
  }
  switch (CALL_TABLE.progress[call.status]) {
    case "renew": {
      const refused = held ? refuseUnlessHeld(call, command.claimId, "renew", env) : undefined;
      if (refused) return refused;
      break;
    }
    case "keep":
      break;
    case "approval_required":
      return refuseMove("approval_required", call);
    default:
      return refuseMove("not_ready", call);
  }
  const { progress, metadata } = command;
  const grown = refuseMuchMetadata(call, metadata, env);
  if (grown) return grown;
  record(
    draft,
    env,
    { type: "call.progressed", callId: call.id, progress, ...(metadata && { metadata }) },
    scopeOf(call, env),
  );
  return APPLIED;
}

/** The refusals of a command that only the holder of a claim may give. */
export function refuseUnlessHeld(
  call: Call,
  claimId: string | undefined,
  trigger: "renew" | "release",
  env: Env,
): Ruling | undefined {
  switch (CALL_TABLE[trigger][call.status]) {
    case "call_settled":
      return refuseMove("call_settled", call);
    case "renew":
    case "release":
      if (!call.claim?.implicit && holds(call, claimId, env)) return undefined;
      return heldBefore(call, claimId) ? claimLost(call) : claimHeld(call);
    case "not_claimed":
      return refuseMove("not_claimed", call);
    default:
      return heldBefore(call, claimId) ? claimLost(call) : refuseMove("not_claimed", call);
  }
}

/** Whether the command comes from whoever holds the claim: its principal, or any attempt of the call's run. */
export function holds(call: Call, claimId: string | undefined, env: Env): boolean {
  if (!call.claim || call.claim.id !== claimId) return false;
  const agents = call.executor !== "client" && env.actor.attempt?.runId === call.runId;
  return agents || call.claim.by === env.actor.principal;
}

export function claimHeld(call: Call): Ruling {
  return refuse(
    "claim_held",
    `Call ${call.id} is held by ${call.claim?.by ?? "its attempt"}: wait for its answer.`,
    {
      by: call.claim?.by,
      since: call.claim?.at,
    },
  );
}

export function claimLost(call: Call): Ruling {
  return refuse(
    "claim_lost",
    `Your claim on call ${call.id} ended and the call is ${call.status} now: stop, and claim it again if it is open.`,
    {
      status: call.status,
    },
  );
}

/** The scope of what a command does to a call: the attempt's own on the agent's side. */
export function scopeOf(call: Call, env: Env): Scope {
  const { attempt } = env.actor;
  if (attempt?.runId !== call.runId) return { runId: call.runId };
  return { runId: call.runId, attempt: attempt.attempt, ...env.step };
}
