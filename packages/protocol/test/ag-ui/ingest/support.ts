import type { AgentItem } from "@holdfast/protocol";
import { createAgUiEncoder, type AgUiScope } from "@holdfast/protocol/ag-ui";
import { applied, openDesk, type DeskOptions } from "../../support/desk.ts";

/** What a stream of the thread `s1` and the run `run` says between its start and its end. */
export const STARTED = { type: "RUN_STARTED", threadId: "s1", runId: "run" };
export const FINISHED = { type: "RUN_FINISHED", threadId: "s1", runId: "run" };

export function text(messageId: string, ...deltas: string[]): object[] {
  return [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta })),
    { type: "TEXT_MESSAGE_END", messageId },
  ];
}

export function call(toolCallId: string, toolCallName: string, args = "{}", more = {}): object[] {
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName, ...more },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: args },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}

export function result(toolCallId: string, content: unknown, messageId = `r-${toolCallId}`) {
  return { type: "TOOL_CALL_RESULT", messageId, toolCallId, content };
}

export function interrupted(...interrupts: object[]) {
  return { ...FINISHED, outcome: { type: "interrupt", interrupts } };
}

/** The encoder of a stream, and what it makes of events. */
export function encode(events: readonly unknown[], scope: Partial<AgUiScope> = {}) {
  const encoder = createAgUiEncoder({ runId: "r1", attempt: 1, ...scope });
  const items = events.flatMap((event) => encoder.encode(event));
  return { encoder, items };
}

/** Only what goes to the history: no rounds, no annotations. */
export function contentOf(items: readonly AgentItem[]): AgentItem[] {
  return items.filter(({ type }) => !type.startsWith("round.") && type !== "run.annotate");
}

/** A session whose agent is an AG-UI one that never claims, with its run at work. */
export function session(options: DeskOptions & { readonly clientTools?: string[] } = {}) {
  const desk = openDesk({ claims: false, ...options });
  const tools = (options.clientTools ?? []).map((name) => ({ name }));
  if (tools.length > 0) applied(desk.user({ type: "tools.advertise", tools }));
  const runId = desk.send("m1");
  desk.start(runId);

  /** What an attempt's stream comes to in the session. */
  function stream(events: readonly unknown[], scope: Partial<AgUiScope> = {}) {
    const { attempt, clientTools = [] } = desk.run(runId);
    const used = new Set([...desk.state.items.keys(), ...desk.state.messages.keys()]);
    const usedCalls = new Set(desk.state.calls.keys());
    const { encoder, items } = encode(events, {
      runId,
      attempt,
      isUsed: (id, what) => (what === "call" ? usedCalls : used).has(id),
      clientTools: clientTools.map(({ name }) => name),
      ...scope,
    });
    const verdict = desk.agent(runId).append(...items);
    return { encoder, items, skipped: verdict.skipped ?? [] };
  }

  return {
    desk,
    runId,
    stream,
    agent: () => desk.agent(runId),
    run: () => desk.run(runId),
    texts: () => [...desk.state.items.values()].flatMap((it) => ("text" in it ? [it.text] : [])),
  };
}
