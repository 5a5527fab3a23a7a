import type { Call, Entry, Run, SessionState } from "@holdfast/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Desk } from "../support/desk.ts";
import { createCoverage } from "./coverage.ts";
import { choices, settings, walk } from "./walk.ts";

it(
  "11.3 a call has one answer and one end, an ended run never changes, and no run starts unready",
  { timeout: 120_000 },
  () => {
    const coverage = createCoverage();
    const property = fc.property(choices(160), (numbers) => {
      const seen = createMemory();
      const desk = walk(numbers, { coverage, onStep: (at) => seen.check(at) });
      expectOneEnd(desk.entries);
    });
    fc.assert(property, settings(200));
    expect(coverage.missing()).toEqual([]);
  },
);

/** Remembers what may not change any more, and checks each new state against it. */
function createMemory() {
  const settled = new Map<string, Call>();
  const ended = new Map<string, readonly unknown[]>();
  let checked = 0;
  return {
    check({ state, entries }: Desk): void {
      for (const [id, before] of settled) {
        const now = state.calls.get(id);
        if (now !== before && !isAnew(before, now)) expect(endOf(now)).toEqual(endOf(before));
      }
      for (const [id, rows] of ended) {
        const now = rowsOfRun(state, id);
        if (now.some((row, at) => row !== rows[at]) || now.length !== rows.length)
          expect(now).toEqual(rows);
      }
      for (const call of state.calls.values()) {
        if (call.status === "settled") settled.set(call.id, call);
        if (!isAllowed(call)) expect(call).toBe("executed only after its decision");
      }
      for (const run of state.runs.values()) {
        if (run.status === "ended" && !ended.has(run.id))
          ended.set(run.id, rowsOfRun(state, run.id));
        expectSound(state, run);
        if (run.steps || run.steers) expectStepsSound(state, run);
      }
      const [first, ...more] = entries.slice(checked);
      if (first && more.length === 0) expectReady(state, first);
      checked = entries.length;
    },
  };
}

/** The step that answered answers anew, which only its newer attempt does. */
function isAnew({ answer: before }: Call, now: Call | undefined): boolean {
  const { answer, status, withdrawn } = now ?? {};
  if (!before || !answer || before.offset === answer.offset) return false;
  expect({ status, withdrawn, messageId: answer.messageId, stepId: answer.stepId }).toEqual({
    status: "settled",
    withdrawn: undefined,
    messageId: before.messageId,
    stepId: before.stepId ?? "a step",
  });
  expect(answer.stepAttempt).toBeGreaterThan(before.stepAttempt ?? 0);
  return true;
}

function endOf(call: Call | undefined): unknown {
  if (!call) return undefined;
  const { status, outcome, reason, message, answer, settledAt, settledBy, approval } = call;
  return { status, outcome, reason, message, answer, settledAt, settledBy, approval };
}

function rowsOfRun(state: SessionState, runId: string): readonly unknown[] {
  const parts = state.index.parts.get(runId) ?? [];
  return [
    state.runs.get(runId),
    ...parts.map(({ kind, id }) => (kind === "item" ? state.items : state.calls).get(id)),
  ];
}

/** A call that asks for a decision is claimed, open or answered well only after a person approved it. */
function isAllowed(call: Call): boolean {
  const { approval = call.tool?.sideEffects ? "always" : "never" } = call.tool ?? {};
  const isRuled = call.name === "ruled-job";
  if ((approval === "never" && !isRuled) || call.executor === "provider") return true;
  const free = call.status === "claimed" || call.status === "open" || call.outcome === "ok";
  const { decision } = call.approval ?? {};
  if (isRuled && decision) expect([decision.by, decision.onBehalfOf]).toContain("user:ana");
  return !free || (decision?.approved ?? false);
}

function expectSound(state: SessionState, run: Run): void {
  for (const id of run.behind) expect(state.runs.get(id)?.status).not.toBe("ended");
  const startable = run.status === "queued" && run.behind.length === 0;
  if (startable !== (run.wakeId !== undefined))
    expect(run).toBe("startable exactly with a wake id");
  if (run.status !== "active" && run.openRounds.length > 0) expect(run).toBe("without open rounds");
  const owed = [...state.calls.values()].some(
    (call) => call.runId === run.id && call.status !== "settled" && !isAgents(call),
  );
  if (run.status === "queued" && owed) expect(run).toBe("not queued while others owe");
  if (run.status === "suspended" && !owed) expect(run).toBe("suspended only while others owe");
}

/** What an older attempt of a step wrote has left, a step has one open round, and a message is read once. */
function expectStepsSound(state: SessionState, run: Run): void {
  const latest = new Map(run.steps?.map(({ id, attempt }) => [id, attempt]));
  const open = new Set<string>();
  const read: string[] = [];
  for (const { kind, id } of state.index.parts.get(run.id) ?? []) {
    const row = (kind === "item" ? state.items : state.calls).get(id);
    const isOlder = row?.stepId !== undefined && row.stepAttempt !== latest.get(row.stepId);
    if (!row || (isOlder && !("withdrawn" in row))) expect(row).toBe("of a step's latest attempt");
    else if ("kind" in row && row.kind === "steer") read.push(row.message.id);
    else if ("kind" in row && row.kind === "round" && row.status === "open") {
      if (open.has(row.stepId ?? "")) expect(row).toBe("the only open round of its step");
      open.add(row.stepId ?? "");
    }
  }
  const steers = run.steers ?? [];
  expect(read.toSorted()).toEqual(
    steers.flatMap(({ messageId, consumed }) => (consumed ? [messageId] : [])).toSorted(),
  );
  if (run.status === "ended")
    expect(steers.filter(({ consumed }) => consumed === undefined)).toEqual([]);
}

/** Open to the agent's side: no reason to wait. */
function isAgents(call: Call): boolean {
  return call.status === "open" && call.executor !== "client";
}

function expectReady(state: SessionState, entry: Entry): void {
  if (entry.event.type !== "attempt.started") return;
  const open = [...state.calls.values()].filter(
    (call) => call.runId === entry.runId && call.status !== "settled" && !isAgents(call),
  );
  expect(open).toEqual([]);
}

function expectOneEnd(entries: readonly Entry[]): void {
  const ends = new Map<string, number>();
  const wakes = new Set<string>();
  for (const { event } of entries) {
    const isEnd =
      event.type === "call.answered" ||
      event.type === "call.settled" ||
      (event.type === "call.decided" && !event.approved);
    if (isEnd) ends.set(event.callId, (ends.get(event.callId) ?? 0) + 1);
    if (event.type !== "run.queued" || event.wakeId === undefined) continue;
    if (wakes.has(event.wakeId)) expect(event.wakeId).toBe("used once");
    wakes.add(event.wakeId);
  }
  expect([...ends.entries()].filter(([, count]) => count > 1)).toEqual([]);
}
