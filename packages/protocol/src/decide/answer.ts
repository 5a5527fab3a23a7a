import { CALL_TABLE } from "../call-table.ts";
import { canonical } from "../canonical.ts";
import type { Call, SettleReason } from "../call.ts";
import type { CallAnswerCommand } from "../command.ts";
import {
  findCall,
  isExecutor,
  needsDecision,
  notExecutor,
  refuseFenced,
  refuseMove,
  sideOf,
  unknownCall,
} from "./call.ts";
import { claimHeld, claimLost, heldBefore, scopeOf } from "./claim.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { passBarrier } from "./next.ts";
import { APPLIED, record, refuse, REPEATED, type Ruling } from "./ruling.ts";

/** Settles a call by its executor's word. First valid wins; every later one learns who won. */
export function answerCall(draft: Draft, command: CallAnswerCommand, env: Env): Ruling {
  const call = findCall(draft.state, command.callId, env);
  if (!call) return unknownCall(command.callId, draft.state);
  if (!isExecutor(call, env)) return notExecutor(call);
  const side = sideOf(call, env);
  if (call.status !== "settled" && heldBefore(call, command.claimId)) return claimLost(call);
  const holds =
    call.claim !== undefined &&
    call.claim.id === command.claimId &&
    (side === "agent" || call.claim.by === env.actor.principal);
  if (side === "agent" && !holds && call.status !== "settled") {
    const fenced = refuseFenced(draft.state, call, env);
    if (fenced) return fenced;
  }
  switch (CALL_TABLE[`answer:${side}`][call.status]) {
    case "answer":
      return settle(draft, call, command, env);
    case "answer_ungated":
      return needsDecision(call)
        ? refuseMove("approval_required", call)
        : settle(draft, call, command, env);
    case "answer_observed":
      return settle(
        draft,
        call,
        command,
        env,
        needsDecision(call) ? "executed_without_approval" : undefined,
      );
    case "answer_unapproved":
      return settle(draft, call, command, env, "executed_without_approval");
    case "answer_held":
      return holds || call.claim?.implicit ? settle(draft, call, command, env) : claimHeld(call);
    case "answered":
      return isEcho(call, command, side) ? REPEATED : alreadySettled(call);
    case "approval_required":
      return refuseMove("approval_required", call);
    default:
      return refuseMove("not_ready", call);
  }
}

function settle(
  draft: Draft,
  call: Call,
  command: CallAnswerCommand,
  env: Env,
  unapproved?: SettleReason,
): Ruling {
  const reason = unapproved ?? (command.declined ? "declined" : undefined);
  record(
    draft,
    env,
    {
      type: "call.answered",
      callId: call.id,
      messageId: command.messageId ?? env.newId("message"),
      outcome: unapproved || command.declined ? "error" : command.outcome,
      answer: command.answer,
      ...(reason !== undefined && { reason }),
      ...(command.metadata && { metadata: command.metadata }),
    },
    scopeOf(call, env),
  );
  passBarrier(draft, env, call.runId);
  return APPLIED;
}

/** An agent repeating what its framework was told is no second answer. */
function isEcho(call: Call, command: CallAnswerCommand, side: "client" | "agent"): boolean {
  if (side !== "agent") return false;
  if (!call.answer) return call.outcome === command.outcome && call.outcome === "error";
  return (
    call.outcome === command.outcome && canonical(call.answer.answer) === canonical(command.answer)
  );
}

function alreadySettled(call: Call): Ruling {
  if (!call.answer) return refuseMove("call_settled", call);
  const { by, at, answer } = call.answer;
  return refuse("already_answered", `Call ${call.id} was answered by ${by}: show that answer.`, {
    by,
    at,
    outcome: call.outcome,
    answer,
  });
}
