/**
 * The life of a step, cell by cell; imports nothing. Columns: `none` was never started, `open` at its first attempt,
 * `ended` after it. A cell maps conditions to what must follow:
 *
 * - `open 2`, `ended 1` its state and attempt · `applied` the batch was taken, the step is as it was · `=` nothing changed
 * - `! code` refused, and nothing was written
 */
export type StepStatus = "none" | "open" | "ended";

export const STEP_CELLS: Readonly<
  Record<string, Readonly<Record<StepStatus, Readonly<Record<string, string>>>>>
> = {
  "step.start": {
    none: {
      "": "open 1",
      "beside another": "open 1",
      hole: "! sequence_gap",
      "older run attempt": "! attempt_fenced",
      person: "! forbidden",
      "run ended": "! run_ended",
    },
    open: {
      "": "open 2",
      "in the next run attempt": "open 2",
      "other producer": "open 2",
      repeat: "=",
      "answer read": "! step_settled",
      "answer read by itself": "open 2",
      "answer behind the barrier": "! step_settled",
    },
    ended: {
      "": "open 2",
      "started twice": "open 3",
      "in the next run attempt": "open 2",
      "run suspended": "! attempt_fenced",
      "run ended": "! run_ended",
      repeat: "=",
      "answer read": "! step_settled",
    },
  },
  "step.end": {
    none: { "": "! attempt_fenced" },
    open: {
      "": "ended 1",
      "started twice": "ended 2",
      "started twice, older step attempt": "! attempt_fenced",
      "older run attempt": "! attempt_fenced",
    },
    ended: { "": "! attempt_fenced", repeat: "=" },
  },
  append: {
    none: { "": "! attempt_fenced" },
    open: {
      "": "applied",
      repeat: "=",
      hole: "! sequence_gap",
      "other producer": "applied",
      "beside another": "applied",
      "started twice": "applied",
      "started twice, older step attempt": "! attempt_fenced",
      "started twice, older step attempt, repeat": "=",
    },
    ended: { "": "! attempt_fenced", repeat: "=" },
  },
  "another starts": { none: {}, open: { "": "open 1" }, ended: { "": "ended 1" } },
  "attempt finishes": { none: {}, open: { "": "ended 1" }, ended: { "": "ended 1" } },
  // The next attempt starts it again: what the lost one left may be half a step.
  "attempt is lost": { none: {}, open: { "": "ended 1" }, ended: { "": "ended 1" } },
  "run is cancelled": { none: {}, open: { "": "ended 1" }, ended: { "": "ended 1" } },
  "run is replaced": { none: {}, open: { "": "ended 1" }, ended: { "": "ended 1" } },
  "run fails": { none: {}, open: { "": "ended 1" }, ended: { "": "ended 1" } },
};

/**
 * What becomes of an answer that step `s` gave to a call proposed before it, when the step was started again and its
 * newer attempt answers. `stands` says that the first answer is still the one.
 */
export const ANEW_CELLS: Readonly<Record<string, string>> = {
  "nothing more": "stands",
  "with the same": "stands",
  "with another": "replaced",
  "with error": "replaced",
  declined: "replaced",
  "with another, first declined": "replaced",
  "with another, third attempt": "replaced",
  "with another, read by itself": "replaced",
  "with another, in the next run attempt": "replaced",
  "with another, by the same attempt": "! already_answered",
  "with another, by another step": "! already_answered",
  "with another, by no step": "! already_answered",
  "with another, read": "! already_answered",
  "with another, read by another step": "! already_answered",
  "with another, first without approval": "! already_answered",
  "with another, proposed in the step": "! already_answered",
};
