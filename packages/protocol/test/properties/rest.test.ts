import { waitingFor, waitingOf, type Call } from "@holdfast/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Desk } from "../support/desk.ts";
import { isSame, photograph } from "../support/photograph.ts";
import { createCoverage } from "./coverage.ts";
import { choices, settings, walk } from "./walk.ts";

const DAY = 86_400_000;

it(
  "11.9 left alone, machines come to rest, everyone left is named, and when people act all ends",
  { timeout: 120_000 },
  () => {
    const coverage = createCoverage();
    const waited = new Set<string>();
    const property = fc.property(choices(160), fc.boolean(), fc.nat(), (numbers, works, choice) => {
      const desk = walk(numbers, { coverage });
      untilRest(desk, () => machinesAct(desk, works));
      for (const id of desk.state.index.live) {
        const { kind, runs } = waitingFor(desk.state, desk.run(id));
        waited.add(kind);
        if (works || runs) expect(["person", "client", "worker"]).toContain(kind);
        expect(kind).not.toBe("nobody");
        if (works) expect(kind).not.toBe("worker");
      }
      for (const call of openCalls(desk)) {
        expect(waitingOf(call).kind).not.toBe("nobody");
        if (works) expect(["gated", "open"]).toContain(call.status);
        // The agent's own go on once its run is owed nothing more.
        if (works && waitingOf(call).kind === "agent")
          expect(desk.run(call.runId).status).toBe("suspended");
      }
      untilRest(desk, () => {
        peopleAct(desk, choice);
        machinesAct(desk, true);
      });
      expect([...desk.state.index.live]).toEqual([]);
      expect(openCalls(desk)).toEqual([]);
    });
    fc.assert(property, settings(200));
    expect(coverage.missing()).toEqual([]);
    expect([...waited].toSorted()).toEqual(["client", "person", "worker"]);
  },
);

function untilRest(desk: Desk, act: () => void): void {
  for (let rounds = 0; rounds < 100; rounds += 1) {
    const before = photograph(desk.state);
    act();
    if (isSame(before, photograph(desk.state))) return;
  }
  throw new Error("The machines never come to rest");
}

/** Every timer fires and every lease runs out; workers, where there are any, take up runs and finish at once. */
function machinesAct(desk: Desk, works: boolean): void {
  desk.tick(DAY);
  for (const { id: callId, claim } of openCalls(desk)) {
    if (claim) desk.timer({ type: "claim", callId, claimId: claim.id });
    desk.timer({ type: "approval", callId });
    desk.timer({ type: "deadline", callId });
    desk.timer({ type: "escalation", callId });
  }
  for (const runId of desk.state.index.live) {
    if (desk.run(runId).status === "active")
      desk.timer({ type: "lease", runId, attempt: desk.run(runId).attempt });
    if (!works || desk.run(runId).wakeId === undefined) continue;
    desk.start(runId, { worker: "idle" });
    desk.agent(runId).finish();
  }
}

/** People settle whatever waits for them, one way or another. */
function peopleAct(desk: Desk, choice: number): void {
  for (const { id: callId, status, approval, executor } of openCalls(desk)) {
    const way = (choice + desk.entries.length) % 3;
    if (status === "gated") {
      const approvalId = approval?.id ?? "";
      desk.user({ type: "call.decide", callId, approvalId, approved: way > 0 });
    } else if (executor === "client" && way > 0) {
      const answer = { type: "json", value: way } as const;
      desk.user({ type: "call.answer", callId, outcome: "ok", answer });
    } else {
      desk.user({ type: "call.cancel", callId });
    }
  }
}

function openCalls(desk: Desk): Call[] {
  return [...desk.state.calls.values()].filter((call) => call.status !== "settled");
}
