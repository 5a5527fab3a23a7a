import {
  emptyState,
  reduceAll,
  toOffset,
  toRows,
  type SessionState,
  type ToolDeclaration,
} from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { openDesk, proposal } from "./support/desk.ts";

const TOOLS: ToolDeclaration[] = [
  { name: "weather" },
  { name: "location", executor: "client" },
  { name: "transfer", approval: "always" },
];

describe("one run with three tools", () => {
  it("suspends for the people it needs and resumes once nothing is owed by others", () => {
    const desk = openDesk({ tools: TOOLS });
    const runId = desk.send("m1");
    desk.start(runId);
    const first = desk.agent(runId);
    first.append({ type: "round.open" }, { type: "TEXT_MESSAGE_START", messageId: "t1" });
    first.append({ type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: "Let me " });
    first.append({ type: "TEXT_MESSAGE_CONTENT", messageId: "t1", delta: "look." });
    first.append({ type: "TEXT_MESSAGE_END", messageId: "t1" });
    first.append(
      ...proposal("c1", "weather", '{"city":"Oslo"}'),
      ...proposal("c2", "location"),
      ...proposal("c3", "transfer", '{"amount":5}'),
    );

    const claim = first.command({ type: "call.claim", callId: "c1" });
    expect(claim.status).toBe("applied");
    expect(first.command({ type: "call.claim", callId: "c3" }).error?.code).toBe(
      "approval_required",
    );
    const answered = first.append({
      type: "call.answer",
      callId: "c1",
      claimId: claim.claimId ?? "",
      outcome: "ok",
      answer: { type: "json", value: 0 },
    });
    expect(answered.skipped).toBeUndefined();
    first.append({ type: "round.close" });
    expect(desk.call("c1")).toMatchObject({ status: "settled", outcome: "ok" });
    expect(desk.call("c2").status).toBe("open");
    expect(desk.call("c3").status).toBe("gated");
    first.finish();
    expect(desk.run(runId).status).toBe("suspended");

    const approvalId = desk.call("c3").approval?.id ?? "";
    expect(
      desk.user({ type: "call.decide", callId: "c3", approvalId: "other", approved: true }).error
        ?.code,
    ).toBe("stale_decision");
    desk.user({ type: "call.decide", callId: "c3", approvalId, approved: true }, "bo");
    expect(desk.run(runId).status).toBe("suspended");
    const held = desk.user({ type: "call.claim", callId: "c2" });
    desk.user({
      type: "call.answer",
      callId: "c2",
      claimId: held.claimId ?? "",
      outcome: "ok",
      answer: { type: "json", value: "Oslo" },
    });
    expect(desk.run(runId)).toMatchObject({ status: "queued" });

    desk.start(runId);
    const second = desk.agent(runId);
    const again = second.command({ type: "call.claim", callId: "c3" });
    second.append({
      type: "call.answer",
      callId: "c3",
      claimId: again.claimId ?? "",
      outcome: "ok",
      answer: { type: "text", text: "done" },
    });
    second.append({ type: "round.open" }, { type: "round.close" });
    second.finish();
    expect(desk.run(runId)).toMatchObject({ status: "ended", outcome: "complete" });

    const reader: SessionState = emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
    reduceAll(reader, JSON.parse(JSON.stringify(desk.entries)));
    expect(toRows(reader)).toEqual(toRows(desk.state));
  });
});
