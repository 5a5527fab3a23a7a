/**
 * The life of a call, cell by cell, in words of its own: this file imports nothing, so that it can disagree with the
 * source. Rows are what happens, columns the status it meets. A cell maps conditions to what must follow:
 *
 * - `=` applied, and the call is as it was · `append` its arguments grew · `rev 2` it streams again, with more to come
 * - `open`, `gated`, … its new status · `error, truncated` settled so: outcome, reason
 * - `new call` it is as it was, and another streams under an id of the session's · `withdrawn` it left the history
 * - `! code` refused, and nothing was written
 *
 * `client`, `agent` and `provider` say who executes the call.
 */
export type Status = "streaming" | "ended" | "gated" | "open" | "claimed" | "settled";
export type Cell = Readonly<Record<string, string>>;
export type Row = Readonly<Record<Status, Cell>>;

const ALL = (cell: Cell): Row => ({
  streaming: cell,
  ended: cell,
  gated: cell,
  open: cell,
  claimed: cell,
  settled: cell,
});

export const CALL_CELLS: Readonly<Record<string, Row>> = {
  start: {
    streaming: {
      "agent, same": "! sequence_violation",
      "client, other name": "! sequence_violation",
      "agent, other run": "new call",
    },
    ended: {
      "client, same": "rev 2",
      "agent, same": "rev 2",
      "client, other name": "new call",
      "client, other owner": "new call",
      "client, other run": "new call",
    },
    gated: { "agent, same": "new call", "client, same": "new call" },
    open: { "agent, same": "new call", "client, same": "new call" },
    claimed: {
      "agent, same": "new call",
      "client, same": "new call",
      "agent, implicit, same": "rev 2",
      "agent, implicit, other name": "new call",
      "agent, implicit, other owner": "new call",
      "agent, implicit, other run": "new call",
    },
    settled: {
      "agent, same": "new call",
      "client, same": "new call",
      "agent, other run": "new call",
    },
  },
  arguments: {
    streaming: { client: "append", agent: "append", provider: "append" },
    ended: { client: "! sequence_violation", agent: "! sequence_violation" },
    gated: { client: "! sequence_violation", agent: "! sequence_violation" },
    open: { client: "! sequence_violation", agent: "! sequence_violation" },
    claimed: {
      client: "! sequence_violation",
      agent: "! sequence_violation",
      "agent, implicit": "! sequence_violation",
    },
    settled: { client: "! call_settled", agent: "! call_settled" },
  },
  end: {
    streaming: {
      client: "ended",
      agent: "ended",
      provider: "ended",
      "client, gate": "ended",
      "client, invalid": "ended",
      "client, implicit": "ended",
      "agent, invalid": "ended",
      "agent, implicit": "claimed",
      "provider, implicit": "claimed",
      // What waits for a decision is nobody's to execute, so its implicit claim does not begin.
      "agent, implicit, gate": "ended",
      "agent, unknown": "error, unknown_tool",
    },
    ended: { client: "! sequence_violation", agent: "! sequence_violation" },
    gated: { client: "! sequence_violation", agent: "! sequence_violation" },
    open: { client: "! sequence_violation", agent: "! sequence_violation" },
    claimed: { client: "! sequence_violation", "agent, implicit": "! sequence_violation" },
    settled: { client: "! call_settled", agent: "! call_settled" },
  },
  "round closes": {
    streaming: { client: "error, truncated", agent: "error, truncated" },
    ended: {
      client: "open",
      agent: "open",
      provider: "open",
      "client, gate": "gated",
      "agent, gate": "gated",
      "agent, asked": "gated",
      "provider, asked": "gated",
      "client, invalid": "error, invalid_arguments",
      "client, invalid, gate": "error, invalid_arguments",
      "client, invalid, offer": "open",
      "client, invalid, offer, gate": "gated",
      // Who decides and who executes would not read the same.
      "client, ambiguous, gate": "error, invalid_arguments",
      "agent, ambiguous, gate": "error, invalid_arguments",
      "agent, ambiguous, asked": "error, invalid_arguments",
      "agent, ambiguous, offer, gate": "gated",
      "agent, ambiguous": "open",
      "client, ambiguous": "open",
      "provider, ambiguous, asked": "gated",
      // No executor can do anything with text that is no JSON, and `unanswered` would not tell the model why.
      "agent, invalid": "error, invalid_arguments",
      "agent, invalid, offer": "open",
      "provider, invalid": "open",
    },
    gated: { client: "=", agent: "=" },
    open: { client: "=", agent: "=" },
    claimed: { client: "=", agent: "=", "agent, implicit": "=" },
    settled: { client: "=", agent: "=" },
  },
  // Only an open round is taken back, so no call of it is gated or open, and no client's is claimed.
  withdraw: {
    streaming: { client: "superseded, round_superseded", agent: "superseded, round_superseded" },
    ended: {
      client: "superseded, round_superseded",
      "agent, gate": "superseded, round_superseded",
    },
    gated: {},
    open: {},
    claimed: {
      agent: "superseded, round_superseded",
      "agent, implicit": "superseded, round_superseded",
    },
    settled: {
      "agent, answered, in round": "withdrawn",
      "client, answered, in round": "! step_settled",
      "agent, cancelled, in round": "! step_settled",
      "agent, answered, in round, read by another step": "! step_settled",
      // What the server closed for the attempt must not keep the round from being tried again.
      "agent, unknown": "withdrawn",
      "agent, claim lost": "withdrawn",
    },
  },
  // The call was proposed in the step.
  "step starts again": {
    streaming: {
      client: "superseded, step_superseded",
      agent: "superseded, step_superseded",
      "agent, no round": "superseded, step_superseded",
    },
    ended: {
      client: "superseded, step_superseded",
      agent: "superseded, step_superseded",
      provider: "superseded, step_superseded",
      "agent, gate": "superseded, step_superseded",
      "agent, asked": "superseded, step_superseded",
      "agent, held once": "superseded, step_superseded",
    },
    gated: {
      client: "superseded, step_superseded",
      agent: "superseded, step_superseded",
    },
    open: {
      client: "superseded, step_superseded",
      agent: "superseded, step_superseded",
      "client, decided": "! step_settled",
      "agent, decided": "! step_settled",
      // A standing approval is nobody's decision on this call, and will be there for the next.
      "agent, granted": "superseded, step_superseded",
      "client, granted": "superseded, step_superseded",
      "client, released": "superseded, step_superseded",
      "client, safe, expired once": "superseded, step_superseded",
      // Whoever held it may have run it.
      "client, manual": "! step_settled",
    },
    claimed: {
      client: "! step_settled",
      "client, safe": "! step_settled",
      agent: "superseded, step_superseded",
      provider: "superseded, step_superseded",
      "agent, round closed": "superseded, step_superseded",
      "agent, implicit": "superseded, step_superseded",
      "agent, decided": "! step_settled",
    },
    settled: {
      "agent, answered": "withdrawn",
      "agent, answered, in round": "withdrawn",
      "agent, answered, read by itself": "withdrawn",
      "agent, answered, read": "! step_settled",
      "agent, answered, read by another step": "! step_settled",
      "agent, answered by no step, read": "! step_settled",
      "agent, answered by no step": "withdrawn",
      "agent, answered, decided": "! step_settled",
      "client, answered": "! step_settled",
      "client, answered, in round": "! step_settled",
      "agent, cancelled": "! step_settled",
      "client, cancelled": "! step_settled",
      "agent, denied": "! step_settled",
      "agent, approval expired": "withdrawn",
      "client, deadline passed": "withdrawn",
      "client, deadline passed, claimed before": "! step_settled",
      "agent, truncated": "withdrawn",
      "client, truncated": "withdrawn",
      "client, invalid": "withdrawn",
      "agent, unknown": "withdrawn",
      "agent, claim lost": "withdrawn",
    },
  },
  "claim by the client": {
    streaming: { client: "! not_ready" },
    ended: { client: "! not_ready" },
    gated: { client: "! approval_required" },
    open: {
      client: "claimed",
      "client, decided": "claimed",
      "client, safe, expired once": "claimed",
      "client, manual": "! retry_unsafe",
      "client, manual, force": "claimed",
    },
    // The holder's own command again is answered from the verdicts; a second device of its person is another.
    claimed: { "client, by other": "! claim_held", "client, by holder": "! claim_held" },
    settled: { client: "! call_settled" },
  },
  "claim by the agent": {
    streaming: { agent: "! not_ready" },
    ended: { agent: "claimed", provider: "claimed", "agent, gate": "! approval_required" },
    gated: { agent: "! approval_required" },
    open: {
      agent: "claimed",
      "agent, decided": "claimed",
      "agent, decided, given": "claimed",
      "agent, older attempt": "! attempt_fenced",
    },
    claimed: {
      "agent, by holder": "=",
      "agent, decided, given, by holder": "=",
      "agent, by other": "! claim_held",
      "agent, implicit, by holder": "! claim_held",
    },
    settled: { agent: "! call_settled" },
  },
  "claim by the wrong side": {
    ...ALL({
      client: "! not_executor",
      agent: "! not_executor",
      "client, other run": "! not_executor",
    }),
    settled: { client: "! call_settled", agent: "! call_settled" },
  },
  renew: {
    streaming: { client: "! not_claimed", "agent, held once": "! not_claimed" },
    ended: { client: "! not_claimed", "agent, held once": "! claim_lost" },
    gated: { client: "! not_claimed", agent: "! not_claimed" },
    open: {
      client: "! not_claimed",
      "client, held once": "! claim_lost",
      "client, manual, held once": "! claim_lost",
      "agent, held once": "! claim_lost",
    },
    claimed: {
      "client, by holder": "=",
      "client, by other": "! claim_held",
      "client, held once": "! claim_lost",
      "agent, by holder": "=",
      "agent, by holder, older attempt": "=",
      "agent, implicit, by holder": "! claim_held",
    },
    settled: { "client, by holder": "! call_settled", agent: "! call_settled" },
  },
  release: {
    streaming: { client: "! not_claimed", "agent, held once": "! not_claimed" },
    ended: { client: "! not_claimed", "agent, held once": "! claim_lost" },
    gated: { client: "! not_claimed", agent: "! not_claimed" },
    open: {
      client: "! not_claimed",
      "client, held once": "! claim_lost",
      "agent, held once": "! claim_lost",
    },
    claimed: {
      "client, by holder": "open",
      "client, by other": "! claim_held",
      "client, held once": "! claim_lost",
      "agent, by holder": "ended",
      "agent, round closed, by holder": "open",
      "agent, round closed, by holder, older attempt": "open",
      "agent, implicit, by holder": "! claim_held",
    },
    settled: { "client, by holder": "! call_settled", agent: "! call_settled" },
  },
  progress: {
    streaming: { client: "! not_ready" },
    ended: { agent: "progress" },
    gated: { client: "! approval_required" },
    open: {
      client: "progress",
      "client, wrong side": "! not_executor",
      "agent, decided, given": "progress",
      "agent, decided, given, older attempt": "! attempt_fenced",
    },
    claimed: {
      "client, by holder": "progress",
      "client, by other": "! claim_held",
      "client, held once": "! claim_lost",
      "agent, by holder": "progress",
      "agent, by holder, older attempt": "progress",
      "agent, implicit, by holder": "progress",
    },
    settled: { client: "! call_settled" },
  },
};
