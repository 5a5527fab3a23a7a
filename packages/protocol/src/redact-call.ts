import type { Answer, Approval, Call, CallAnswer, Decision } from "./call.ts";

/**
 * A call's row without its tool's data: what its redacted events reduce to. The tables below name every field, so that
 * a new one does not compile until somebody says whether it is kept, and is taken away where nobody did.
 */
export function redactCall(call: Call): Call {
  // It says nothing any more, in words that all may read.
  if (call.erased) return { ...call, redacted: true };
  const { invalid, approval, progress, message, answer } = call;
  return {
    ...keep(call, CALL),
    redacted: true,
    arguments: "",
    ...(invalid && { invalid: { message: "" } }),
    ...(approval && { approval: redactApproval(approval) }),
    ...(progress !== undefined && { progress: null }),
    ...(message !== undefined && { message: "" }),
    ...(answer && { answer: redactCallAnswer(answer) }),
  };
}

/** An answer of the same type that says nothing. */
export function redactAnswer(answer: Answer): Answer {
  switch (answer.type) {
    case "json":
      return { type: "json", value: null };
    case "text":
      return { type: "text", text: "" };
    case "parts":
      return { type: "parts", parts: [] };
    default:
      // Of a later version, perhaps.
      answer satisfies never;
      return { type: "json", value: null };
  }
}

function redactCallAnswer(given: CallAnswer): CallAnswer {
  return { ...keep(given, ANSWER), answer: redactAnswer(given.answer) };
}

function redactApproval(approval: Approval): Approval {
  const { decision } = approval;
  return {
    ...keep(approval, APPROVAL),
    digest: "",
    ...(decision && { decision: redactDecision(decision) }),
  };
}

function redactDecision(decision: Decision): Decision {
  const edited = decision.edited && { edited: { from: "" } };
  const payload = decision.payload !== undefined && { payload: null };
  return { ...keep(decision, DECISION), digest: "", ...edited, ...payload };
}

/** Whether a field is kept as it is. What is not is put back by the caller, where the type wants it. */
type Fields<T> = { readonly [K in keyof Required<T>]: boolean };

function keep<T extends object>(row: T, fields: Fields<T>): T {
  const names = Object.keys(row) as (keyof T)[];
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === true ? [[name, row[name]]] : [])),
  ) as T;
}

const CALL: Fields<Call> = {
  id: true,
  providerId: true,
  runId: true,
  attempt: true,
  round: true,
  stepId: true,
  stepAttempt: true,
  offset: true,
  upTo: true,
  parentMessageId: true,
  subagentRunId: true,
  name: true,
  executor: true,
  tool: true,
  status: true,
  rev: true,
  redacted: true,
  arguments: false,
  argumentsEncoding: true,
  invalid: false,
  approval: false,
  claim: true,
  pastClaims: true,
  manual: true,
  openedAt: true,
  openedIn: true,
  deadlineAt: true,
  escalateAt: true,
  escalatedAt: true,
  progress: false,
  outcome: true,
  reason: true,
  message: false,
  answer: false,
  settledAt: true,
  settledOffset: true,
  settledBy: true,
  withdrawn: true,
  erased: true,
  metadata: false,
  history: true,
};

const APPROVAL: Fields<Approval> = {
  id: true,
  by: true,
  digest: false,
  reason: false,
  expiresAt: true,
  signed: true,
  metadata: false,
  decision: false,
};

const DECISION: Fields<Decision> = {
  approved: true,
  by: true,
  at: true,
  digest: false,
  reason: false,
  automatic: true,
  onBehalfOf: true,
  edited: false,
  payload: false,
};

const ANSWER: Fields<CallAnswer> = {
  messageId: true,
  answer: false,
  by: true,
  at: true,
  attempt: true,
  stepId: true,
  stepAttempt: true,
  offset: true,
  metadata: false,
};
