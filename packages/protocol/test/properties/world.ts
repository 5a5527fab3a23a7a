import type { Call, Policy, Run, ToolDeclaration, Verdict } from "@holdfast/protocol";
import type { Desk } from "../support/desk.ts";

/** One thing that may happen next. `pair` names the state it meets and what it is, for coverage. */
export interface Move {
  readonly pair: string;
  readonly act: () => Verdict | undefined;
}

/** Where moves are collected; a main one carries a session forward and is taken more often. */
export interface Moves {
  readonly main: Move[];
  readonly all: Move[];
}

export const TOOLS: ToolDeclaration[] = [
  { name: "job" },
  { name: "safe-job", retry: "safe", deadlineMs: 60_000 },
  { name: "gated-job", approval: "always", approvalMs: 60_000 },
  { name: "page", executor: "client", parameters: { required: ["a"] } },
  { name: "safe-page", executor: "client", retry: "safe" },
  { name: "gated-page", executor: "client", sideEffects: true },
  { name: "timed-page", executor: "client", deadlineMs: 60_000, escalateMs: 30_000 },
  { name: "ruled-job", approval: "never", escalateMs: 30_000 },
];

/** Small enough to be met: a budget, and rules of the operator's. */
export const POLICY: Partial<Policy> = {
  budget: { rounds: 12, repeats: 4 },
  tools: [
    { tool: "ruled-job", approval: "always", approvers: ["user:ana"] },
    { tool: "safe-page", approval: { when: { required: ["a"] } } },
  ],
};

export const TOOL_NAMES = [...TOOLS.map((tool) => tool.name), "provided", "nowhere"];
export const ARGUMENTS = ['{"a":1}', "{}", '{"a":', "", "[1]", "null"];
export const PEOPLE = ["ana", "bo"];
export const PRODUCERS = ["main", "side"];
/** Few ids, so that providers use them again. */
export const CALL_IDS = ["p:0", "p:1", "p:2"];

export function phaseOf(run: Run): string {
  return run.status === "queued" && run.behind.length > 0 ? "held" : run.status;
}

/** The call an attempt's events under an id mean, if that is this one. */
export function isNamed(desk: Desk, call: Call): boolean {
  return !desk.state.index.aliases.has(`${call.runId}/${call.id}`);
}

/** The last few of a list: sessions grow, and only the newest are of interest. */
export function newest<T>(items: Iterable<T>, count: number): T[] {
  return [...items].slice(-count);
}
