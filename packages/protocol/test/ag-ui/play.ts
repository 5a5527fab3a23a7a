import type { ToolDeclaration } from "@holdfast/protocol";
import type { AgUiEvent, Peer } from "@holdfast/protocol/ag-ui";
import { openDesk, type Desk, type DeskOptions } from "../support/desk.ts";
import { copy, follow } from "./client.ts";
import { watch } from "./reader.ts";

export const TOOLS: ToolDeclaration[] = [
  { name: "search" },
  { name: "page", executor: "client" },
  { name: "gated", approval: "always", approvalMs: 60_000 },
];

/** A session with one run at work. */
export function atWork(options: DeskOptions = {}) {
  const desk = openDesk({ tools: TOOLS, ...options });
  const runId = desk.send("m1");
  desk.start(runId);
  return { desk, runId, agent: desk.agent(runId) };
}

/** Everything that a reader was sent who watched a desk's session from the beginning. */
export function played({ entries }: Pick<Desk, "entries">, peer: Peer = "1.0"): AgUiEvent[] {
  return copy(watch(copy(entries), { peer }).live.flat());
}

/** What it holds then; its verifier took it all. */
export async function held(desk: Pick<Desk, "entries">, peer: Peer = "1.0") {
  return follow(played(desk, peer), { peer });
}

export function typesOf(events: readonly AgUiEvent[]): string {
  return events.map(({ type }) => type).join(" ");
}

export function ofType<T extends AgUiEvent["type"]>(
  events: readonly AgUiEvent[],
  type: T,
): Extract<AgUiEvent, { type: T }>[] {
  return events.filter((event): event is Extract<AgUiEvent, { type: T }> => event.type === type);
}
