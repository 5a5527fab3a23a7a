import type { Call, CallMoment } from "./call.ts";
import type { Run } from "./run.ts";
import { callsOf, type SessionState } from "./state.ts";

/**
 * Whom a call or a run waits for (SPEC 11.9). `person`: somebody's decision or answer. `client`: an application that
 * runs the tool. `agent`: the attempt at work. `worker`: a process that takes up the run. `nobody`: it has ended.
 */
export interface Waiting {
  readonly kind: "person" | "client" | "agent" | "worker" | "nobody";
  /** Unix milliseconds. */
  readonly since: number;
  /** When the wait ends by itself, Unix milliseconds; absent where nothing limits it. */
  readonly until?: number;
  /** The principal who has it in hand, where there is one. */
  readonly who?: string;
  /** Of a suspended run: the calls it waits for. */
  readonly calls?: readonly string[];
  /** Of a queued run: the runs that must end first. `kind` is then what the first of them waits for. */
  readonly runs?: readonly string[];
}

/** Whom a call waits for. */
export function waitingOf(call: Call): Waiting {
  switch (call.status) {
    case "streaming":
    case "ended":
      return { kind: "agent", since: latest(call, ["proposed", "reopened"]) };
    case "gated":
      return {
        kind: "person",
        since: latest(call, ["approval_requested"]),
        ...(call.approval?.expiresAt !== undefined && { until: call.approval.expiresAt }),
      };
    case "open":
      return {
        // A manual call is offered to no machine any more (SPEC 4).
        kind: call.executor !== "client" ? "agent" : call.manual ? "person" : "client",
        since: latest(call, ["opened", "released"]),
        ...(call.deadlineAt !== undefined && { until: call.deadlineAt }),
      };
    case "claimed":
      return {
        kind: call.executor === "client" ? "client" : "agent",
        since: call.claim?.at ?? latest(call, ["claimed"]),
        ...(call.deadlineAt !== undefined && { until: call.deadlineAt }),
        ...(call.claim && { who: call.claim.by }),
      };
    case "settled":
      return { kind: "nobody", since: call.settledAt ?? latest(call, ["settled"]) };
  }
}

/** Whom a run waits for. The `since` of a run at work is when it was last queued. */
export function waitingFor(state: SessionState, run: Run): Waiting {
  return waitingBehind(state, run, new Set());
}

function waitingBehind(state: SessionState, run: Run, passed: Set<string>): Waiting {
  passed.add(run.id);
  switch (run.status) {
    case "queued": {
      const first = run.behind.map((id) => state.runs.get(id)).find((it) => it !== undefined);
      if (!first || passed.has(first.id)) return { kind: "worker", since: run.queuedAt };
      const { kind } = waitingBehind(state, first, passed);
      return { kind, since: run.queuedAt, runs: run.behind };
    }
    case "active":
      return {
        kind: "agent",
        since: run.queuedAt,
        ...(run.worker !== undefined && { who: run.worker }),
        ...(run.heldUntil !== undefined && { until: run.heldUntil }),
      };
    case "suspended": {
      const open = callsOf(state, run.id).filter((call) => call.status !== "settled");
      const waits = open
        .map((call) => ({ id: call.id, ...waitingOf(call) }))
        .sort((a, b) => rank(a) - rank(b) || a.since - b.since);
      const [first] = waits;
      if (!first) return { kind: "nobody", since: run.queuedAt };
      const { id: _, ...waiting } = first;
      return { ...waiting, calls: open.map((call) => call.id) };
    }
    case "ended":
      return { kind: "nobody", since: run.endedAt ?? run.queuedAt };
  }
}

/** A person's wait is the one to show, since no machine will end it. */
function rank(waiting: Waiting): number {
  return ["person", "client", "agent", "worker", "nobody"].indexOf(waiting.kind);
}

function latest(call: Call, what: readonly CallMoment["what"][]): number {
  const moment = call.history.findLast((it) => what.includes(it.what)) ?? call.history.at(-1);
  return moment?.at ?? 0;
}
