import { COMMAND_TYPES } from "@holdfast/protocol";
import type { Granted, TestServer } from "../support/http.ts";

/** A command that would be applied. */
export const message = { id: "x", type: "message.send", messageId: "mx", content: "hi" };
/** A second answer for a call that has one. */
export const answer = {
  id: "x",
  type: "call.answer",
  callId: "settled",
  outcome: "ok",
  answer: { type: "json", value: 2 },
};
/** An append by the attempt, as its agent would send it. */
export const append =
  (items: unknown, more: object = {}) =>
  (_: TestServer, work: Granted) => ({
    body: {
      id: "x",
      type: "run.append",
      runId: work.runId,
      attempt: 1,
      producer: "p",
      seq: 2,
      items,
      ...more,
    },
    token: work.token,
  });

/** One request that is refused. */
export interface Case {
  readonly what: string;
  readonly method?: string;
  readonly path?: string;
  readonly body?: unknown;
  /** Instead of a body: what is only known once the server runs. */
  readonly with?: (
    server: TestServer,
    work: Granted,
  ) => { readonly body: unknown; readonly token: string };
  readonly code: string;
  readonly status: number;
  /** What the detail must say. */
  readonly says: RegExp | string;
}

export const commands: readonly Case[] = [
  {
    what: "malformed JSON",
    body: '{"id":',
    code: "invalid_request",
    status: 400,
    says: /not JSON: .*position|not JSON: .*end/,
  },
  { what: "an empty body", body: "", code: "invalid_request", status: 400, says: "not JSON" },
  {
    what: "a body that is no object",
    body: "[1]",
    code: "invalid_request",
    status: 400,
    says: "command: must be an object",
  },
  {
    what: "a body that is too large",
    body: { ...message, content: "x".repeat(10_000) },
    code: "too_large",
    status: 413,
    says: "10000 bytes",
  },
  {
    what: "a body that is nested too deep",
    body: `{"id":"x","type":"message.send","messageId":"m","content":"","metadata":{"a":${"[".repeat(300)}${"]".repeat(300)}}}`,
    code: "invalid_request",
    status: 400,
    says: "deep",
  },
  {
    what: "an unknown session",
    path: "/v1/sessions/nowhere/commands",
    body: message,
    code: "unknown_session",
    status: 404,
    says: "PUT /v1/sessions/nowhere",
  },
  {
    what: "an unknown command",
    body: { id: "x", type: "message.shout" },
    code: "unknown_command",
    status: 400,
    says: COMMAND_TYPES.join(", "),
  },
  {
    what: "a command that is a property of every object",
    body: { id: "x", type: "__proto__" },
    code: "unknown_command",
    status: 400,
    says: "message.send",
  },
  {
    what: "a command without a type",
    body: { id: "x" },
    code: "invalid_request",
    status: 400,
    says: "type:",
  },
  {
    what: "a command without an id",
    body: { ...message, id: undefined },
    code: "invalid_request",
    status: 400,
    says: "id: must be a non-empty string",
  },
  {
    what: "an id that is too long",
    body: { ...message, id: "x".repeat(257) },
    code: "invalid_request",
    status: 400,
    says: "at most 256",
  },
  {
    what: "an id that is no text",
    body: { ...message, messageId: 7 },
    code: "invalid_request",
    status: 400,
    says: "message.send.messageId",
  },
  {
    what: "an id that no encoding can hold",
    body: '{"id":"\\ud800","type":"run.cancel","runId":"r"}',
    code: "invalid_request",
    status: 400,
    says: "id:",
  },
  {
    what: "content of a wrong type",
    body: { ...message, content: 7 },
    code: "invalid_request",
    status: 400,
    says: "message.send.content",
  },
  {
    what: "a message of another role",
    body: { ...message, role: "assistant" },
    code: "invalid_request",
    status: 400,
    says: "message.send.role: must be user",
  },
  {
    what: "a message with assistant parts",
    body: { ...message, content: [{ type: "tool-call", toolCallId: "c" }] },
    code: "invalid_request",
    status: 400,
    says: "only a user's message",
  },
  {
    what: "an answer that is none",
    body: { ...answer, answer: "yes" },
    code: "invalid_request",
    status: 400,
    says: "call.answer.answer",
  },
  {
    what: "an answer without its value",
    body: { ...answer, answer: { type: "json" } },
    code: "invalid_request",
    status: 400,
    says: "answer.value",
  },
  {
    what: "an answer for an unknown call",
    body: { ...answer, callId: "none" },
    code: "unknown_call",
    status: 404,
    says: "none",
  },
  {
    what: "an answer for a settled call",
    body: answer,
    code: "already_answered",
    status: 409,
    says: "user:ana",
  },
  {
    what: "a decision that is neither",
    body: { id: "x", type: "call.decide", callId: "c", approved: "yes" },
    code: "invalid_request",
    status: 400,
    says: "call.decide.approved",
  },
  {
    what: "a tool whose schema is none",
    body: {
      id: "x",
      type: "tools.advertise",
      tools: [{ name: "t", parameters: { type: "nonsense" } }],
    },
    code: "invalid_request",
    status: 400,
    says: "schema of tool t",
  },
  {
    what: "a command id used for another body",
    body: { ...message, id: "hello", content: "other" },
    code: "key_reused",
    status: 409,
    says: "hello",
  },
  {
    what: "an append without an attempt's token",
    body: { id: "x", type: "run.append", runId: "r", attempt: 1, producer: "p", seq: 1, items: [] },
    code: "forbidden",
    status: 403,
    says: "work/claim",
  },
  {
    what: "an append whose items are none",
    with: append("x"),
    code: "invalid_request",
    status: 400,
    says: "run.append.items: must be an array",
  },
  {
    what: "an append of an unknown type",
    with: append([{ type: "RUN_FINISHED" }]),
    code: "invalid_request",
    status: 400,
    says: 'items[0].type: "RUN_FINISHED"',
  },
  {
    what: "an append of a property of every object",
    with: append([{ type: "constructor" }]),
    code: "invalid_request",
    status: 400,
    says: "items[0].type",
  },
  {
    what: "a delta that is no text",
    with: append([
      { type: "round.open" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: 1 },
    ]),
    code: "invalid_request",
    status: 400,
    says: "items[1].delta: must be a string",
  },
  {
    what: "metadata that is no object",
    with: append([{ type: "TEXT_MESSAGE_START", messageId: "t", metadata: [] }]),
    code: "invalid_request",
    status: 400,
    says: "items[0].metadata",
  },
  {
    what: "metadata of a delta that is no object",
    with: append([{ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "", metadata: [] }]),
    code: "invalid_request",
    status: 400,
    says: "items[0].metadata",
  },
  {
    what: "a sequence that is no number",
    with: append([], { seq: "2" }),
    code: "invalid_request",
    status: 400,
    says: "run.append.seq",
  },
  {
    what: "a sequence with a hole",
    with: append([], { seq: 9 }),
    code: "sequence_gap",
    status: 409,
    says: "2",
  },
  {
    what: "an append to another attempt",
    with: append([], { attempt: 2 }),
    code: "forbidden",
    status: 403,
    says: "attempt 2",
  },
];

