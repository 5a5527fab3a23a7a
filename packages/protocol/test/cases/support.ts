import {
  emptyState,
  reduceAll,
  toOffset,
  type Answer,
  type ToolDeclaration,
} from "@holdfast/protocol";
import { applied, openDesk, type Desk, type DeskOptions } from "../support/desk.ts";
import { rowsOf } from "../support/photograph.ts";

export const OK = { outcome: "ok", answer: { type: "text", text: "done" } } as const;

/** A desk whose only run is at work, in its first round. */
export function atWork(tools: ToolDeclaration[], options: DeskOptions = {}) {
  const desk = openDesk({ tools, ...options });
  const runId = desk.send("m1");
  desk.start(runId);
  const agent = desk.agent(runId);
  applied(agent.append({ type: "round.open" }));
  return { desk, runId, agent };
}

export function approvalOf(desk: Desk, callId: string): string {
  return desk.call(callId).approval?.id ?? "";
}

export function byHolder(callId: string, answer: Answer) {
  return { type: "call.answer", callId, outcome: "ok", answer } as const;
}

/** What a reader makes of the log after it went over a wire. */
export function roundTrip(desk: Desk) {
  const reader = emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
  reduceAll(reader, JSON.parse(JSON.stringify(desk.entries)));
  return rowsOf(reader);
}
