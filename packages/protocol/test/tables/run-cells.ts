/**
 * The life of a run, cell by cell, in words of its own: this file imports nothing, so that it can disagree with the
 * source. Columns: `held` is queued behind other runs, `queued` waits for a worker. A cell maps conditions to what must
 * follow:
 *
 * - `=` applied, and the run is as it was · `applied` fenced and taken, the run goes on
 * - `held`, `queued`, … its new phase · `queued again` under a new wake id · `ended complete` so · `agent_lost` the reason
 * - `held up to then`, `held for a day` as it was, with a time up to which nobody need hear of it
 * - `news` as it was, with something the agent has not seen
 * - `new run waits`, `new run starts` what becomes of a message's own run, this one going on as it was
 * - `steered` the message is the run's to read, and makes no run · `read`, `not read` by the round
 * - `! code` refused, and nothing was written
 */
export type Phase = "held" | "queued" | "active" | "suspended" | "ended";
export type RunRow = Readonly<Record<Phase, Readonly<Record<string, string>>>>;

export const RUN_CELLS: Readonly<Record<string, RunRow>> = {
  start: {
    held: { "": "! run_held" },
    queued: { "right wake": "active", "wrong wake": "! run_held", "right wake, lost": "active" },
    active: {
      "same worker, same wake": "=",
      "other worker, same wake": "! run_held",
      "same worker, wrong wake": "! run_held",
    },
    suspended: { "": "! run_held", "same worker, same wake": "! run_held" },
    ended: { "": "! run_ended" },
  },
  append: {
    held: { "": "! attempt_fenced" },
    queued: { "": "! attempt_fenced", lost: "! attempt_fenced", "lost, repeat": "=" },
    active: {
      "": "applied",
      repeat: "=",
      hole: "! sequence_gap",
      "older attempt": "! attempt_fenced",
      "older attempt, repeat": "=",
      "other producer": "applied",
      "other run": "! forbidden",
      person: "! forbidden",
    },
    suspended: { "": "! attempt_fenced", repeat: "=" },
    ended: { "": "! run_ended", repeat: "=" },
  },
  heartbeat: {
    held: { "": "! attempt_fenced" },
    queued: { "": "! attempt_fenced", lost: "! attempt_fenced" },
    active: { "": "=", "older attempt": "! attempt_fenced", person: "! forbidden" },
    suspended: { "": "! attempt_fenced" },
    ended: { "": "! run_ended" },
  },
  hold: {
    held: { "": "! attempt_fenced" },
    queued: { "": "! attempt_fenced", lost: "! attempt_fenced" },
    active: {
      "": "held up to then",
      "for ever": "held for a day",
      "up to now": "=",
      "held for longer": "=",
      "held for less": "held up to then",
      "older attempt": "! attempt_fenced",
      person: "! forbidden",
    },
    suspended: { "": "! attempt_fenced" },
    ended: { "": "! run_ended" },
  },
  finish: {
    held: { "": "! attempt_fenced" },
    queued: { "": "! attempt_fenced", "lost, repeat": "=" },
    active: {
      "": "ended complete",
      "client call": "suspended",
      "gated call": "suspended",
      "claimed call": "suspended",
      "answered by a client": "queued again",
      "answered by the agent": "ended complete",
      "answered by a client, next round": "ended complete",
      approved: "queued again",
      "approved, next round": "queued again",
      denied: "queued again",
      cancelled: "queued again",
      steered: "queued again",
      "steered, client call": "suspended",
      "steered, next round": "ended complete",
      // A call was still to run when the round began, so that it did not read the message.
      "steered, approved, next round, executed": "queued again",
      "steered, next round, withdrawn": "queued again",
      "steered before, lost": "ended complete",
      "answered by a client, gated call": "suspended",
      repeat: "=",
      hole: "! sequence_gap",
      "older attempt": "! attempt_fenced",
      lost: "ended complete",
    },
    suspended: { "": "! attempt_fenced", repeat: "=" },
    ended: { "": "! run_ended", repeat: "=" },
  },
  release: {
    held: { "": "! attempt_fenced" },
    queued: { "": "! attempt_fenced" },
    active: {
      "": "queued again",
      "client call": "suspended",
      "claimed call": "suspended",
      "lost three times": "queued again",
      steered: "queued again",
      "released often": "ended error, released_too_often",
      "released often, client call": "ended error, released_too_often",
      "released often, next round": "queued again",
      "released often, finished once": "queued again",
      repeat: "=",
      hole: "! sequence_gap",
      "older attempt": "! attempt_fenced",
    },
    suspended: { "": "! attempt_fenced" },
    ended: { "": "! run_ended", repeat: "=" },
  },
  fail: {
    held: { "": "! attempt_fenced" },
    queued: { "": "! attempt_fenced" },
    active: {
      "": "ended error, broken",
      "client call": "ended error, broken",
      repeat: "=",
      hole: "! sequence_gap",
      "older attempt": "! attempt_fenced",
    },
    suspended: { "": "! attempt_fenced" },
    ended: { "": "! run_ended", repeat: "=" },
  },
  "one round too many": {
    held: { "": "! attempt_fenced" },
    queued: { "": "! attempt_fenced" },
    active: {
      "": "ended error, budget_exceeded",
      "client call": "ended error, budget_exceeded",
      "in a step": "ended error, budget_exceeded",
    },
    suspended: { "": "! attempt_fenced" },
    ended: { "": "! run_ended" },
  },
  "one repeat too many": {
    held: { "": "! attempt_fenced" },
    queued: { "": "! attempt_fenced" },
    active: {
      "": "ended error, budget_exceeded",
      // The same values, written in another way.
      "other spacing": "ended error, budget_exceeded",
      "other arguments": "applied",
      "other tool": "applied",
      "one taken back": "applied",
    },
    suspended: { "": "! attempt_fenced" },
    ended: { "": "! run_ended" },
  },
  "step.start": {
    held: { "": "! attempt_fenced" },
    queued: { "": "! attempt_fenced", lost: "! attempt_fenced", "lost, repeat": "=" },
    active: {
      "": "applied",
      hole: "! sequence_gap",
      "older attempt": "! attempt_fenced",
      "older attempt, repeat": "=",
    },
    suspended: { "": "! attempt_fenced" },
    ended: { "": "! run_ended" },
  },
  "round opens": {
    held: {},
    queued: {},
    active: {
      steered: "read",
      "steered, in a step": "read",
      "steered, client call": "read",
      "steered, approved": "not read",
      "steered before, lost": "read",
      "steered before, in a step": "read",
    },
    suspended: {},
    ended: {},
  },
  "lease expires": {
    held: { "": "=" },
    queued: { "": "=", lost: "=" },
    active: {
      "": "queued again",
      "client call": "suspended",
      "gated call": "suspended",
      "claimed call": "suspended",
      "lost three times": "ended error, agent_lost",
      "lost three times, client call": "ended error, agent_lost",
      "lost three times, finished once": "queued again",
      "older attempt": "=",
      steered: "queued again",
      "steered, lost three times": "ended error, agent_lost",
    },
    suspended: { "": "=" },
    ended: { "": "=" },
  },
  "its worker was gone at the grant": {
    held: { "": "=" },
    queued: { "": "=" },
    active: {
      "": "queued again",
      "lost three times": "queued again",
      "released often": "ended error, released_too_often",
      "older attempt": "=",
    },
    suspended: { "": "=" },
    ended: { "": "=" },
  },
  "last call answered": {
    held: {},
    // Whoever owes a call to a queued run owes it to the agent's side.
    queued: {},
    active: { "client call": "news" },
    suspended: { "client call": "queued again", "claimed call": "queued again" },
    ended: {},
  },
  "last call approved": {
    held: {},
    queued: {},
    active: { "gated call": "news" },
    suspended: { "gated call": "queued again" },
    ended: {},
  },
  "last call denied": {
    held: {},
    queued: {},
    active: { "gated call": "news" },
    suspended: { "gated call": "queued again" },
    ended: {},
  },
  "last call cancelled": {
    held: {},
    queued: {},
    active: { "client call": "news" },
    suspended: { "client call": "queued again" },
    ended: {},
  },
  "last call expires": {
    held: {},
    queued: {},
    active: { "client call": "news" },
    suspended: { "client call": "queued again", "gated call": "queued again" },
    ended: {},
  },
  "last claim expires": {
    held: {},
    queued: {},
    active: { "claimed call": "news" },
    suspended: { "claimed call": "queued again", "claimed call, safe": "queued again" },
    ended: {},
  },
  "one of two calls answered": {
    held: {},
    queued: {},
    active: { "client call, gated call": "news" },
    suspended: { "client call, gated call": "suspended" },
    ended: {},
  },
  "a run before it ends": {
    held: { "": "queued again", "behind two": "held" },
    queued: { "": "=" },
    active: { "": "=" },
    suspended: { "": "=" },
    ended: { "": "=" },
  },
  cancel: {
    held: { "": "ended cancelled" },
    queued: { "": "ended cancelled" },
    active: {
      "": "ended cancelled",
      "client call": "ended cancelled",
      steered: "ended cancelled",
    },
    suspended: { "": "ended cancelled" },
    ended: { "": "! run_ended" },
  },
  "message, queue": {
    held: { "": "new run waits" },
    queued: { "": "new run waits" },
    active: { "": "new run waits" },
    suspended: { "pending queue": "new run waits" },
    ended: { "": "new run starts" },
  },
  "message, refuse": {
    held: { "": "! run_active" },
    queued: { "": "! run_active" },
    active: { "": "! run_active" },
    suspended: { "pending refuse": "! calls_pending" },
    ended: { "": "new run starts" },
  },
  "message, replace": {
    held: { "": "ended cancelled, replaced" },
    queued: { "": "ended cancelled, replaced" },
    active: { "": "ended cancelled, replaced" },
    suspended: { "": "ended complete, abandoned", "pending refuse": "! calls_pending" },
    ended: { "": "new run starts" },
  },
  "message, concurrent": {
    held: { "": "new run starts" },
    queued: { "": "new run starts" },
    active: { "": "new run starts" },
    suspended: { "": "ended complete, abandoned", "pending queue": "new run waits" },
    ended: { "": "new run starts" },
  },
  "message, steer": {
    held: { "": "new run waits" },
    queued: { "": "new run waits" },
    active: {
      "": "steered",
      steered: "steered",
      // It would be read before a message that was sent before it.
      "another behind it": "new run waits",
    },
    suspended: {
      "": "ended complete, abandoned",
      "pending queue": "new run waits",
      "pending refuse": "! calls_pending",
    },
    ended: { "": "new run starts" },
  },
};