export const reads: readonly Case[] = [
  {
    what: "a path that leads nowhere",
    path: "/v1/nothing",
    code: "not_found",
    status: 404,
    says: "GET /v1/nothing",
  },
  {
    what: "the state of an unknown session",
    path: "/v1/sessions/nowhere/state",
    code: "unknown_session",
    status: 404,
    says: "nowhere",
  },
  {
    what: "entries of an unknown session",
    path: "/v1/sessions/nowhere/entries",
    code: "unknown_session",
    status: 404,
    says: "nowhere",
  },
  {
    what: "an offset that is none",
    path: "/v1/sessions/s/entries?after=12",
    code: "invalid_offset",
    status: 400,
    says: '"12"',
  },
  {
    what: "an offset of another session or epoch",
    path: "/v1/sessions/s/entries?after=zzzzzzzzz.00000000001",
    code: "reset",
    status: 409,
    says: "read its state",
  },
  {
    what: "a limit that is none",
    path: "/v1/sessions/s/entries?limit=many",
    code: "invalid_request",
    status: 400,
    says: "limit",
  },
  {
    what: "a session id that is too long",
    path: `/v1/sessions/${"x".repeat(257)}`,
    code: "invalid_request",
    status: 400,
    says: "256",
  },
];

export const requests: readonly Case[] = [
  {
    what: "a session of a wrong shape",
    method: "PUT",
    path: "/v1/sessions/t",
    body: { agent: 7 },
    code: "invalid_request",
    status: 400,
    says: "session.agent",
  },
  {
    what: "a policy that does not exist",
    method: "PUT",
    path: "/v1/sessions/t",
    body: { policy: { whileActive: "panic" } },
    code: "invalid_request",
    status: 400,
    says: "session.policy.whileActive",
  },
  {
    what: "a claim without a worker",
    path: "/v1/work/claim",
    with: ({ demo }) => ({ body: { agent: "demo" }, token: demo }),
    code: "invalid_request",
    status: 400,
    says: "claim.worker",
  },
  {
    what: "a claim that waits for ever",
    path: "/v1/work/claim",
    with: ({ demo }) => ({ body: { agent: "demo", worker: "w", waitMs: 1e9 }, token: demo }),
    code: "invalid_request",
    status: 400,
    says: "30000",
  },
  {
    what: "a claim by a person",
    path: "/v1/work/claim",
    body: { agent: "demo", worker: "w" },
    code: "forbidden",
    status: 403,
    says: "agent:demo",
  },
  {
    what: "a token for nobody",
    path: "/v1/dev/token",
    body: {},
    code: "invalid_request",
    status: 400,
    says: "name or an agent",
  },
];
