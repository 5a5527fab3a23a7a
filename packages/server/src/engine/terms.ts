import type { Command, Env, SessionState, Verdict } from "@holdfast/protocol";
import type { DueIndex } from "./due-index.ts";
import { ERASURE_RETRY_MS, erasureId } from "./erasure.ts";

/** What a decided command says of time, which is kept in index rows and leases, beside the log. */
export function noteTerms(
  due: DueIndex,
  state: SessionState,
  command: Command,
  verdict: Verdict,
  { now }: Env,
): Verdict {
  if (command.type === "run.heartbeat" && command.until !== undefined) {
    const run = state.runs.get(command.runId);
    if (verdict.heldUntil === undefined || !run) return verdict;
    return { ...verdict, heldUntil: due.holdAttempt(state, run, verdict.heldUntil, now) };
  }
  if (verdict.status !== "applied") return verdict;
  if (command.type === "content.erase" && !verdict.repeated) {
    due.add("erasure", erasureId(command), now + ERASURE_RETRY_MS);
  }
  const byHolder =
    command.type === "call.renew" ||
    (command.type === "call.progress" && command.claimId !== undefined);
  if (byHolder) due.renewClaim(state, command.callId, now);
  return verdict;
}
