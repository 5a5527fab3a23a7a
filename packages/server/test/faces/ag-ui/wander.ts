import type { AgentItem, CommandBody, StateRows, ToolDeclaration } from "@holdfast/protocol";
import { INTERRUPT_TOOL } from "@holdfast/protocol/ag-ui";
import type { Stage } from "./stage.ts";

/** Picks one of `below` choices. */
export type Pick = (below: number) => number;

/** The same picks for the same seed. */
export function picks(seed: number): Pick {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const TOOLS: readonly ToolDeclaration[] = [
  { name: "look" },
  { name: "pay", approval: "always" },
  { name: INTERRUPT_TOOL, executor: "client" },
];

/** One attempt in the wanderer's hands. What is refused is no fault here: agents say what they like. */
interface Hand {
  readonly runId: string;
  readonly attempt: number;
  readonly token: string;
  seq: number;
  step?: { readonly stepId: string; readonly stepAttempt: number } | undefined;
}

/**
 * Everybody behind a thread but its own client: agents that say all there is to say, out of any order that makes sense, hand
 * back, start steps anew and fail; and somebody else, who answers, decides, erases, cancels and speaks. Calm ones correct
 * nothing, so that there is no need to begin anew.
 */
export function createWanderer(stage: Stage, pick: Pick, { isCalm }: { readonly isCalm: boolean }) {
  const hands: Hand[] = [];
  let n = 0;
  const among = <T>(items: readonly T[]): T | undefined => items[pick(items.length || 1)];

  async function say(hand: Hand, body: object): Promise<boolean> {
    const { runId, attempt, token, seq, step } = hand;
    const fence = { runId, attempt, producer: "main", seq: seq + 1, ...step };
    const verdict = await stage.command({ ...fence, ...body } as CommandBody, token);
    if (verdict.status === "applied") hand.seq += 1;
    if (verdict.stepAttempt !== undefined && "stepId" in body) {
      hand.step = { stepId: String(body.stepId), stepAttempt: verdict.stepAttempt };
    }
    return verdict.status === "applied";
  }

  function drop(runId: string): void {
    const at = hands.findIndex((hand) => hand.runId === runId);
    if (at >= 0) hands.splice(at, 1);
  }

  /** Takes what is ready; whether there was anything. */
  async function claim(): Promise<boolean> {
    const body = { agent: "demo", worker: `w${(n += 1)}`, waitMs: 0, tools: TOOLS };
    const claimed = await stage.ask("POST", "/v1/work/claim", body, stage.token("agent:demo"));
    if (claimed.status !== 200) return false;
    hands.push({ ...claimed.body.work, seq: 0 });
    return true;
  }

  async function speak(hand: Hand): Promise<void> {
    const rows = await stage.state();
    n += 1;
    const all = pick(2) === 0 ? sayings(n, rows, among) : goingOn(n, rows, among);
    const items = among(isCalm ? all.filter((it) => !it.some(isCorrection)) : all);
    if (items) await say(hand, { type: "run.append", items });
  }

  async function takeStep(hand: Hand): Promise<void> {
    const { step } = hand;
    if (step && pick(3) === 0) await say(hand, { type: "step.end" });
    hand.step = undefined;
    if (!step || pick(2) === 0) await say(hand, { type: "step.start", stepId: `step${pick(2)}` });
  }

  async function agentActs(hand: Hand): Promise<void> {
    switch (pick(40)) {
      case 0:
        await say(hand, { type: "run.release" });
        return;
      case 1:
        await say(hand, { type: "run.fail", error: { code: "broken", message: "No." } });
        return;
      case 2:
        await say(hand, { type: "run.finish" });
        return;
      case 3:
      case 4:
        return isCalm ? speak(hand) : takeStep(hand);
      default:
        return speak(hand);
    }
  }

  async function personActs(): Promise<void> {
    const { calls, messages, items, runs } = await stage.state();
    const bo = stage.token("user:bo");
    const open = calls.filter(({ executor, status }) => executor === "client" && status === "open");
    const call = among(open);
    const gated = among(calls.filter(({ status }) => status === "gated"));
    const texts = items.filter(({ kind }) => kind === "text").slice(-3);
    const bodies: (CommandBody | undefined)[] = [
      call && answer(call.id, pick(3)),
      gated?.approval && {
        type: "call.decide",
        callId: gated.id,
        approvalId: gated.approval.id,
        approved: pick(3) > 0,
        ...(pick(2) === 0 && { arguments: '{"edited":true}' }),
      },
      call && pick(3) === 0 ? { type: "call.cancel", callId: call.id } : undefined,
      { type: "content.erase", messageId: among([...texts, ...messages.slice(-2)])?.id ?? "none" },
      { type: "content.erase", callId: among(calls)?.id ?? "none" },
      {
        type: "message.send",
        messageId: `b${(n += 1)}`,
        content: "Also this.",
        whilePending: "queue",
        whileActive: among(["queue", "concurrent", "steer", "refuse"] as const) ?? "queue",
      },
      pick(6) === 0 && runs.at(-1)
        ? { type: "run.cancel", runId: runs.at(-1)?.id ?? "" }
        : undefined,
    ];
    const body = among(bodies);
    if (body && !(isCalm && body.type === "content.erase")) await stage.command(body, bo);
  }

  return {
    claim,
    /** One more thing happens; false where nobody is at work any more. */
    async act(): Promise<boolean> {
      if (hands.length === 0 || pick(12) === 0) await claim();
      const hand = among(hands);
      if (!hand) return false;
      await (pick(7) === 0 ? personActs() : agentActs(hand));
      const { runs } = await stage.state();
      for (const { runId, attempt } of hands.slice()) {
        const run = runs.find(({ id }) => id === runId);
        if (run?.status !== "active" || run.attempt !== attempt) drop(runId);
      }
      return hands.length > 0 || claim();
    },
    /** Agents finish, one after the other, until none has work; before each, `at`. */
    async rest(at: () => Promise<void>): Promise<void> {
      while (hands.length > 0 || (await claim())) {
        await at();
        const [hand] = hands;
        if (!hand) continue;
        await say(hand, { type: "run.finish" });
        drop(hand.runId);
      }
    },
  };
}

function isCorrection({ type }: AgentItem): boolean {
  return /^round\.withdraw$|^call\.(?:replace|annotate)/.test(type);
}

function answer(callId: string, kind: number): CommandBody {
  const said: CommandBody = {
    type: "call.answer",
    callId,
    outcome: kind === 0 ? "error" : "ok",
    answer:
      kind === 1
        ? { type: "json", value: { from: "bo" } }
        : { type: "parts", parts: [{ type: "text", text: "Here." }] },
  };
  return kind === 0 ? { ...said, declined: true } : said;
}

type Among = <T>(items: readonly T[]) => T | undefined;

/** What goes on with what an agent said last, and leaves it open more often than not. */
function goingOn(n: number, { items, calls }: StateRows, among: Among): AgentItem[][] {
  const delta = `v${n} `;
  const text = among(items.flatMap((item) => (isOpen(item) ? [item] : [])).slice(-3));
  const call = among(calls.filter(({ status }) => status === "streaming").slice(-3));
  const begins: AgentItem = { type: "TEXT_MESSAGE_START", messageId: `x${n}`, role: "assistant" };
  const thinks: AgentItem = {
    type: "REASONING_MESSAGE_START",
    messageId: `y${n}`,
    role: "reasoning",
  };
  const proposes: AgentItem = {
    type: "TOOL_CALL_START",
    toolCallId: `q${n}`,
    toolCallName: "look",
  };
  const more: (AgentItem | undefined)[] = [
    text?.kind === "text" ? { type: "TEXT_MESSAGE_CONTENT", messageId: text.id, delta } : undefined,
    text?.kind === "reasoning"
      ? { type: "REASONING_MESSAGE_CONTENT", messageId: text.id, delta }
      : undefined,
    call && { type: "TOOL_CALL_ARGS", toolCallId: call.id, delta: `"${n}"` },
  ];
  const known = more.flatMap((item) => (item ? [[item]] : []));
  return known.length < 2 ? [...known, [begins], [thinks], [proposes]] : known;
}

function isOpen(item: StateRows["items"][number]): boolean {
  return (item.kind === "text" || item.kind === "reasoning") && item.status === "open";
}

/** What an agent may say next. */
function sayings(n: number, { items, calls, messages }: StateRows, among: Among): AgentItem[][] {
  const texts = items.filter(({ kind }) => kind === "text").slice(-3);
  const open = texts.filter(isOpen);
  const streaming = calls.filter(({ status }) => status === "streaming").slice(-3);
  const tag = among([undefined, undefined, "s1", "s2"]);
  const by = tag === undefined ? {} : { subagentRunId: tag };
  const messageId = among([`x${n}`, `x${n}`, "x1", messages[0]?.id ?? "u"]) ?? "x";
  const openId = among(open)?.id ?? messageId;
  const callId = `q${n}`;
  const streamed = among(streaming)?.id ?? callId;
  const latest = among(calls.slice(-3))?.id ?? callId;
  const parentMessageId = among([texts[0]?.id, texts[1]?.id, undefined, `m${n}`]);
  const toolCallName = among(["look", "look", "page", "pay", INTERRUPT_TOOL]) ?? "look";
  const metadata = { app: { n } };
  const start: AgentItem = {
    type: "TOOL_CALL_START",
    toolCallId: callId,
    toolCallName,
    ...(parentMessageId !== undefined && { parentMessageId }),
    ...by,
  };
  const args: AgentItem[] = [
    { type: "TOOL_CALL_ARGS", toolCallId: callId, delta: '{"id":' },
    { type: "TOOL_CALL_ARGS", toolCallId: callId, delta: `"i${n}"}`, metadata },
  ];
  const end: AgentItem = { type: "TOOL_CALL_END", toolCallId: callId };
  const result: AgentItem = {
    type: "call.answer",
    callId: latest,
    outcome: n % 4 === 0 ? "error" : "ok",
    messageId: among([`a${n}`, "a1"]) ?? "a",
    answer: { type: "text", text: `Result ${n}` },
  };
  return [
    [{ type: "round.open" }],
    [{ type: "round.close" }],
    [{ type: "round.withdraw" }],
    [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant", name: "Ann", ...by, metadata }],
    [{ type: "TEXT_MESSAGE_CONTENT", messageId: openId, delta: `w${n} ` }],
    [{ type: "TEXT_MESSAGE_CONTENT", messageId: openId, delta: `v${n} ` }],
    [{ type: "TEXT_MESSAGE_END", messageId: openId, metadata: { app: { end: n } } }],
    [
      { type: "REASONING_START", messageId: `r${n}`, ...by },
      { type: "REASONING_MESSAGE_START", messageId: `y${n}`, role: "reasoning", ...by },
      { type: "REASONING_MESSAGE_CONTENT", messageId: `y${n}`, delta: "hm" },
    ],
    [{ type: "REASONING_END", messageId: `r${n - 1}` }],
    [
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: among(["message", "tool-call"] as const) ?? "message",
        entityId: among([openId, latest]) ?? openId,
        encryptedValue: `e${n}`,
      },
    ],
    [start],
    [start, ...args],
    [start, ...args, end],
    [start, ...args, end, { type: "round.close" }],
    [{ type: "TOOL_CALL_ARGS", toolCallId: streamed, delta: "{}" }],
    [{ type: "TOOL_CALL_END", toolCallId: streamed }],
    [{ type: "call.replace_arguments", callId: streamed, arguments: `{"r":${n}}` }],
    [{ type: "call.annotate", callId: latest, metadata: { app: { note: n } } }],
    [result],
    [result],
    [{ type: "STATE_SNAPSHOT", snapshot: { n } }],
    [{ type: "STATE_DELTA", delta: [{ op: "add", path: `/k${n % 5}`, value: n }] }],
    [{ type: "STEP_STARTED", stepName: "think", ...by }],
    [{ type: "STEP_FINISHED", stepName: "think", ...by }],
    [{ type: "SUBAGENT_STARTED", subagentRunId: tag ?? "s1", name: "one" }],
    [{ type: "SUBAGENT_FINISHED", subagentRunId: tag ?? "s1" }],
    [
      {
        type: "ACTIVITY_SNAPSHOT",
        messageId: among(["act", `act${n}`]) ?? "act",
        activityType: "plan",
        content: { steps: [n] },
        ...by,
      },
    ],
    [
      {
        type: "ACTIVITY_DELTA",
        messageId: "act",
        activityType: "plan",
        patch: [{ op: "add", path: "/steps/-", value: n }],
      },
    ],
    [{ type: "CUSTOM", name: "note", value: n }],
    [{ type: "RAW", event: { n }, source: "test" }],
  ];
}
