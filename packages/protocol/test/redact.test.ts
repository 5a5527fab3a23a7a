import {
  emptyState,
  reduce,
  redactEntry,
  redactRows,
  toOffset,
  toRows,
  type Call,
  type Entry,
  type Event,
} from "@holdfast/protocol";
import { expect, it } from "vitest";

const SECRET = "s3cret";
const metadata = { codec: { kept: SECRET } };
const rawEvent = { of: SECRET };

/** One of each kind of event, with a secret wherever a tool's data may stand. */
const EVENTS: Event[] = [
  { type: "run.added", agent: "demo" },
  {
    type: "TOOL_CALL_START",
    toolCallId: "c",
    toolCallName: "tool",
    metadata: { ...metadata, holdfast: { executor: "client", also: SECRET } },
    rawEvent,
  },
  { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: SECRET, metadata, rawEvent },
  { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: SECRET },
  { type: "TOOL_CALL_END", toolCallId: "c", metadata, rawEvent },
  {
    type: "REASONING_ENCRYPTED_VALUE",
    subtype: "tool-call",
    entityId: "c",
    encryptedValue: SECRET,
    metadata,
  },
  {
    type: "REASONING_ENCRYPTED_VALUE",
    subtype: "tool-call",
    entityId: "unknown",
    encryptedValue: SECRET,
  },
  { type: "RAW", event: { any: SECRET }, source: SECRET, metadata, rawEvent },
  { type: "CUSTOM", name: "codec.chunk", value: { toolCallId: "c", input: SECRET }, metadata },
  { type: "CUSTOM", name: "codec.chunk", value: { toolCallId: "unknown", input: SECRET } },
  { type: "CUSTOM", name: "note", value: "kept", rawEvent },
  { type: "SUBAGENT_STARTED", subagentRunId: "sub", name: "sub", description: SECRET, metadata },
  { type: "SUBAGENT_FINISHED", subagentRunId: "sub", result: SECRET, metadata },
  { type: "SUBAGENT_ERROR", subagentRunId: "sub", message: SECRET, code: SECRET },
  { type: "STATE_SNAPSHOT", snapshot: { shared: "kept" }, rawEvent },
  { type: "call.arguments_replaced", callId: "c", arguments: SECRET },
  { type: "call.annotated", callId: "c", metadata },
  { type: "call.invalid", callId: "c", error: { message: SECRET, paths: [SECRET] } },
  {
    type: "call.approval_requested",
    callId: "c",
    approvalId: "a",
    by: "agent",
    digest: SECRET,
    reason: SECRET,
    signed: true,
    metadata,
  },
  { type: "call.gated", callId: "c", expiresAt: 5 },
  {
    type: "call.decided",
    callId: "c",
    approvalId: "a",
    approved: true,
    digest: SECRET,
    reason: SECRET,
    arguments: SECRET,
    payload: { note: SECRET },
  },
  { type: "call.opened", callId: "c" },
  { type: "call.claimed", callId: "c", claimId: "claim" },
  { type: "call.progressed", callId: "c", progress: { at: SECRET }, metadata },
  {
    type: "call.answered",
    callId: "c",
    messageId: "m",
    outcome: "error",
    answer: { type: "text", text: SECRET },
    reason: "declined",
    metadata,
  },
  {
    type: "call.answer_replaced",
    callId: "c",
    messageId: "m",
    outcome: "ok",
    answer: { type: "json", value: SECRET },
    metadata,
  },
  {
    type: "call.answer_replaced",
    callId: "c",
    messageId: "m",
    outcome: "ok",
    answer: { type: "parts", parts: [SECRET] },
  },
  { type: "call.settled", callId: "c", outcome: "error", reason: "truncated", message: SECRET },
  { type: "of.a.later.version", anything: SECRET } as unknown as Event,
];

const ENTRIES: Entry[] = EVENTS.map((event, at) => ({
  offset: toOffset("test", at + 1),
  at,
  actor: "user:ana",
  runId: "r",
  attempt: 1,
  event,
}));

const nothing = () => false;
const toolOf = (callId: string) => (callId === "c" ? "tool" : undefined);

function fold(entries: readonly Entry[]) {
  const state = emptyState(toOffset("test", 0), { id: "s", createdAt: 0 });
  for (const entry of entries) reduce(state, entry);
  return state;
}

it("7.5 no field of an entry says what its reader may not see, and each stays what it is", () => {
  const redacted = ENTRIES.map((entry) => redactEntry(entry, nothing, toolOf));
  for (const [at, entry] of redacted.entries()) {
    expect(JSON.stringify(entry)).not.toContain(SECRET);
    expect(entry).toMatchObject({ offset: ENTRIES[at]?.offset, event: { type: EVENTS[at]?.type } });
  }
  expect(JSON.stringify(redacted)).toContain('"shared":"kept"');
});

it("7.5 at every offset the rows are those that the entries reduce to", () => {
  for (let cut = 0; cut <= ENTRIES.length; cut += 1) {
    const entries = ENTRIES.slice(0, cut);
    const live = toRows(fold(entries.map((entry) => redactEntry(entry, nothing, toolOf))));
    const rows = redactRows(toRows(fold(entries)), nothing);
    expect(live).toEqual(rows);
    expect(JSON.stringify(rows)).not.toContain(SECRET);
  }
});

it("7.5 what is seen of a tool is whole", () => {
  const sees = (tool: string | undefined) => tool === "tool";
  const call = (entries: readonly Entry[]): Call | undefined => fold(entries).calls.get("c");
  const redacted = ENTRIES.map((entry) => redactEntry(entry, sees, toolOf));
  expect(call(redacted)).toEqual(call(ENTRIES));
  expect(redactRows(toRows(fold(ENTRIES)), sees).calls).toEqual(toRows(fold(ENTRIES)).calls);
});

it("7.5 of a call that the reader holds the rows show the arguments, and nothing else", () => {
  const state = fold(ENTRIES.slice(0, 4));
  const [call] = redactRows(toRows(state), nothing, () => true).calls;
  expect(call).toMatchObject({ redacted: true, arguments: SECRET + SECRET });
  expect(call).not.toHaveProperty("metadata");
});
