import type { Call, CallAnswer, CallOutcome, SettleReason } from "../call.ts";
import type { Entry } from "../entry.ts";
import type { EventOf } from "../events.ts";
import { omit } from "../omit.ts";
import type { SessionState } from "../state.ts";
import { dropParts, putCall, putRun, type Changes } from "./changes.ts";
import { moment, stepOf, withMetadata } from "./content.ts";

export function reduceCall(state: SessionState, entry: Entry, changes: Changes): void {
  const { event } = entry;
  if (!("callId" in event)) return;
  const call = state.calls.get(event.callId);
  if (!call) return;
  const put = (next: Call) => putCall(state, next, changes);
  switch (event.type) {
    case "call.arguments_replaced":
      return put({ ...call, arguments: event.arguments, upTo: entry.offset });
    case "call.annotated":
      return put(withMetadata(call, event.metadata));
    case "call.replayed":
      return dropParts(
        state,
        call.runId,
        ({ kind, id }) => kind === "call" && id === call.id,
        changes,
      );
    case "call.invalid":
      return put({ ...call, invalid: event.error });
    case "call.approval_requested":
      return put({
        ...call,
        approval: {
          id: event.approvalId,
          by: event.by,
          digest: event.digest,
          ...(event.reason !== undefined && { reason: event.reason }),
          ...(event.signed && { signed: true }),
          ...(event.expiresAt !== undefined && { expiresAt: event.expiresAt }),
          ...(event.metadata && { metadata: event.metadata }),
        },
        history: moment(call, "approval_requested", entry),
      });
    case "call.gated":
      return put({
        ...call,
        status: "gated",
        ...(event.escalateAt !== undefined && { escalateAt: event.escalateAt }),
        ...(call.approval &&
          event.expiresAt !== undefined && {
            approval: { ...call.approval, expiresAt: event.expiresAt },
          }),
      });
    case "call.opened":
      return put({
        ...opened(call, entry),
        ...(event.deadlineAt !== undefined && { deadlineAt: event.deadlineAt }),
        ...(event.escalateAt !== undefined && { escalateAt: event.escalateAt }),
        history: moment(call, "opened", entry),
      });
    case "call.decided": {
      if (!call.approval) return;
      const decided: Call = {
        ...(event.arguments === undefined
          ? call
          : { ...omit(call, "invalid"), arguments: event.arguments }),
        approval: {
          ...call.approval,
          decision: {
            approved: event.approved,
            by: entry.actor,
            at: entry.at,
            digest: event.digest,
            ...(event.reason !== undefined && { reason: event.reason }),
            ...(event.automatic && { automatic: true }),
            ...(event.onBehalfOf !== undefined && { onBehalfOf: event.onBehalfOf }),
            ...(event.arguments !== undefined && { edited: { from: call.arguments } }),
            ...(event.payload !== undefined && { payload: event.payload }),
          },
        },
        history: moment(call, event.approved ? "approved" : "denied", entry),
      };
      if (event.approved) put(decided);
      else settle(state, decided, entry, changes, "denied");
      return noteNews(state, call, entry, changes);
    }
    case "call.claimed":
      return put({
        ...call,
        status: "claimed",
        claim: {
          id: event.claimId,
          by: entry.actor,
          at: entry.at,
          ...(entry.attempt !== undefined && { attempt: entry.attempt }),
          ...(event.implicit && { implicit: true }),
        },
        history: event.implicit ? call.history : moment(call, "claimed", entry),
      });
    case "call.released":
      put({
        ...(event.status === "open" ? opened(omit(call, "claim"), entry) : omit(call, "claim")),
        status: event.status,
        // Nobody asked for an implicit claim, so nobody is told that it was lost.
        ...(!(call.claim?.implicit && event.reason === "released") && {
          pastClaims: [...(call.pastClaims ?? []), event.claimId].slice(-8),
        }),
        ...(event.manual && { manual: true }),
        history: moment(call, "released", entry),
      });
      if (event.status === "open" && call.executor !== "client")
        noteNews(state, call, entry, changes);
      return;
    case "call.progressed":
      return put(withMetadata({ ...call, progress: event.progress }, event.metadata));
    case "call.answered": {
      const answered = { ...call, answer: answerOf(event, entry) };
      settle(state, answered, entry, changes, event.outcome, event.reason);
      return noteNews(state, call, entry, changes);
    }
    case "call.answer_replaced":
      return put({
        ...omit(call, "reason"),
        outcome: event.outcome,
        ...(event.reason !== undefined && { reason: event.reason }),
        answer: answerOf(event, entry),
      });
    case "call.escalated":
      return put({ ...call, escalatedAt: entry.at });
    case "call.settled":
      settle(state, call, entry, changes, event.outcome, event.reason, event.message);
      return noteNews(state, call, entry, changes);
    default:
      return;
  }
}

function answerOf(
  event: EventOf<"call.answered"> | EventOf<"call.answer_replaced">,
  entry: Entry,
): CallAnswer {
  return {
    messageId: event.messageId,
    answer: event.answer,
    by: entry.actor,
    at: entry.at,
    ...(entry.attempt !== undefined && { attempt: entry.attempt }),
    ...stepOf(entry),
    offset: entry.offset,
    ...(event.metadata && { metadata: event.metadata }),
  };
}

function settle(
  state: SessionState,
  call: Call,
  entry: Entry,
  changes: Changes,
  outcome: CallOutcome,
  reason?: SettleReason,
  message?: string,
): void {
  const claim = call.claim;
  putCall(
    state,
    {
      ...omit(call, "claim"),
      ...(claim && { pastClaims: [...(call.pastClaims ?? []), claim.id].slice(-8) }),
      status: "settled",
      outcome,
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
      settledAt: entry.at,
      settledOffset: entry.offset,
      settledBy: entry.actor,
      history: moment(call, "settled", entry),
    },
    changes,
  );
}

/** The call as open from here on, by its attempt's own doing or by somebody else's. */
function opened(call: Call, entry: Entry): Call {
  return {
    ...omit(call, "openedIn"),
    status: "open",
    openedAt: entry.offset,
    ...(entry.attempt !== undefined && { openedIn: entry.attempt }),
  };
}

/** What others do to a call is news to the agent; what its current attempt does is not (SPEC 5.3). */
function noteNews(state: SessionState, call: Call, entry: Entry, changes: Changes): void {
  const run = state.runs.get(call.runId);
  if (run && run.status !== "ended" && entry.attempt !== run.attempt && !run.news)
    putRun(state, { ...run, news: true }, changes);
}
