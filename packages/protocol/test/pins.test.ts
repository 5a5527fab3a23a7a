import * as protocol from "@holdfast/protocol";
import { COMMAND_TYPES, ERROR_CODES, type AgentItem, type Event } from "@holdfast/protocol";
import { expect, it } from "vitest";

// Users see these names. A red pin is a question: is the change meant, and what does it break?

it("pins the names that @holdfast/protocol exports", () => {
  expect(Object.keys(protocol).toSorted().join(" ")).toBe(
    [
      "CALL_TABLE COMMAND_TYPES ERROR_CODES HoldfastError MAX_REQUESTS MOST_DEPTH RUN_TABLE SOCKET_CLOSES",
      "actOf appendDelta argumentsForModel bytesBeyond callsOf canonical copyState createDraft createPartialJson createSession",
      "createViewCache decide decideTimer echoIn emptyState erase eraseEntry findActivation fromRows isApproved isCall isTooDeep joinDeltas parseOffset partsOf",
      "pathTo payloadDigest payloadText producerKey redactEntry redactRows reduce reduceAll reject requestedId resultOf schemaText startRun toFrameworkId toOffset toRows toSessionId",
      "viewOf waitingFor waitingOf wasRead",
    ].join(" "),
  );
});

it("9 pins every error code with its status, and whether the same command may succeed later", () => {
  const pinned = Object.entries(ERROR_CODES).map(
    ([code, { status, retryable }]) => `${code} ${status}${retryable ? " retryable" : ""}`,
  );
  expect(pinned).toEqual([
    "invalid_request 400",
    "invalid_offset 400",
    "unauthenticated 401",
    "forbidden 403",
    "not_found 404",
    "unknown_session 404",
    "unknown_command 400",
    "too_large 413",
    "reset 409",
    "key_reused 409",
    "overloaded 503 retryable",
    "too_many_requests 429 retryable",
    "internal 500 retryable",
    "unknown_run 404",
    "unknown_node 404",
    "session_closed 409",
    "message_exists 409",
    "run_active 409 retryable",
    "run_ended 409",
    "run_held 409",
    "calls_pending 409",
    "budget_exceeded 409",
    "attempt_fenced 409",
    "sequence_gap 409 retryable",
    "sequence_violation 409",
    "step_settled 409",
    "unknown_call 404",
    "not_ready 409 retryable",
    "not_executor 403",
    "approval_required 409",
    "not_approver 403",
    "stale_decision 409",
    "edit_unsupported 409",
    "invalid_arguments 422",
    "invalid_result 422",
    "claim_held 409 retryable",
    "claim_lost 409",
    "not_claimed 409",
    "retry_unsafe 409",
    "already_answered 409",
    "call_settled 409",
    "result_too_large 413",
    "tool_name_taken 409",
    "unreachable 503 retryable",
    "closed 409",
  ]);
});

it("6 pins the types of commands", () => {
  expect(COMMAND_TYPES.join(" ")).toBe(
    [
      "message.send run.request run.cancel tools.advertise policy.set session.update session.close content.erase call.decide",
      "approval.revoke call.cancel",
      "call.claim call.renew call.release call.progress call.answer run.append run.heartbeat",
      "run.finish run.fail run.release step.start step.end",
    ].join(" "),
  );
});

// The compiler checks that these tables name every type and no other.
const EVENTS: Readonly<Record<Event["type"], "content" | "session">> = {
  TEXT_MESSAGE_START: "content",
  TEXT_MESSAGE_CONTENT: "content",
  TEXT_MESSAGE_END: "content",
  REASONING_START: "content",
  REASONING_MESSAGE_START: "content",
  REASONING_MESSAGE_CONTENT: "content",
  REASONING_MESSAGE_END: "content",
  REASONING_END: "content",
  REASONING_ENCRYPTED_VALUE: "content",
  TOOL_CALL_START: "content",
  TOOL_CALL_ARGS: "content",
  TOOL_CALL_END: "content",
  STATE_SNAPSHOT: "content",
  STATE_DELTA: "content",
  ACTIVITY_SNAPSHOT: "content",
  ACTIVITY_DELTA: "content",
  SUBAGENT_STARTED: "content",
  SUBAGENT_FINISHED: "content",
  SUBAGENT_ERROR: "content",
  STEP_STARTED: "content",
  STEP_FINISHED: "content",
  CUSTOM: "content",
  RAW: "content",
  "session.created": "session",
  "session.updated": "session",
  "session.closed": "session",
  "content.erased": "session",
  "policy.set": "session",
  "tools.advertised": "session",
  "approval.granted": "session",
  "approval.revoked": "session",
  "message.added": "session",
  "run.added": "session",
  "run.queued": "session",
  "run.suspended": "session",
  "run.requested": "session",
  "run.annotated": "session",
  "run.ended": "session",
  "attempt.started": "session",
  "attempt.finished": "session",
  "attempt.held": "session",
  "attempt.lost": "session",
  "attempt.released": "session",
  "round.opened": "session",
  "round.closed": "session",
  "round.superseded": "session",
  "step.started": "session",
  "step.ended": "session",
  "step.superseded": "session",
  "run.steered": "session",
  "run.steer_settled": "session",
  "call.arguments_replaced": "session",
  "call.annotated": "session",
  "call.replayed": "session",
  "call.invalid": "session",
  "call.approval_requested": "session",
  "call.gated": "session",
  "call.opened": "session",
  "call.decided": "session",
  "call.claimed": "session",
  "call.released": "session",
  "call.progressed": "session",
  "call.answered": "session",
  "call.answer_replaced": "session",
  "call.escalated": "session",
  "call.settled": "session",
};
const ITEMS: Readonly<Record<Exclude<AgentItem["type"], Event["type"]>, true>> = {
  "round.open": true,
  "round.close": true,
  "round.withdraw": true,
  "run.annotate": true,
  "call.annotate": true,
  "call.replace_arguments": true,
  "call.invalidate": true,
  "call.ask": true,
  "call.progress": true,
  "call.answer": true,
};

it("2 pins the types of events: reduction tells content from session events by their case", () => {
  for (const [type, family] of Object.entries(EVENTS))
    expect(/^[A-Z_]+$/.test(type)).toBe(family === "content");
  expect(Object.keys(EVENTS)).toHaveLength(66);
  expect(Object.keys(ITEMS)).toHaveLength(10);
});
