import type { CallEvent, Event } from "./events.ts";
import { redactAnswer } from "./redact-call.ts";
import { redactContent } from "./redact-content.ts";
import type { Sees, ToolOf } from "./sight.ts";

/** An event without what its reader may not see; the event itself where that is nothing (SPEC 7.5). */
export function redactEvent(event: Event, sees: Sees, toolOf: ToolOf): Event {
  switch (event.type) {
    case "call.arguments_replaced":
    case "call.annotated":
    case "call.replayed":
    case "call.invalid":
    case "call.approval_requested":
    case "call.gated":
    case "call.opened":
    case "call.decided":
    case "call.claimed":
    case "call.released":
    case "call.progressed":
    case "call.answered":
    case "call.answer_replaced":
    case "call.escalated":
    case "call.settled":
      return sees(toolOf(event.callId)) ? event : redactCallEvent(event);
    case "session.created":
    case "session.updated":
    case "session.closed":
    case "content.erased":
    case "policy.set":
    case "tools.advertised":
    case "approval.granted":
    case "approval.revoked":
    case "message.added":
    case "run.added":
    case "run.queued":
    case "run.suspended":
    case "run.annotated":
    case "run.ended":
    case "run.steered":
    case "run.steer_settled":
    case "attempt.started":
    case "attempt.finished":
    case "attempt.lost":
    case "attempt.released":
    case "attempt.held":
    case "round.opened":
    case "round.closed":
    case "round.superseded":
    case "step.started":
    case "step.ended":
    case "step.superseded":
      return event;
    case "run.requested":
      // Of what was posted, answers included: it would tell whether a guess is right.
      return { ...event, digest: "" };
    default:
      return redactContent(event, sees, toolOf);
  }
}

/** Names each field that is kept. */
function redactCallEvent(event: CallEvent): Event {
  const { callId } = event;
  switch (event.type) {
    case "call.arguments_replaced":
      return { type: event.type, callId, arguments: "" };
    case "call.annotated":
      return { type: event.type, callId, metadata: {} };
    case "call.invalid":
      return { type: event.type, callId, error: { message: "" } };
    case "call.approval_requested":
      return {
        type: event.type,
        callId,
        approvalId: event.approvalId,
        by: event.by,
        digest: "",
        ...(event.signed && { signed: true }),
        ...(event.expiresAt !== undefined && { expiresAt: event.expiresAt }),
      };
    case "call.decided":
      return {
        type: event.type,
        callId,
        approvalId: event.approvalId,
        approved: event.approved,
        digest: "",
        ...(event.automatic && { automatic: true }),
        ...(event.onBehalfOf !== undefined && { onBehalfOf: event.onBehalfOf }),
        ...(event.arguments !== undefined && { arguments: "" }),
        ...(event.payload !== undefined && { payload: null }),
      };
    case "call.progressed":
      return { type: event.type, callId, progress: null };
    case "call.answered":
    case "call.answer_replaced": {
      const { type } = event;
      return {
        type,
        callId,
        messageId: event.messageId,
        outcome: event.outcome,
        answer: redactAnswer(event.answer),
        ...(event.reason !== undefined && { reason: event.reason }),
      } as typeof event;
    }
    case "call.settled":
      return {
        type: event.type,
        callId,
        outcome: event.outcome,
        reason: event.reason,
        ...(event.message !== undefined && { message: "" }),
      };
    case "call.replayed":
    case "call.gated":
    case "call.opened":
    case "call.claimed":
    case "call.released":
    case "call.escalated":
      return event;
  }
}
