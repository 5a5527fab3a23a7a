import { CALL_TABLE } from "../call-table.ts";
import type { Approval, Call } from "../call.ts";
import type { CallDecide } from "../command.ts";
import {
  checkArguments,
  findAmbiguity,
  findCall,
  openCall,
  refuseMove,
  unknownCall,
} from "./call.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { passBarrier } from "./next.ts";
import { mayApprove, ruleOf } from "./rules.ts";
import { APPLIED, record, refuse, REPEATED, type Ruling } from "./ruling.ts";

/** A person's word on a gated call: it runs as it was shown, runs edited, or never runs. */
export function decideCall(draft: Draft, command: CallDecide, env: Env): Ruling {
  const call = findCall(draft.state, command.callId, env);
  if (!call) return unknownCall(command.callId, draft.state);
  if (env.actor.attempt) {
    return refuse("forbidden", `An attempt decides nothing: leave call ${call.id} to a person.`);
  }
  switch (CALL_TABLE.decide[call.status]) {
    case "decide":
      break;
    case "stale_decision":
      return staleDecision(call);
    case "decided":
      return call.approval ? staleDecision(call) : refuseMove("call_settled", call);
    default:
      return refuseMove("not_ready", call);
  }
  if (!mayApprove(draft.state, call.name, env.actor.principal)) {
    return refuse(
      "not_approver",
      `${env.actor.principal} may not decide on calls of ${call.name}: leave it to somebody who may.`,
      { approvers: ruleOf(draft.state, call.name)?.approvers },
    );
  }
  const { approval } = call;
  if (!approval || !names(command, approval)) return staleDecision(call);
  const edited = command.approved ? command.arguments : undefined;
  if (edited !== undefined) {
    const refused = refuseEdit(call, approval, edited, env);
    if (refused) return refused;
  }
  const scope = { runId: call.runId };
  record(
    draft,
    env,
    {
      type: "call.decided",
      callId: call.id,
      approvalId: approval.id,
      approved: command.approved,
      digest: edited === undefined ? approval.digest : env.digest(edited),
      ...(command.reason !== undefined && { reason: command.reason }),
      ...(edited !== undefined && { arguments: edited }),
      ...(command.payload !== undefined && { payload: command.payload }),
    },
    scope,
  );
  if (command.approved && command.always) {
    record(draft, env, { type: "approval.granted", tool: call.name, callId: call.id });
  }
  if (command.approved) openCall(draft, env, call, scope);
  passBarrier(draft, env, call.runId);
  return APPLIED;
}

/** Takes a standing approval back; calls that it approved already are not touched. */
export function revokeApproval(draft: Draft, tool: string, env: Env): Ruling {
  if (!draft.state.session.grants?.some((grant) => grant.tool === tool)) return REPEATED;
  record(draft, env, { type: "approval.revoked", tool });
  return APPLIED;
}

function names(command: CallDecide, approval: Approval): boolean {
  if (command.approvalId === undefined && command.digest === undefined) return false;
  if (command.approvalId !== undefined && command.approvalId !== approval.id) return false;
  return command.digest === undefined || command.digest === approval.digest;
}

function refuseEdit(call: Call, approval: Approval, text: string, env: Env): Ruling | undefined {
  if (approval.signed) {
    return refuse(
      "edit_unsupported",
      `The request for call ${call.id} is signed by its provider: approve or deny it as it is.`,
    );
  }
  const limit = env.limits?.argumentsLength;
  if (limit !== undefined && text.length > limit) {
    const value = text.length;
    return refuse(
      "too_large",
      `The arguments have ${value} characters, and may have ${limit}: shorten them.`,
      { limit, value },
    );
  }
  const invalid = checkArguments(call, text, env) ?? findAmbiguity(call, text);
  return (
    invalid &&
    refuse("invalid_arguments", `${invalid.message} The call still waits for a decision.`, {
      paths: invalid.paths,
    })
  );
}

function staleDecision(call: Call): Ruling {
  const { approval } = call;
  const stands = approval?.decision
    ? `it was ${approval.decision.approved ? "approved" : "denied"} by ${approval.decision.by}`
    : `it is ${call.status}`;
  return refuse(
    "stale_decision",
    `That is not what call ${call.id} asks now: ${stands}. Read it again and decide upon what it shows.`,
    {
      status: call.status,
      approvalId: approval?.id,
      digest: approval?.digest,
      decision: approval?.decision,
      outcome: call.outcome,
    },
  );
}
