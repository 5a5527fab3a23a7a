import type { Call, Run, SessionRow } from "@holdfast/protocol";
import type { Need } from "./presence.ts";

/**
 * - `work`: a queued run that may be started, by agent.
 * - `lease`: an active attempt, by agent and worker.
 * - `claim`: an explicitly claimed call. `approval`: a gated call that will not wait for ever. `deadline`: likewise
 *   an open or claimed one. `escalation`: one that waits for a person, and is told of once.
 * - `expiry`: a session that does not live for ever.
 * - `unsigned`: a session's acts of which no checkpoint was made, in case whoever was to make it is gone.
 * - `erasure`: content that is to be taken out of the log, in case whoever was at it is gone.
 * - what somebody outside is to be told: `wake`, that a run may be started; `waiting`, that a call waits for people;
 *   `escalated`, that it does for too long.
 */
export type DueKind =
  | "work"
  | "lease"
  | "claim"
  | "approval"
  | "deadline"
  | "escalation"
  | "expiry"
  | "erasure"
  | "unsigned"
  | DeliveryKind;

export type DeliveryKind = "wake" | "waiting" | "escalated";

/** Kinds that time itself acts on; `work` waits for a worker. */
export const TIMER_KINDS = [
  "lease",
  "claim",
  "approval",
  "deadline",
  "escalation",
  "expiry",
  "erasure",
  "unsigned",
] as const;

export function isTimerKind(kind: string): boolean {
  return (TIMER_KINDS as readonly string[]).includes(kind);
}

/** How long holders may be silent, in milliseconds, and which agents are told of their work. */
export interface Terms {
  readonly leaseMs: number;
  readonly claimLeaseMs: number;
  /** Default: none. */
  readonly wakes?: (agent: string) => boolean;
}

/** An index row that a run or call wants. */
export interface Wanted {
  readonly at: number;
  readonly group: string;
  /** What it is about: the row is written again only when this changes. */
  readonly holder: string;
}

/** The index rows of a run, derived from it alone; undefined where there must be none. */
export function dueOfRun(
  run: Run | undefined,
  now: number,
  terms: Terms,
): Record<"work" | "lease" | "wake", Wanted | undefined> {
  const work =
    run?.status === "queued" && run.wakeId !== undefined
      ? { at: run.queuedAt, group: run.agent, holder: run.wakeId }
      : undefined;
  const lease =
    run?.status === "active"
      ? {
          at: now + terms.leaseMs,
          group: leaseGroup(run.agent, run.worker ?? ""),
          holder: String(run.attempt),
        }
      : undefined;
  const wake = work && terms.wakes?.(work.group) ? work : undefined;
  return { work, lease, wake };
}

/** The index rows of a call, derived from it alone; undefined where there must be none. */
export function dueOfCall(
  call: Call | undefined,
  now: number,
  terms: Terms,
): Record<
  Exclude<DueKind, "work" | "lease" | "wake" | "expiry" | "erasure" | "unsigned">,
  Wanted | undefined
> {
  const claim =
    call?.status === "claimed" && call.claim && !call.claim.implicit
      ? { at: now + terms.claimLeaseMs, group: "", holder: call.claim.id }
      : undefined;
  const approval =
    call?.status === "gated" && call.approval?.expiresAt !== undefined
      ? {
          at: call.approval.expiresAt,
          group: "",
          holder: `${call.approval.id} ${call.approval.expiresAt}`,
        }
      : undefined;
  const waits = call?.status === "open" || call?.status === "claimed";
  const deadline =
    waits && call.deadlineAt !== undefined
      ? { at: call.deadlineAt, group: "", holder: String(call.deadlineAt) }
      : undefined;
  const isForPeople =
    call?.status === "gated" || (call?.status === "open" && call.executor === "client");
  const escalation =
    isForPeople && call.escalateAt !== undefined && call.escalatedAt === undefined
      ? { at: call.escalateAt, group: "", holder: String(call.escalateAt) }
      : undefined;
  const waiting = isForPeople
    ? { at: now, group: groupOfNeed(call), holder: waitOf(call) }
    : undefined;
  const escalated =
    isForPeople && call.escalatedAt !== undefined
      ? { at: call.escalatedAt, group: "", holder: String(call.escalatedAt) }
      : undefined;
  return { claim, approval, deadline, escalation, waiting, escalated };
}

/** What a call waits for people with, told apart from what it waited with before: each is told of once. */
export function waitOf({ status, approval, manual }: Call): string {
  if (status === "gated") return `approval ${approval?.id ?? ""}`;
  return manual ? "manual" : "open";
}

/** What a call that waits for people needs of one, as its row's group says it: a tool's name may have spaces. */
function groupOfNeed({ status, name }: Call): string {
  return `${status === "gated" ? "approve" : "answer"} ${name}`;
}

/** What a `waiting` row says is needed; undefined where it says nothing. */
export function needIn(group: string): Need | undefined {
  const space = group.indexOf(" ");
  const verb = group.slice(0, Math.max(space, 0));
  if (verb !== "approve" && verb !== "answer") return undefined;
  return { verb, tool: group.slice(space + 1) };
}

/** The index row of a session, derived from it alone; undefined where there must be none. */
export function dueOfSession(
  { ttlMs }: SessionRow,
  now: number,
): Record<"expiry", Wanted | undefined> {
  const expiry =
    ttlMs === undefined ? undefined : { at: now + ttlMs, group: "", holder: String(ttlMs) };
  return { expiry };
}

/** What active attempts are found by when their worker comes again. Names hold no control characters. */
export function leaseGroup(agent: string, worker: string): string {
  return `${agent}\n${worker}`;
}
