import type { AgentItem, Entry } from "@holdfast/protocol";
import { INTERRUPT_TOOL } from "@holdfast/protocol/ag-ui";
import { createCoverage } from "../properties/coverage.ts";
import { eraser } from "../properties/eraser.ts";
import { walk } from "../properties/walk.ts";
import type { Desk } from "../support/desk.ts";
import { copy } from "./client.ts";

const TAGS = [undefined, "s:1", "s:2"];

/** The log of a walk through a session that says all that AG-UI can, brought to rest. */
export function sessionOf(
  numbers: readonly number[],
  { erasing }: { readonly erasing: boolean },
): Entry[] {
  const rich = enrich();
  const erase = eraser().onStep;
  const desk = walk(numbers, {
    coverage: createCoverage(),
    onStep(at) {
      rich(at);
      if (erasing) erase(at);
    },
  });
  return toRest(desk);
}

/** Ends what goes on and lets one more run begin and end, so that all there is was told. */
function toRest(desk: Desk): Entry[] {
  for (const runId of [...desk.state.index.live].toReversed())
    desk.user({ type: "run.cancel", runId });
  const runId = desk.send("last");
  desk.start(runId);
  desk.agent(runId).finish();
  return copy(desk.entries);
}

/**
 * Has agents say, now and then, what a walk's do not: all content that AG-UI has, tagged, parented, under ids that collide,
 * and out of any order that makes sense.
 */
function enrich(): (desk: Desk) => void {
  let steps = 0;
  return (desk) => {
    steps += 1;
    const pick = <T>(items: readonly T[], salt: number): T | undefined =>
      items[(steps * 7919 + salt * 104_729 + desk.entries.length * 31) % (items.length || 1)];
    if (steps % 9 === 0) fork(desk, steps, pick);
    const runs = [...desk.state.index.live].filter((id) => desk.run(id).status === "active");
    const runId = pick(runs, 1);
    if (runId === undefined || steps % 2 === 0) return;
    const items = pick(sayings(desk, steps, pick), 2);
    if (items) desk.agent(runId).append(...items);
  };
}

/** Somebody edits an earlier message now and then, or has a run beside another. */
function fork(
  desk: Desk,
  steps: number,
  pick: <T>(items: readonly T[], salt: number) => T | undefined,
): void {
  if (desk.state.messages.size >= 12 || steps % 18 !== 0) return;
  const parentId = pick(desk.state.index.nodes, 3);
  const whileActive = pick(["concurrent", "queue", "replace"] as const, 4) ?? "queue";
  desk.user({
    type: "message.send",
    messageId: `f${steps}`,
    content: [
      { type: "text", text: "Or " },
      { type: "text", text: "so." },
    ],
    ...(parentId !== undefined && { parentId }),
    whileActive,
    metadata: { "ag-ui": { name: "ana" }, app: { n: steps } },
  });
}

