import { expect, test } from "vitest";
import { openHouse, proposal } from "../cases/support.ts";
import { changesNothing } from "./support.ts";

/** What a field may never be, by what it is for. */
const WRONG = {
  id: [null, true, 0, "", [], {}, "\ud800", "x".repeat(257)],
  text: [null, true, 0, [], {}],
  flag: [null, 0, 1, "true", [], {}],
  count: [null, true, 0, -1, 1.5, "1", [], {}, 2 ** 53],
  ttl: [true, 0, -1, 999, 1000.5, "1000", [], {}, 1e15],
  object: [null, true, 0, "x", []],
  array: [null, true, 0, "x", {}],
  present: [undefined],
  role: [null, 0, "", "wizard", {}],
  time: [null, true, 1.5, "1", {}],
  outcome: [undefined, null, true, "", "denied", {}],
  answer: [
    undefined,
    null,
    "x",
    [],
    {},
    { type: "json" },
    { type: "text", text: 1 },
    { type: "parts", parts: {} },
    { type: "__proto__" },
  ],
  content: [undefined, null, 0, [], {}, [null], [{ type: "nope" }], [{ type: "text", text: 1 }]],
  policy: [null, 0, "", "Queue", "constructor", {}],
  tools: [
    undefined,
    null,
    {},
    [null],
    [{}],
    [{ name: "" }],
    [{ name: "a\nb" }],
    [{ name: "x", parameters: [] }],
    [{ name: "x", executor: "provider" }],
    [{ name: "x", approval: "maybe" }],
    [{ name: "x", sideEffects: 1 }],
    [{ name: "x", retry: true }],
    [{ name: "x", deadlineMs: 0 }],
    [{ name: "x", approvalMs: 1.5 }],
    [{ name: "x", metadata: [] }],
    Array.from({ length: 513 }, (_, n) => ({ name: `x${n}` })),
  ],
  failure: [undefined, null, "x", {}, { code: 1, message: "x" }, { code: "x" }],
  invalid: [undefined, null, "x", [], {}, { message: 1 }, { message: "x", paths: "/a" }],
  hints: [
    null,
    [],
    "x",
    { holdfast: null },
    { holdfast: "x" },
    { holdfast: { executor: "agent" } },
    { holdfast: { executor: "constructor" } },
    { holdfast: { argumentsEncoding: 5 } },
    { holdfast: { providerCallId: {} } },
    { holdfast: { providerCallId: "" } },
  ],
} satisfies Record<string, unknown[]>;

type Kind = keyof typeof WRONG;
interface Shape {
  /** Good enough to be read. */
  readonly good: Record<string, unknown>;
  /** What each field is; a leading `?` says that it may be absent. */
  readonly fields: Record<string, Kind | `?${Kind}`>;
}

const CALL = { callId: "id" } as const;
const ANSWER = {
  claimId: "?id",
  outcome: "outcome",
  answer: "answer",
  declined: "?flag",
  messageId: "?id",
  metadata: "?object",
} as const;
const answered = { outcome: "ok", answer: { type: "json", value: null } };

const COMMANDS: Record<string, Shape> = {
  "message.send": {
    good: { messageId: "new", content: "hi" },
    fields: {
      messageId: "id",
      content: "content",
      parentId: "?id",
      whileActive: "?policy",
      whilePending: "?policy",
      metadata: "?object",
    },
  },
  "run.cancel": { good: { runId: "r" }, fields: { runId: "id", reason: "?text" } },
  "tools.advertise": { good: { tools: [] }, fields: { tools: "tools" } },
  "content.erase": { good: { callId: "c" }, fields: { callId: "id", reason: "?text" } },
  "session.update": { good: {}, fields: { metadata: "?object", ttlMs: "?ttl" } },
  "policy.set": { good: { policy: {} }, fields: { policy: "object" } },
  "call.decide": {
    good: { callId: "c", approved: true },
    fields: {
      ...CALL,
      approvalId: "?id",
      digest: "?text",
      approved: "flag",
      reason: "?text",
      arguments: "?text",
    },
  },
  "call.cancel": { good: { callId: "c" }, fields: { ...CALL, reason: "?text" } },
  "call.claim": { good: { callId: "c" }, fields: { ...CALL, force: "?flag" } },
  "call.renew": { good: { callId: "c", claimId: "x" }, fields: { ...CALL, claimId: "id" } },
  "call.release": { good: { callId: "c", claimId: "x" }, fields: { ...CALL, claimId: "id" } },
  "call.progress": {
    good: { callId: "c", progress: 0 },
    fields: { ...CALL, claimId: "?id", progress: "present", metadata: "?object" },
  },
  "call.answer": { good: { callId: "c", ...answered }, fields: { ...CALL, ...ANSWER } },
};

