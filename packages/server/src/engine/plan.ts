import {
  copyState,
  createDraft,
  decide,
  parseOffset,
  type Command,
  type Env,
  type Rejection,
  type SessionState,
  type Verdict,
} from "@holdfast/protocol";

/** What somebody wants done in a session, made of its state at the moment it is done. */
export type Plan = { readonly refused: Rejection } | { readonly steps: readonly PlannedCommand[] };

export interface PlannedCommand {
  readonly command: Command;
  /** The plan stands without it: it is known to be refused, and sent for the record. */
  readonly late?: boolean;
}

/** What became of a plan: all of it, or nothing and why. */
export type Carried =
  | { readonly refused: Rejection }
  | { readonly verdicts: readonly Verdict[]; readonly refused?: undefined };

/**
 * The first command of a plan that would be refused, were it carried out on the state as it is, with its verdict. The
 * state stays as it is; costs a look at its rows.
 */
export function findRefused(
  state: SessionState,
  steps: readonly PlannedCommand[],
  env: Env,
): { readonly command: Command; readonly verdict: Verdict; readonly error: Rejection } | undefined {
  const at = parseOffset(state.head);
  const trial = createDraft(copyState(state), at?.epoch ?? "", at?.seq ?? 0);
  for (const { command, late } of steps) {
    const verdict = decide(trial, command, env);
    if (verdict.error && !late) return { command, verdict, error: verdict.error };
  }
  return undefined;
}
