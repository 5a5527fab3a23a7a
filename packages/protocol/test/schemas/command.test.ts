import { describe, expect, test } from "vitest";
import { COMMAND_TYPES } from "../../src/index.ts";
import { parseCommand } from "../../src/schemas/index.ts";

const fence = { runId: "r", attempt: 1, producer: "p", seq: 1 };

/** One of each, with every field it may have. */
const samples: Record<(typeof COMMAND_TYPES)[number], object> = {
  "message.send": {
    messageId: "m",
    content: [
      { type: "text", text: "hi" },
      { type: "image", source: { type: "url", value: "https://example.com/a.png" } },
    ],
    parentId: "p",
    whileActive: "queue",
    whilePending: "abandon",
    metadata: { app: 1 },
  },
  "run.request": {
    requestId: "ag-ui run",
    digest: "d",
    of: { messageId: "m" },
    input: {
      state: null,
      context: [{ description: "d", value: "v" }],
      forwardedProps: 0,
      parentRunId: "",
      instructions: [{ id: "s", role: "system", content: "Be brief." }],
    },
  },
  "run.cancel": { runId: "r", reason: "enough" },
  "tools.advertise": {
    tools: [
      {
        name: "locate",
        description: "where",
        parameters: { type: "object" },
        executor: "client",
        approval: "always",
        sideEffects: true,
        retry: "safe",
        deadlineMs: 1000,
        approvalMs: 1000,
        escalateMs: 1000,
        result: { type: "string" },
        metadata: {},
      },
    ],
  },
  "session.update": { metadata: { stage: "new", old: null }, ttlMs: 5_000 },
  "session.close": { reason: "done" },
  "content.erase": { callId: "c1", reason: "asked for" },
  "policy.set": {
    policy: {
      whileActive: "steer",
      invalidArguments: "offer",
      budget: { rounds: 1, repeats: 1 },
      tools: [{ tool: "*", approval: { when: { type: "object" } }, approvers: ["user:*"] }],
    },
  },
  "call.decide": {
    callId: "c",
    approvalId: "a",
    digest: "d",
    approved: false,
    reason: "no",
    arguments: "{}",
    always: true,
    payload: { note: null },
  },
  "approval.revoke": { tool: "pay" },
  "call.cancel": { callId: "c", reason: "x" },
  "call.claim": { callId: "c", force: true, toolDigest: "d" },
  "call.renew": { callId: "c", claimId: "k" },
  "call.release": { callId: "c", claimId: "k" },
  "call.progress": { callId: "c", claimId: "k", progress: null, metadata: {} },
  "call.answer": {
    callId: "c",
    claimId: "k",
    outcome: "error",
    answer: { type: "parts", parts: [0, ""] },
    declined: true,
    metadata: {},
  },
  "run.append": {
    ...fence,
    stepId: "s",
    stepAttempt: 1,
    items: [
      { type: "round.open" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "" },
      { type: "CUSTOM", name: "n", value: null, metadata: { a: 1 } },
      { type: "call.answer", callId: "c", outcome: "ok", answer: { type: "json", value: 0 } },
    ],
  },
  "run.heartbeat": { runId: "r", attempt: 1, until: 5 },
  "run.finish": fence,
  "run.release": fence,
  "run.fail": { ...fence, error: { code: "x", message: "y" } },
  "step.start": { ...fence, stepId: "s" },
  "step.end": { ...fence, stepId: "s", stepAttempt: 1 },
};

/** Fields that may be absent; a claim's holder must name it to renew or release it. */
const OPTIONAL = new Set(
  "parentId whileActive whilePending metadata reason force claimId declined digest approvalId arguments always toolDigest until ttlMs payload input".split(
    " ",
  ),
);

describe("reading a command", () => {
  test.each(COMMAND_TYPES)("%s comes through whole", (type) => {
    const command = { id: "1", type, ...samples[type] };
    expect(parseCommand(JSON.parse(JSON.stringify(command)))).toEqual(command);
  });

  test.each(COMMAND_TYPES)("%s is refused without any one of what it needs", (type) => {
    for (const field of Object.keys(samples[type])) {
      if (OPTIONAL.has(field) && !(field === "claimId" && /renew|release/.test(type))) continue;
      const { [field]: _, ...rest } = samples[type] as Record<string, unknown>;
      expect(() => parseCommand({ id: "1", type, ...rest })).toThrow(
        expect.objectContaining({
          code: "invalid_request",
          message: expect.stringContaining(`${type}.${field}`),
        }),
      );
    }
  });

  test.each([0, "", false, null, []])("%j is an answer", (value) => {
    const command = {
      id: "1",
      type: "call.answer",
      callId: "c",
      outcome: "ok",
      answer: { type: "json", value },
    };
    expect(parseCommand(command)).toEqual(command);
  });

  test("keys of every object stay ordinary keys", () => {
    const metadata = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as object;
    const command = { id: "1", type: "message.send", messageId: "m", content: "x", metadata };
    const read = parseCommand(command) as { metadata?: object };
    expect(Object.keys(read.metadata ?? {})).toEqual(["__proto__", "constructor"]);
    expect({}).not.toHaveProperty("polluted");
  });
});

test("of an append, what only the server may say of it is dropped, and its items are kept whole", () => {
  const items = [{ type: "CUSTOM", name: "n", value: 1, codec: "kept" }];
  const sent = { id: "x", type: "run.append", ...fence, items, joined: [1e9] };
  expect(parseCommand(sent)).toEqual({ id: "x", type: "run.append", ...fence, items });
});