const FENCE = { runId: "id", attempt: "count", producer: "id", seq: "count" } as const;

/** With an attempt's token; `good` is completed by the attempt's own run and number. */
const AGENT_COMMANDS: Record<string, Shape> = {
  "run.append": { good: { items: [] }, fields: { ...FENCE, items: "array" } },
  "run.heartbeat": { good: {}, fields: { runId: "id", attempt: "count" } },
  "run.finish": { good: {}, fields: FENCE },
  "run.fail": {
    good: { error: { code: "x", message: "x" } },
    fields: { ...FENCE, error: "failure" },
  },
};

const SCOPED = { metadata: "?hints", subagentRunId: "?id", timestamp: "?time" } as const;
const TEXT = { ...SCOPED, messageId: "id" } as const;

const ITEMS: Record<string, Shape> = {
  TEXT_MESSAGE_START: {
    good: { messageId: "t" },
    fields: { ...TEXT, role: "?role", name: "?text" },
  },
  TEXT_MESSAGE_CONTENT: { good: { messageId: "t", delta: "" }, fields: { ...TEXT, delta: "text" } },
  TEXT_MESSAGE_END: { good: { messageId: "t" }, fields: TEXT },
  REASONING_START: { good: { messageId: "t" }, fields: TEXT },
  REASONING_MESSAGE_START: { good: { messageId: "t" }, fields: { ...TEXT, role: "?role" } },
  REASONING_MESSAGE_CONTENT: {
    good: { messageId: "t", delta: "" },
    fields: { ...TEXT, delta: "text" },
  },
  REASONING_MESSAGE_END: { good: { messageId: "t" }, fields: TEXT },
  REASONING_END: { good: { messageId: "t" }, fields: TEXT },
  REASONING_ENCRYPTED_VALUE: {
    good: { subtype: "message", entityId: "t", encryptedValue: "x" },
    fields: { ...SCOPED, subtype: "role", entityId: "id", encryptedValue: "text" },
  },
  TOOL_CALL_START: {
    good: { toolCallId: "c", toolCallName: "weather" },
    fields: { ...SCOPED, toolCallId: "id", toolCallName: "id", parentMessageId: "?id" },
  },
  TOOL_CALL_ARGS: {
    good: { toolCallId: "c", delta: "" },
    fields: { ...SCOPED, toolCallId: "id", delta: "text" },
  },
  TOOL_CALL_END: { good: { toolCallId: "c" }, fields: { ...SCOPED, toolCallId: "id" } },
  STATE_SNAPSHOT: { good: { snapshot: 1 }, fields: { ...SCOPED, snapshot: "present" } },
  STATE_DELTA: { good: { delta: [] }, fields: { ...SCOPED, delta: "array" } },
  ACTIVITY_SNAPSHOT: {
    good: { messageId: "a", activityType: "x", content: {} },
    fields: { ...TEXT, activityType: "text", content: "object", replace: "?flag" },
  },
  ACTIVITY_DELTA: {
    good: { messageId: "a", activityType: "x", patch: [] },
    fields: { ...TEXT, activityType: "text", patch: "array" },
  },
  SUBAGENT_STARTED: {
    good: { subagentRunId: "s", name: "x" },
    fields: {
      subagentRunId: "id",
      name: "text",
      description: "?text",
      parentSubagentRunId: "?id",
      parentToolCallId: "?id",
      parentMessageId: "?id",
    },
  },
  SUBAGENT_FINISHED: { good: { subagentRunId: "s" }, fields: { subagentRunId: "id" } },
  SUBAGENT_ERROR: {
    good: { subagentRunId: "s", message: "x" },
    fields: { subagentRunId: "id", message: "text", code: "?text" },
  },
  STEP_STARTED: { good: { stepName: "x" }, fields: { ...SCOPED, stepName: "text" } },
  STEP_FINISHED: { good: { stepName: "x" }, fields: { ...SCOPED, stepName: "text" } },
  CUSTOM: { good: { name: "x", value: 0 }, fields: { ...SCOPED, name: "text", value: "present" } },
  RAW: { good: { event: 0 }, fields: { ...SCOPED, event: "present", source: "?text" } },
  "round.withdraw": { good: {}, fields: { reason: "?text" } },
  "run.annotate": { good: { metadata: {} }, fields: { metadata: "object" } },
  "call.annotate": {
    good: { callId: "c", metadata: {} },
    fields: { ...CALL, metadata: "object" },
  },
  "call.replace_arguments": {
    good: { callId: "c", arguments: "{}" },
    fields: { ...CALL, arguments: "text" },
  },
  "call.invalidate": {
    good: { callId: "c", error: { message: "x" } },
    fields: { ...CALL, error: "invalid" },
  },
  "call.ask": {
    good: { callId: "c" },
    fields: { ...CALL, approvalId: "?id", reason: "?text", signed: "?flag", metadata: "?hints" },
  },
  "call.progress": {
    good: { callId: "c", progress: 0 },
    fields: { ...CALL, claimId: "?id", progress: "present", metadata: "?hints" },
  },
  "call.answer": { good: { callId: "c", ...answered }, fields: { ...CALL, ...ANSWER } },
};

