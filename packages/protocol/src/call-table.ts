import type { CallStatus } from "./call.ts";
import type { ErrorCode } from "./errors.ts";

/** What a cell of the table says: a refusal by its code, or a move that `decide` carries out. */
export type CallMove =
  | ErrorCode
  /** No change. */
  | "keep"
  | "append"
  | "end"
  /** -> streaming with rev+1 where run, round, name and owner agree; else a new scoped call. */
  | "reopen"
  /** As reopen, for an implicit claim only. */
  | "reopen_implicit"
  /** A new call under an id of the session's own. */
  | "scope"
  | "truncate"
  /** -> invalid_arguments, gated or open. */
  | "close"
  | "supersede"
  /** Superseded unless somebody else decided. */
  | "supersede_undecided"
  /** Superseded where the agent's side claimed it. */
  | "supersede_own_claim"
  /** Leaves the history where it is the agent's own answer and nobody consumed it. */
  | "supersede_own_answer"
  | "claim"
  /** As claim, refused `approval_required` where a gate is to come. */
  | "claim_ungated"
  /** The holder's again changes nothing; anybody else is `claim_held`. */
  | "held"
  | "renew"
  | "not_holder"
  | "release"
  | "answer"
  /** As answer, refused `approval_required` where a gate is to come. */
  | "answer_ungated"
  /** As answer; with a gate to come it settles as `executed_without_approval`. */
  | "answer_observed"
  | "answer_unapproved"
  /** Only from the claim that holds it; an implicit one needs none. */
  | "answer_held"
  /** The same outcome again changes nothing; else `already_answered` or `call_settled`. */
  | "answered"
  | "decide"
  /** `stale_decision` if it ever asked, else `call_settled`. */
  | "decided"
  | "expire"
  | "claim_expire"
  /** The agent's own unanswered calls are closed; what is newly open stays. */
  | "finish_open"
  | "finish_claimed"
  | "lose_claimed"
  | "settle";

/** Everything that can happen to a call, by the side it comes from where that matters (SPEC 4.2). */
export type CallTrigger =
  | "start"
  | "arguments"
  | "end"
  | "round_close"
  | "withdraw"
  | "claim:client"
  | "claim:agent"
  | "renew"
  | "release"
  | "progress"
  | "answer:client"
  | "answer:agent"
  | "decide"
  | "approval_expires"
  | "deadline"
  | "claim_expires"
  | "attempt_finishes"
  | "attempt_lost"
  | "cancel"
  | "run_ends";

type Row = Readonly<Record<CallStatus, CallMove>>;

function row(
  streaming: CallMove,
  ended: CallMove,
  gated: CallMove,
  open: CallMove,
  claimed: CallMove,
  settled: CallMove,
): Row {
  return { streaming, ended, gated, open, claimed, settled };
}

/** The life of a call, total: every trigger in every status. Columns: streaming, ended, gated, open, claimed, settled. */
export const CALL_TABLE: Readonly<Record<CallTrigger, Row>> = {
  start: row("sequence_violation", "reopen", "scope", "scope", "reopen_implicit", "scope"),
  arguments: row(
    "append",
    "sequence_violation",
    "sequence_violation",
    "sequence_violation",
    "sequence_violation",
    "call_settled",
  ),
  end: row(
    "end",
    "sequence_violation",
    "sequence_violation",
    "sequence_violation",
    "sequence_violation",
    "call_settled",
  ),
  round_close: row("truncate", "close", "keep", "keep", "keep", "keep"),
  withdraw: row(
    "supersede",
    "supersede",
    "supersede",
    "supersede_undecided",
    "supersede_own_claim",
    "supersede_own_answer",
  ),
  "claim:client": row(
    "not_ready",
    "not_ready",
    "approval_required",
    "claim",
    "held",
    "call_settled",
  ),
  "claim:agent": row(
    "not_ready",
    "claim_ungated",
    "approval_required",
    "claim",
    "held",
    "call_settled",
  ),
  renew: row("not_claimed", "not_holder", "not_holder", "not_holder", "renew", "call_settled"),
  release: row("not_claimed", "not_holder", "not_holder", "not_holder", "release", "call_settled"),
  progress: row("not_ready", "keep", "approval_required", "keep", "renew", "call_settled"),
  "answer:client": row(
    "not_ready",
    "answer_ungated",
    "approval_required",
    "answer",
    "answer_held",
    "answered",
  ),
  "answer:agent": row(
    "not_ready",
    "answer_observed",
    "answer_unapproved",
    "answer",
    "answer_held",
    "answered",
  ),
  decide: row("not_ready", "not_ready", "decide", "stale_decision", "stale_decision", "decided"),
  approval_expires: row("keep", "keep", "expire", "keep", "keep", "keep"),
  deadline: row("keep", "keep", "keep", "expire", "expire", "keep"),
  claim_expires: row("keep", "keep", "keep", "keep", "claim_expire", "keep"),
  attempt_finishes: row("truncate", "close", "keep", "finish_open", "finish_claimed", "keep"),
  attempt_lost: row("truncate", "close", "keep", "keep", "lose_claimed", "keep"),
  cancel: row("settle", "settle", "settle", "settle", "settle", "call_settled"),
  run_ends: row("settle", "settle", "settle", "settle", "settle", "keep"),
};
