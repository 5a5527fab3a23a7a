import { CALL_TABLE } from "../call-table.ts";
import { canonical } from "../canonical.ts";
import type { Call, SettleReason } from "../call.ts";
import type { CallAnswerCommand } from "../command.ts";
import {
  executingSide,
  findCall,
  heldBefore,
  isExecutor,
  notExecutor,
  refuseFenced,
  refuseMove,
  unknownCall,
  type Side,
} from "./call.ts";
import { claimHeld, claimLost, holds, scopeOf } from "./claim.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { cutAnswer, type CutAnswer } from "./limits.ts";
import { passBarrier } from "./next.ts";
import { needsDecision } from "./rules.ts";
import { APPLIED, record, refuse, REPEATED, type Ruling } from "./ruling.ts";
import { isConsumed } from "./withdraw.ts";

/** Settles a call by its executor's word. First valid wins; every later one learns who won. */
export function answerCall(draft: Draft, command: CallAnswerCommand, env: Env): Ruling {
  const call = findCall(draft.state, command.callId, env);
  if (!call) return unknownCall(command.callId, draft.state);
  if (!isExecutor(call, env, command.claimId)) return notExecutor(call);
  const side = executingSide(call);
  if (isOutdated(call, command.claimId)) return claimLost(call);
  const held = holds(call, command.claimId, env);
  if (side === "agent" && !held && call.status !== "settled") {
    const fenced = refuseFenced(draft.state, call, env);
    if (fenced) return fenced;
  }
  switch (CALL_TABLE[`answer:${side}`][call.status]) {
    case "answer":
      return settle(draft, call, command, env);
    case "answer_ungated":
      return needsDecision(draft.state, call, env)
        ? refuseMove("approval_required", call)
        : settle(draft, call, command, env);
    case "answer_observed":
      return settle(
        draft,
        call,
        command,
        env,
        needsDecision(draft.state, call, env) ? "executed_without_approval" : undefined,
      );
    case "answer_unapproved":
      return settle(draft, call, command, env, "executed_without_approval");
    case "answer_held":
      return held || call.claim?.implicit ? settle(draft, call, command, env) : claimHeld(call);
    case "answered":
      if (isEcho(call, command, side, env)) return REPEATED;
      return isReplaceable(draft, call, env)
        ? replace(draft, call, command, env)
        : alreadySettled(call);
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
  const cut = cutAnswer(command, env);
  const invalid = cut ? undefined : refuseResult(call, command, env);
  if (invalid) return invalid;
  const { answer, outcome, metadata }: Kept = cut?.kept ?? command;
  const reason = unapproved ?? reasonOf(command, cut);
  record(
    draft,
    env,
    {
      type: "call.answered",
      callId: call.id,
      messageId: command.messageId ?? env.newId("message"),
      outcome: reason === undefined ? outcome : "error",
      answer,
      ...(reason !== undefined && { reason }),
      ...(metadata && { metadata }),
    },
    scopeOf(call, env),
  );
  passBarrier(draft, env, call.runId);
  return answeredWith(cut);
}

/** What is recorded of an answer. */
type Kept = Pick<CallAnswerCommand, "answer" | "outcome" | "metadata">;

/** Why an answer is no plain one. */
function reasonOf(
  { declined }: CallAnswerCommand,
  cut: CutAnswer | undefined,
): "result_too_large" | "declined" | undefined {
  if (cut) return "result_too_large";
  return declined ? "declined" : undefined;
}

function answeredWith(cut: CutAnswer | undefined): Ruling {
  return cut ? { resultTooLarge: { limit: cut.limit, value: cut.value } } : APPLIED;
}

/** A client's result that its tool's schema does not take leaves the call as it was. */
function refuseResult(
  call: Call,
  { answer, outcome }: CallAnswerCommand,
  env: Env,
): Ruling | undefined {
  const { result: parameters } = call.tool ?? {};
  if (!parameters || call.executor !== "client" || outcome !== "ok") return undefined;
  const invalid =
    answer.type === "json"
      ? env.validate({ name: call.name, parameters }, answer.value)
      : { message: `The result is ${answer.type}, and its schema takes JSON.` };
  if (!invalid) return undefined;
  return refuse("invalid_result", `${invalid.message} The call still waits for its answer.`, {
    paths: invalid.paths,
  });
}

/** A newer attempt of the step that answered may answer anew, until somebody read what stands. */
function isReplaceable(draft: Draft, call: Call, { step, actor }: Env): boolean {
  const { answer, runId, reason, withdrawn, erased } = call;
  const run = draft.state.runs.get(runId);
  // Steps are a run's own: another run's may have the same name.
  if (!run || !step || actor.attempt?.runId !== runId) return false;
  if (answer?.stepId !== step.stepId) return false;
  // What ran without its approval stays on the record as that.
  if (withdrawn || erased || reason === "executed_without_approval") return false;
  return (answer.stepAttempt ?? 0) < step.stepAttempt && !isConsumed(run, answer);
}

function replace(draft: Draft, call: Call, command: CallAnswerCommand, env: Env): Ruling {
  const cut = cutAnswer(command, env);
  const { answer, outcome, metadata }: Kept = cut?.kept ?? command;
  const reason = reasonOf(command, cut);
  const messageId = call.answer?.messageId ?? env.newId("message");
  record(
    draft,
    env,
    {
      type: "call.answer_replaced",
      callId: call.id,
      messageId,
      outcome: reason === undefined ? outcome : "error",
      answer,
      ...(reason !== undefined && { reason }),
      ...(metadata && { metadata }),
    },
    scopeOf(call, env),
  );
  return answeredWith(cut);
}

/**
 * Whether a newer claim fences the one that is named. Expiry alone does not fence a client: until another claims the
 * call, its last holder may still answer. An agent's call may be given to its next attempt at once.
 */
function isOutdated(call: Call, claimId: string | undefined): boolean {
  if (call.status === "streaming" || call.status === "settled") return false;
  if (!heldBefore(call, claimId)) return false;
  return call.executor !== "client" || !!call.claim || call.pastClaims?.at(-1) !== claimId;
}

/** An agent repeating what its framework was told is no second answer. */
function isEcho(call: Call, command: CallAnswerCommand, side: Side, env: Env): boolean {
  if (side !== "agent") return false;
  // What was not kept cannot be compared; the same length is taken for the same answer.
  if (call.reason === "result_too_large") {
    const cut = cutAnswer(command, env);
    if (cut) return canonical(call.answer?.answer) === canonical(cut.kept.answer);
  }
  if (!call.answer) return call.outcome === command.outcome && call.outcome === "error";
  return (
    call.outcome === command.outcome && canonical(call.answer.answer) === canonical(command.answer)
  );
}

function alreadySettled(call: Call): Ruling {
  if (!call.answer) return refuseMove("call_settled", call);
  const { by, at, answer } = call.answer;
  // Of one that was cut, what stands is no answer, and may be in the way a thousand times.
  const isTold = call.reason !== "result_too_large" && !call.erased && isShort(answer);
  return refuse("already_answered", `Call ${call.id} was answered by ${by}: show that answer.`, {
    by,
    at,
    outcome: call.outcome,
    ...(isTold && { answer }),
  });
}

/** The longest answer that a refusal repeats, in characters of text; a longer one is in the state. */
const MAX_ANSWER = 4096;

/** Looks no further into a value than it has to. */
function isShort(value: unknown): boolean {
  let left = MAX_ANSWER;
  const spend = (it: unknown): boolean => {
    left -= typeof it === "string" ? it.length + 1 : 1;
    if (left < 0) return false;
    if (typeof it !== "object" || it === null) return true;
    if (Array.isArray(it)) return it.every(spend);
    for (const key in it) {
      if (!spend(key) || !spend((it as Record<string, unknown>)[key])) return false;
    }
    return true;
  };
  return spend(value);
}
