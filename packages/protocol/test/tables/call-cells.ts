/**
 * The life of a call, cell by cell, in words of its own: this file imports nothing, so that it can disagree with the
 * source. Rows are what happens, columns the status it meets. A cell maps conditions to what must follow:
 *
 * - `=` applied, and the call is as it was · `append` its arguments grew · `rev 2` it streams again, with more to come
 * - `open`, `gated`, … its new status · `error, truncated` settled so: outcome, reason
 * - `new call` it is as it was, and another streams under an id of the session's · `withdrawn` it left the history
 * - `! code` refused, and nothing was written
 *
 * `client`, `agent` and `provider` say who executes the call. Left out, with their commands, until steps exist: a call
 * superseded by its step's next attempt, an answer replaced by it, and a round taken back after it closed.
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
