import { createHash } from "node:crypto";
import { waitingOf } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { applied, proposal, type Desk } from "../support/desk.ts";
import { approvalOf, atWork, OK } from "../cases/support.ts";

const PAGE = { name: "page", executor: "client" } as const;
const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");

function claim(desk: Desk, callId: string, force = false): string {
  const verdict = applied(desk.user({ type: "call.claim", callId, ...(force && { force }) }));
  return verdict.claimId ?? "";
}

describe("4.5 claims", () => {
  it("a call that may have run stays manual though its next holder lets it go", () => {
    const { desk, agent } = atWork([PAGE]);
    agent.append(...proposal("c1", "page"), { type: "round.close" });
    desk.timer({ type: "claim", callId: "c1", claimId: claim(desk, "c1") });
    const claimId = claim(desk, "c1", true);
    expect(desk.entries.at(-1)?.event).toMatchObject({ type: "call.claimed", forced: true });
    applied(desk.user({ type: "call.release", callId: "c1", claimId }));
    expect(desk.call("c1")).toMatchObject({ status: "open", manual: true });
    expect(desk.user({ type: "call.claim", callId: "c1" }).error?.code).toBe("retry_unsafe");
  });

  it("3.3.6 a call that is claimed and let go for ever keeps how it began and what came last", () => {
    const { desk, agent } = atWork([PAGE]);
    agent.append(...proposal("c1", "page"), { type: "round.close" });
    for (let times = 200; times > 0; times -= 1) {
      desk.tick(1);
      const claimId = claim(desk, "c1");
      applied(desk.user({ type: "call.release", callId: "c1", claimId }));
    }
    const { history, pastClaims } = desk.call("c1");
    expect([history.length, pastClaims?.length]).toEqual([64, 8]);
    const what = history.map((moment) => moment.what);
    expect(what.slice(0, 4)).toEqual(["proposed", "ended", "opened", "claimed"]);
    expect(what.slice(-2)).toEqual(["claimed", "released"]);
    expect(history.at(-1)?.at).toBe(desk.now());
    expect(waitingOf(desk.call("c1"))).toMatchObject({ kind: "client", since: desk.now() });
  });

  it("a call claimed before its round closed gets its deadline when it is let go", () => {
    const { desk, agent } = atWork([{ name: "job", deadlineMs: 100 }]);
    agent.append(...proposal("c1", "job"));
    const { claimId = "" } = applied(agent.command({ type: "call.claim", callId: "c1" }));
    agent.append({ type: "round.close" });
    expect(desk.call("c1").deadlineAt).toBeUndefined();
    applied(agent.command({ type: "call.release", callId: "c1", claimId }));
    expect(desk.call("c1")).toMatchObject({ status: "open", deadlineAt: desk.now() + 100 });
  });

  it("an agent's claim outlives its attempt, and its answer resumes the run", () => {
    const { desk, runId, agent } = atWork([{ name: "job" }]);
    agent.append(...proposal("c1", "job"));
    const { claimId = "" } = applied(agent.command({ type: "call.claim", callId: "c1" }));
    desk.timer({ type: "lease", runId, attempt: 1 });
    expect(desk.run(runId).status).toBe("suspended");
    applied(agent.command({ type: "call.renew", callId: "c1", claimId }));
    applied(agent.command({ type: "call.answer", callId: "c1", claimId, ...OK }));
    expect(desk.run(runId).status).toBe("queued");
    expect(desk.call("c1").outcome).toBe("ok");
  });

  it("a claim that is asked for again in a later attempt is the same claim", () => {
    const { desk, runId, agent } = atWork([{ name: "pay", approval: "always" }]);
    agent.append(...proposal("c1", "pay"));
    agent.finish();
    const body = { callId: "c1", approvalId: approvalOf(desk, "c1"), approved: true } as const;
    applied(desk.user({ type: "call.decide", ...body }));
    desk.start(runId);
    const second = desk.agent(runId);
    const first = applied(second.command({ type: "call.claim", callId: "c1" }));
    const again = applied(second.command({ type: "call.claim", callId: "c1" }));
    expect(again).toMatchObject({ claimId: first.claimId, repeated: true });
  });
});

