/**
 * A session by the tables alone: what becomes of calls and runs, in as few words as that takes. Imports nothing of what
 * it is compared with. Every round closes in the batch that proposes its calls.
 */
export const TERMS = { lease: 30_000, claim: 20_000, approval: 47_000, deadline: 57_000 } as const;

export const TOOLS = {
  job: { side: "agent" },
  "safe-job": { side: "agent", safe: true },
  "gated-job": { side: "agent", gate: true },
  page: { side: "client" },
  "safe-page": { side: "client", safe: true },
  "timed-page": { side: "client", timed: true },
  "gated-page": { side: "client", gate: true },
} as const satisfies Record<string, Tool>;
export type ToolName = keyof typeof TOOLS;

interface Tool {
  readonly side: "client" | "agent";
  readonly safe?: boolean;
  readonly gate?: boolean;
  readonly timed?: boolean;
}

/** Who acts: a person, or an attempt. */
export interface Who {
  readonly name: string;
  readonly run?: string;
  readonly attempt?: number;
}

/** When something runs out. What a server forgets when it stops, `until`, is a full term from when it looks. */
interface Due {
  row: number;
  until: number | undefined;
  readonly term: number;
}

export interface RefCall {
  readonly id: string;
  readonly run: string;
  readonly tool: Tool;
  /** The step attempt it was proposed in; 0 for none. */
  readonly step: number;
  status: "gated" | "open" | "claimed" | "settled";
  outcome?: string;
  claim?: { id: string; by: string; attempt?: number; implicit?: true; due?: Due };
  readonly past: string[];
  manual?: true;
  withdrawn?: true;
  decided?: boolean;
  /** When it opened last, and in which attempt where that was the attempt's own doing. */
  opened: number;
  openedIn?: number;
  expires?: number;
  deadline?: number;
  settledBy?: string;
  answer?: { value: number; attempt?: number; step: number; when: number; ok: boolean };
}

export interface RefRun {
  readonly id: string;
  status: "held" | "queued" | "active" | "suspended" | "ended";
  outcome?: string;
  behind: string[];
  attempt: number;
  started: number;
  losses: number;
  news: boolean;
  claims: boolean;
  due?: Due;
  step: number;
  stepIn: number;
  /** When its answers were last read: by a round of no step, or by the barrier. */
  read: number;
  /** The same by a round of its step. */
  readInStep: number;
}

export interface Reference {
  now: number;
  /** Counts what happens. */
  moment: number;
  readonly calls: Map<string, RefCall>;
  readonly runs: Map<string, RefRun>;
}

/** A refusal's code; or that it was done, or had been. */
export type Said = string;
export const DONE = "applied";

export function callsOf(ref: Reference, run: string): RefCall[] {
  return [...ref.calls.values()].filter((call) => call.run === run);
}

export function runOf(ref: Reference, id: string): RefRun {
  const run = ref.runs.get(id);
  if (!run) throw new Error(`The model has no run ${id}.`);
  return run;
}

export function isBlocked(ref: Reference, run: string): boolean {
  return callsOf(ref, run).some(
    ({ status, tool }) => status !== "settled" && !(status === "open" && tool.side === "agent"),
  );
}

export function isCurrent(ref: Reference, who: Who): boolean {
  const run = who.run === undefined ? undefined : ref.runs.get(who.run);
  return run?.status === "active" && run.attempt === who.attempt;
}

export function settle(ref: Reference, call: RefCall, outcome: string, who: Who): void {
  if (call.claim) call.past.push(call.claim.id);
  delete call.claim;
  call.status = "settled";
  call.outcome = outcome;
  call.settledBy = who.name;
  tell(ref, call, who);
}

/** What others do to a call is news to its agent. */
export function tell(ref: Reference, call: RefCall, who: Who): void {
  const run = runOf(ref, call.run);
  const isOwn = who.run === run.id && who.attempt === run.attempt;
  if (run.status !== "ended" && !isOwn) run.news = true;
}

export function open(ref: Reference, call: RefCall, who: Who): void {
  call.status = "open";
  call.opened = ref.moment += 1;
  delete call.openedIn;
  if (who.run === call.run && who.attempt !== undefined) call.openedIn = who.attempt;
}

export function releaseTo(ref: Reference, call: RefCall, who: Who): void {
  if (call.claim) call.past.push(call.claim.id);
  delete call.claim;
  open(ref, call, who);
  if (call.tool.side === "agent") tell(ref, call, who);
}

export function startDeadline(ref: Reference, call: RefCall): void {
  if (call.tool.timed) call.deadline = ref.now + TERMS.deadline;
}

export function barrier(ref: Reference, id: string): void {
  const run = runOf(ref, id);
  if (run.status !== "suspended" || isBlocked(ref, id)) return;
  run.status = "queued";
  run.read = ref.moment += 1;
}

export function next(ref: Reference, run: RefRun, isLost: boolean): void {
  delete run.due;
  const isRunnable = callsOf(ref, run.id).some(({ status }) => status === "open");
  if (isBlocked(ref, run.id)) run.status = "suspended";
  else if (isLost || run.news || isRunnable) run.status = "queued";
  else endRun(ref, run, "complete");
}

export function endRun(ref: Reference, run: RefRun, outcome: string, calls = "abandoned"): void {
  for (const call of callsOf(ref, run.id)) {
    if (call.status !== "settled") settle(ref, call, calls, { name: "" });
  }
  run.status = "ended";
  run.outcome = outcome;
  delete run.due;
  for (const other of ref.runs.values()) {
    other.behind = other.behind.filter((id) => id !== run.id);
    if (other.status === "held" && other.behind.length === 0) other.status = "queued";
  }
}
