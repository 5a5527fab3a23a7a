import { CALL_TABLE } from "../call-table.ts";
import type { Call, CallAnswer } from "../call.ts";
import type { Run } from "../run.ts";
import { refuse, type Ruling } from "./ruling.ts";

/** Whether taking these calls back would void what somebody else did or read (SPEC 5.7): the refusal, or undefined. */
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
  switch (CALL_TABLE.withdraw[call.status]) {
    case "supersede_undecided":
      return call.approval?.decision !== undefined;
    case "supersede_own_claim":
      return call.executor === "client";
    case "supersede_own_answer":
      return isSomebodys(call) || (call.answer !== undefined && isConsumed(run, call.answer));
    default:
      return false;
  }
}

/** A person or another machine ended it; an attempt's own answer, and what the server closed for it, are the attempt's. */
function isSomebodys({ answer, approval, settledBy, outcome }: Call): boolean {
  if (answer) return answer.attempt === undefined;
  return (
    approval?.decision !== undefined ||
    (outcome !== "error" && settledBy?.startsWith("user:") === true)
  );
}

/** Whether a later round outside its step read the answer, or a barrier passed it: it cannot be replaced any more. */
export function isConsumed(run: Run, { offset, stepId }: CallAnswer): boolean {
  return (run.reads ?? []).some(
    (read) => read.offset > offset && (read.stepId === undefined || read.stepId !== stepId),
  );
}
