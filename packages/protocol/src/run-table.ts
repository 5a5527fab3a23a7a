import type { ErrorCode } from "./errors.ts";
import type { RunStatus } from "./run.ts";

/** A run's status with the two kinds of queued told apart: `held` waits behind other runs. */
export type RunPhase = "held" | Exclude<RunStatus, "suspended" | "ended"> | "suspended" | "ended";

export type RunMove =
  | ErrorCode
  | "keep"
  /** The right wake id starts an attempt. */
  | "start"
  /** The same worker and wake id get the same attempt. */
  | "same_attempt"
  /** Fenced by attempt and sequence; see `fence`. */
  | "apply"
  | "next"
  | "fail"
  | "lose"
  | "release"
  | "queue"
  | "cancel"
  | "abandon"
  | "steer"
  | "wait"
  | "free";

export type RunTrigger =
  | "start"
  | "append"
  | "heartbeat"
  | "finish"
  | "fail"
  | "release"
  | "lease_expires"
  | "barrier"
  | "cancel"
  | "message:queue"
  | "message:refuse"
  | "message:replace"
  | "message:concurrent"
  | "message:steer"
  | "pending:queue"
  | "pending:refuse"
  | "pending:abandon";

type Row = Readonly<Record<RunPhase, RunMove>>;

function row(
  held: RunMove,
  queued: RunMove,
  active: RunMove,
  suspended: RunMove,
  ended: RunMove,
): Row {
  return { held, queued, active, suspended, ended };
}

/**
 * The life of a run, total (SPEC 5.1). Columns: held (queued behind others), queued, active, suspended, ended.
 * `message:*` rows say what a new message below the run does to it, `pending:*` those of a suspended run.
 */
export const RUN_TABLE: Readonly<Record<RunTrigger, Row>> = {
  start: row("run_held", "start", "same_attempt", "run_held", "run_ended"),
  append: row("attempt_fenced", "attempt_fenced", "apply", "attempt_fenced", "run_ended"),
  heartbeat: row("attempt_fenced", "attempt_fenced", "apply", "attempt_fenced", "run_ended"),
  finish: row("attempt_fenced", "attempt_fenced", "next", "attempt_fenced", "run_ended"),
  fail: row("attempt_fenced", "attempt_fenced", "fail", "attempt_fenced", "run_ended"),
  release: row("attempt_fenced", "attempt_fenced", "release", "attempt_fenced", "run_ended"),
  lease_expires: row("keep", "keep", "lose", "keep", "keep"),
  barrier: row("keep", "keep", "keep", "queue", "keep"),
  cancel: row("cancel", "cancel", "cancel", "cancel", "run_ended"),
  "message:queue": row("wait", "wait", "wait", "keep", "free"),
  "message:refuse": row("run_active", "run_active", "run_active", "keep", "free"),
  "message:replace": row("cancel", "cancel", "cancel", "keep", "free"),
  "message:concurrent": row("free", "free", "free", "keep", "free"),
  "message:steer": row("wait", "wait", "steer", "keep", "free"),
  "pending:queue": row("keep", "keep", "keep", "wait", "free"),
  "pending:refuse": row("keep", "keep", "keep", "calls_pending", "free"),
  "pending:abandon": row("keep", "keep", "keep", "abandon", "free"),
};
