import type { Approval, Call, CallMoment, MessageNode, Run, TextItem } from "@holdfast/protocol";

/** A moment before the pictures are taken, so that relative times read the same in each. */
export const now = Date.now();
export const ana = "user:Ana Lind";
export const ben = "user:Ben";

let made = 0;
const offset = () => `gallery.${String((made += 1)).padStart(11, "0")}`;

const transferTool = {
  name: "transfer",
  description: "Send money from one of the person's accounts.",
  approval: "always" as const,
  sideEffects: true,
  parameters: {
    type: "object",
    required: ["to", "amount", "currency"],
    properties: {
      from: { type: "string", description: "The account to send from" },
      to: { type: "string" },
      amount: { type: "number" },
      currency: { type: "string", enum: ["EUR", "USD", "GBP", "NOK"] },
      reference: { type: "string" },
    },
  },
};

export const transferArguments = JSON.stringify({
  from: "Everyday account",
  to: "Ben Ortiz",
  amount: 50,
  currency: "EUR",
  reference: "Lunch",
});

export const approval: Approval = {
  id: "approval_1",
  by: "agent",
  digest: "9f2c",
};

/** A call with what each needs; `moments` are seconds before now. */
export function call(
  more: Partial<Call>,
  moments: readonly (readonly [CallMoment["what"], string, number])[] = [],
): Call {
  const at = offset();
  return {
    id: `call_${at.slice(-4)}Qb3xT9wLk`,
    runId: "run_1",
    attempt: 1,
    round: 1,
    offset: at,
    upTo: at,
    name: "weather",
    executor: "agent",
    status: "claimed",
    rev: 1,
    arguments: '{"city":"Oslo","unit":"celsius"}',
    argumentsEncoding: "json",
    ...more,
    history: [
      { what: "proposed", by: "agent:demo", at: now - 64_000 },
      ...moments.map(([what, by, seconds]) => ({ what, by, at: now - seconds * 1_000 })),
    ],
  };
}

export function transfer(more: Partial<Call>, moments?: Parameters<typeof call>[1]): Call {
  return call(
    { name: "transfer", tool: transferTool, arguments: transferArguments, approval, ...more },
    moments,
  );
}

export function location(more: Partial<Call>, moments?: Parameters<typeof call>[1]): Call {
  return call(
    {
      name: "location",
      executor: "client",
      arguments: '{"reason":"to look up the weather where you are"}',
      tool: { name: "location", executor: "client" },
      ...more,
    },
    moments,
  );
}

/** A call that ended. */
export function ended(outcome: Call["outcome"], more: Partial<Call> = {}): Partial<Call> {
  return {
    status: "settled",
    settledAt: now - 20_000,
    settledBy: ben,
    ...(outcome && { outcome }),
    ...more,
  };
}

export function message(content: string, by = ana, seconds = 90): MessageNode {
  const at = offset();
  return { id: `m${at}`, role: "user", content, offset: at, by, at: now - seconds * 1_000 };
}

export function text(words: string, status: TextItem["status"] = "closed"): TextItem {
  const at = offset();
  return { kind: "text", id: `t${at}`, runId: "run_1", offset: at, upTo: at, status, text: words };
}

export function run(more: Partial<Run> = {}): Run {
  const at = offset();
  return {
    id: `run_${at.slice(-4)}Zk81mQvx`,
    offset: at,
    agent: "demo",
    status: "active",
    behind: [],
    queuedAt: now - 60_000,
    attempt: 1,
    worker: "demo-1",
    claims: true,
    tools: [],
    toolsComplete: true,
    losses: 0,
    news: false,
    round: 1,
    openRounds: [1],
    ...more,
  };
}