function sayings(
  desk: Desk,
  n: number,
  pick: <T>(items: readonly T[], salt: number) => T | undefined,
): AgentItem[][] {
  const texts = [...desk.state.items.values()].filter(({ kind }) => kind === "text").slice(-3);
  const calls = [...desk.state.calls.keys()].slice(-3);
  const tag = pick(TAGS, 5);
  const by = tag === undefined ? {} : { subagentRunId: tag };
  const messageId = pick([`x${n}`, "x1", "m1", pick(calls, 6) ?? "x2"], 7) ?? "x3";
  const parentMessageId = pick([texts[0]?.id, texts[1]?.id, "m1", `x${n}`, "act"], 8);
  const toolCallName = pick(["job", "page", "gated-page", "safe-page"], 9) ?? "job";
  const toolCallId = `q${n}`;
  const callId = pick(calls, 10) ?? "none";
  const metadata = { app: { n, [n % 2 ? "a" : "b"]: true }, holdfast: {} };
  const stepName = pick(["think", "act"], 11) ?? "think";
  const activity = pick(["act", "act2", "m1"], 12) ?? "act";
  const args: AgentItem[] = [
    { type: "TOOL_CALL_ARGS", toolCallId, delta: '{"a":' },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: "1}", metadata },
    { type: "TOOL_CALL_END", toolCallId, timestamp: n },
  ];
  return [
    [{ type: "STEP_STARTED", stepName, ...by }],
    [{ type: "STEP_FINISHED", stepName, ...by }],
    [{ type: "SUBAGENT_STARTED", subagentRunId: "s:1", name: "one" }],
    [
      {
        type: "SUBAGENT_STARTED",
        subagentRunId: "s:2",
        name: "two",
        parentSubagentRunId: "s:1",
      },
    ],
    [{ type: "SUBAGENT_FINISHED", subagentRunId: tag ?? "s:1" }],
    [{ type: "SUBAGENT_ERROR", subagentRunId: "s:2", message: "no" }],
    [
      { type: "TEXT_MESSAGE_START", messageId, role: "assistant", name: "Ann", ...by, metadata },
      { type: "TEXT_MESSAGE_CONTENT", messageId, delta: "so ", ...by },
    ],
    [
      { type: "TEXT_MESSAGE_START", messageId, role: "user", ...by },
      { type: "TEXT_MESSAGE_CONTENT", messageId, delta: "it ", metadata },
      { type: "TEXT_MESSAGE_END", messageId, metadata: { app: { end: n } } },
    ],
    [
      { type: "REASONING_START", messageId, ...by },
      { type: "REASONING_MESSAGE_START", messageId: `y${n}`, role: "reasoning", ...by },
      { type: "REASONING_MESSAGE_CONTENT", messageId: `y${n}`, delta: "hm", timestamp: n },
    ],
    [{ type: "REASONING_END", messageId }],
    [
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "message",
        entityId: pick([`y${n - 2}`, texts[0]?.id ?? "m1", "act"], 13) ?? "act",
        encryptedValue: `e${n}`,
      },
    ],
    [
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "tool-call",
        entityId: callId,
        encryptedValue: `e${n}`,
      },
    ],
    [
      {
        type: "TOOL_CALL_START",
        toolCallId,
        toolCallName,
        ...(parentMessageId !== undefined && { parentMessageId }),
        ...by,
        metadata: {
          ...metadata,
          holdfast: { executor: toolCallName === "job" ? "provider" : "client" },
        },
      },
      ...args,
    ],
    [
      {
        type: "TOOL_CALL_START",
        toolCallId,
        toolCallName: "job",
        ...(parentMessageId !== undefined && { parentMessageId }),
        ...by,
      },
      ...args,
      {
        type: "call.answer",
        callId: toolCallId,
        outcome: n % 3 === 0 ? "error" : "ok",
        messageId: pick([`a${n}`, "a1"], 14) ?? "a",
        answer: {
          type: "parts",
          parts: [
            { type: "text", text: "see" },
            { type: "image", source: { type: "url", value: "data:,x" } },
            { type: "odd" },
          ],
        },
      },
    ],
    [
      { type: "TOOL_CALL_START", toolCallId, toolCallName: "job" },
      { type: "call.replace_arguments", callId: toolCallId, arguments: `{"a":${n}}` },
      { type: "TOOL_CALL_END", toolCallId },
    ],
    [
      { type: "TOOL_CALL_START", toolCallId, toolCallName: "job" },
      { type: "TOOL_CALL_ARGS", toolCallId, delta: "{" },
      { type: "call.replace_arguments", callId: toolCallId, arguments: `{"b":${n}}` },
    ],
    [
      {
        type: "TOOL_CALL_START",
        toolCallId,
        toolCallName: INTERRUPT_TOOL,
        metadata: {
          holdfast: { executor: "client" },
          "ag-ui": { interrupt: { id: `i${n}`, reason: "why" } },
        },
      },
      { type: "TOOL_CALL_END", toolCallId },
    ],
    [{ type: "call.annotate", callId, metadata: { app: { noted: n }, holdfast: { n } } }],
    [{ type: "call.annotate", callId, metadata: { holdfast: { n } } }],
    [{ type: "STATE_SNAPSHOT", snapshot: { n, list: [] }, ...by }],
    [{ type: "STATE_DELTA", delta: [{ op: "add", path: "/list/-", value: n }] }],
    [{ type: "STATE_DELTA", delta: [{ op: "replace", path: "/n", value: n }] }],
    [{ type: "STATE_DELTA", delta: [{ op: "odd", path: "/n" }] as never }],
    [
      {
        type: "ACTIVITY_SNAPSHOT",
        messageId: activity,
        activityType: "plan",
        content: { n, steps: [] },
        ...(n % 3 === 0 && { replace: n % 2 === 0 }),
        ...by,
        metadata,
      },
    ],
    [
      {
        type: "ACTIVITY_DELTA",
        messageId: activity,
        activityType: `plan${n % 2}`,
        patch: [{ op: "add", path: "/steps/-", value: n }],
        metadata: { app: { patched: n } },
        ...by,
      },
    ],
    [
      {
        type: "ACTIVITY_DELTA",
        messageId: activity,
        activityType: "gone",
        patch: [{ op: "remove", path: "/nowhere" }],
      },
    ],
    [
      { type: "CUSTOM", name: "ping", value: undefined as never, ...by },
      { type: "RAW", event: { odd: true }, source: "model" },
    ],
    [{ type: "round.withdraw" }],
    [{ type: "round.open" }],
  ];
}
