import type { Call } from "@holdfast/protocol";
import type { Desk } from "./desk.ts";
import { isSame, photograph } from "./photograph.ts";

const DAY = 86_400_000;

/** Acts again and again, until that changes nothing. */
export function untilRest(desk: Desk, act: () => void): void {
  for (let rounds = 0; rounds < 100; rounds += 1) {
    const before = photograph(desk.state);
    act();
    if (isSame(before, photograph(desk.state))) return;
  }
  throw new Error("The machines never come to rest");
}

/** Every timer fires and every lease runs out; workers, where there are any, take up runs and finish at once. */
export function machinesAct(desk: Desk, works: boolean): void {
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
export function peopleAct(desk: Desk, choice: number): void {
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

export function openCalls(desk: Desk): Call[] {
  return [...desk.state.calls.values()].filter((call) => call.status !== "settled");
}