/** Every field of a shape with each thing it may not be, one at a time. */
function* mutants(shape: Shape): Generator<{ label: string; body: Record<string, unknown> }> {
  for (const [field, what] of Object.entries(shape.fields)) {
    const optional = what.startsWith("?");
    const kind = what.replace("?", "") as Kind;
    for (const value of optional ? WRONG[kind] : [undefined, ...WRONG[kind]]) {
      const body = { ...shape.good, [field]: value };
      yield { label: `${field}: ${JSON.stringify(value)?.slice(0, 60)}`, body };
    }
  }
}

interface Verdicts {
  verdicts: { status: string; error?: { code: string; details?: { at?: string } } }[];
}

async function refusals(
  send: (commands: object[]) => Promise<{ body: unknown }>,
  attacks: readonly { label: string; body: object }[],
): Promise<string[]> {
  const odd: string[] = [];
  for (let from = 0; from < attacks.length; from += 500) {
    const some = attacks.slice(from, from + 500);
    const answer = await send(some.map(({ body }) => ({ id: crypto.randomUUID(), ...body })));
    (answer.body as Verdicts).verdicts.forEach(({ status, error }, index) => {
      // A code is not enough: it must say where.
      if (error?.code === "invalid_request" && error.details?.at !== undefined) return;
      odd.push(`${some[index]?.label} -> ${error?.code ?? status}`);
    });
  }
  return odd;
}

test("a field of the wrong type is refused where it stands, and nothing is written", async () => {
  await using house = await openHouse();
  await house.send("go");
  const attempt = await house.attempt();
  await attempt.append({ type: "round.open" }, ...proposal("c", "weather", "{}"));
  const { runId, attempt: number } = attempt.work;
  const fence = { runId, attempt: number, producer: "hostile", seq: 1 };
  const path = `/v1/sessions/${house.session}/commands`;
  const attacks = Object.entries(COMMANDS).flatMap(([type, shape]) =>
    [...mutants(shape)].map(({ label, body }) => ({
      label: `${type}.${label}`,
      body: { type, ...body },
    })),
  );
  const agentAttacks = Object.entries(AGENT_COMMANDS).flatMap(([type, shape]) =>
    [...mutants({ ...shape, good: { ...fence, ...shape.good } })].map(({ label, body }) => ({
      label: `${type}.${label}`,
      body: { type, ...body },
    })),
  );
  const itemAttacks = Object.entries(ITEMS).flatMap(([type, shape]) =>
    [...mutants(shape)].map(({ label, body }) => ({
      label: `${type}.${label}`,
      body: { type: "run.append", ...fence, items: [{ type, ...body }] },
    })),
  );
  expect(attacks.length + agentAttacks.length + itemAttacks.length).toBeGreaterThan(1000);
  await changesNothing(house, async () => {
    const ana = (commands: object[]) => house.ana.call("POST", path, { commands });
    const agent = (commands: object[]) => attempt.agent.call("POST", path, { commands });
    expect(await refusals(ana, attacks)).toEqual([]);
    expect(await refusals(agent, [...agentAttacks, ...itemAttacks])).toEqual([]);
  });
  // And what each of them was made from is understood.
  const good = Object.entries(ITEMS).map(([type, shape]) => ({ type, ...shape.good }));
  const verdict = await attempt.agent.command(house.session, {
    type: "run.append",
    ...fence,
    items: good as never,
  });
  expect(verdict.status).toBe("applied");
});
