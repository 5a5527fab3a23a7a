import type { Command, Env, SessionState, Verdict } from "@holdfast/protocol";

/**
 * The verdict of a claim with what the call is to be executed with, for a claimer who does not see its tool's data
 * otherwise (SPEC 7.6). Added after the receipt is kept, so that no copy of the arguments is; a repeat has them as long
 * as its claim holds the call.
 */
export function withArguments(
  state: SessionState,
  command: Command,
  { actor }: Env,
  verdict: Verdict,
): Verdict {
  if (command.type !== "call.claim" || verdict.claimId === undefined) return verdict;
  const call = state.calls.get(verdict.callId ?? command.callId);
  if (call?.claim?.id !== verdict.claimId) return verdict;
  if (actor.may?.("data", call.name) !== false) return verdict;
  return { ...verdict, arguments: call.arguments };
}