describe("4.7 approvals", () => {
  it("an attempt that never claims may still ask, and then does not hold the call", () => {
    const { desk, agent } = atWork([{ name: "job" }], { claims: false });
    agent.append(...proposal("c1", "job"));
    expect(desk.call("c1").status).toBe("claimed");
    applied(agent.append({ type: "call.ask", callId: "c1", approvalId: "a1" }));
    expect(desk.call("c1").status).toBe("ended");
    agent.append({ type: "round.close" });
    expect(desk.call("c1")).toMatchObject({ status: "gated", approval: { id: "a1" } });
    expect(desk.call("c1").pastClaims).toBeUndefined();
  });

  it("a request for other arguments than the call has now is asked for anew", () => {
    const { desk, agent } = atWork([{ name: "job" }]);
    const asked = { reason: "dear", signed: true, metadata: { own: 1 } } as const;
    agent.append(...proposal("c1", "job", '{"a":1'), { type: "call.ask", callId: "c1", ...asked });
    const before = desk.call("c1").approval;
    applied(
      agent.append(
        { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "job" },
        { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "}" },
        { type: "TOOL_CALL_END", toolCallId: "c1" },
        { type: "round.close" },
      ),
    );
    const { status, approval, invalid } = desk.call("c1");
    expect({ status, invalid }).toEqual({ status: "gated", invalid: undefined });
    expect(approval).toMatchObject({ by: "agent", ...asked });
    expect(approval?.id).not.toBe(before?.id);
    expect(approval?.digest).toBe(desk.env("user:ana").digest('{"a":1}'));
  });

  it("an approval expires counted from when the call is gated", () => {
    const { desk, agent } = atWork([{ name: "job", approvalMs: 100 }]);
    agent.append(...proposal("c1", "job"), { type: "call.ask", callId: "c1" });
    desk.tick(1_000);
    agent.append({ type: "round.close" });
    expect(desk.call("c1").approval?.expiresAt).toBe(desk.now() + 100);
  });

  it("a policy that is not known asks", () => {
    const later = { name: "job", approval: "predicate" as "always" };
    const { desk, agent } = atWork([later]);
    agent.append(...proposal("c1", "job"), { type: "round.close" });
    expect(desk.call("c1").status).toBe("gated");
  });

  it("an edit that is fine lifts what was wrong with the arguments", () => {
    const tool = { ...PAGE, parameters: { required: ["a"] }, approval: "always" as const };
    const { desk, agent } = atWork([tool], { policy: { invalidArguments: "offer" } });
    agent.append(...proposal("c1", "page", "{}"), { type: "round.close" });
    expect(desk.call("c1").invalid).toBeDefined();
    const body = { callId: "c1", approvalId: approvalOf(desk, "c1"), approved: true } as const;
    applied(desk.user({ type: "call.decide", ...body, arguments: '{"a":1}' }));
    expect(desk.call("c1")).toMatchObject({ status: "open", arguments: '{"a":1}' });
    expect(desk.call("c1").invalid).toBeUndefined();
    // Both texts are on the record, and the digest of the one that was approved.
    const decided = { approved: true, edited: { from: "{}" }, digest: digestOf('{"a":1}') };
    expect(desk.call("c1").approval).toMatchObject({ digest: digestOf("{}"), decision: decided });
  });

  it.each([{ note: "later" }, null, 0, ""])("4.7.9 a decision keeps its payload: %j", (payload) => {
    const { desk, agent } = atWork([{ ...PAGE, approval: "always" }]);
    agent.append(...proposal("c1", "page", "{}"), { type: "round.close" });
    const body = { callId: "c1", approvalId: approvalOf(desk, "c1"), approved: false } as const;
    applied(desk.user({ type: "call.decide", ...body, payload }));
    expect(desk.call("c1").approval?.decision).toStrictEqual({
      approved: false,
      by: "user:ana",
      at: 1e3,
      digest: digestOf("{}"),
      payload,
    });
  });

  it("a framework may say that arguments are invalid before they end", () => {
    const { desk, agent } = atWork([{ name: "job" }]);
    applied(
      agent.append(
        { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "job" },
        { type: "call.invalidate", callId: "c1", error: { message: "Not in the schema." } },
        { type: "TOOL_CALL_END", toolCallId: "c1" },
        { type: "round.close" },
      ),
    );
    expect(desk.call("c1")).toMatchObject({
      reason: "invalid_arguments",
      message: "Not in the schema.",
    });
  });
});
