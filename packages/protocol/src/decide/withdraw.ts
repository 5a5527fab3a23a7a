import { CALL_TABLE } from "../call-table.ts";
import { wasClaimed, type Call, type CallAnswer } from "../call.ts";
import type { Run } from "../run.ts";
import { refuse, type Ruling } from "./ruling.ts";

/** Whether taking these calls back would void what somebody else did or read (SPEC 5.7.4): the refusal, or undefined. */
export function refuseWithdraw(run: Run, calls: readonly Call[]): Ruling | undefined {
  const used = calls.find((call) => isUsed(run, call));
  return used && refuseSettled(used);
}

export function refuseSettled({ id }: Call): Ruling {
  return refuse(
    "step_settled",
    `Call ${id} was decided, claimed, answered or read by somebody else: what it belongs to stays as it is.`,
    { callId: id },
  );
}

function isUsed(run: Run, call: Call): boolean {
  if (call.approval?.decision && !call.approval.decision.automatic) return true;
  switch (CALL_TABLE.withdraw[call.status]) {
    case "supersede_undecided":
      return call.manual === true;
    case "supersede_own_claim":
      return call.executor === "client";
    case "supersede_own_answer":
      return isSomebodys(call) || (call.answer !== undefined && isConsumed(run, call.answer));
    default:
      return false;
  }
}

/**
 * Whether a person or a client ended the call, or may have run it. An attempt's own answer is the attempt's, and so is
 * what the server closed for it: a call that broke off must not keep its step from being tried again.
 */
function isSomebodys(call: Call): boolean {
  if (call.answer) return call.answer.attempt === undefined;
  if (call.executor === "client" && wasClaimed(call)) return true;
  return call.settledBy?.startsWith("user:") === true;
}

/** Whether a later round outside its step read the answer, or a barrier passed it: it cannot be replaced any more. */
export function isConsumed(run: Run, { offset, stepId }: CallAnswer): boolean {
  return (run.reads ?? []).some(
    (read) => read.offset > offset && (read.stepId === undefined || read.stepId !== stepId),
  );
}
