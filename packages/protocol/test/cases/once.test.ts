import { describe, expect, it } from "vitest";
import { applied, proposal } from "../support/desk.ts";
import { approvalOf, atWork, byHolder, OK, roundTrip } from "./support.ts";

const PAGE = { name: "page", executor: "client" } as const;
const PAY = { name: "pay", approval: "always" } as const;

describe("one answer, one continuation", () => {
  it("C16 the first valid answer wins, the second is told who gave it", () => {
    const { desk, agent } = atWork([PAGE]);
    agent.append(...proposal("c1", "page"));
    agent.finish();
    applied(desk.user(byHolder("c1", { type: "text", text: "mine" }), "ana"));
    const { error } = desk.user(byHolder("c1", { type: "text", text: "no, mine" }), "bo");
    expect(error).toMatchObject({
      code: "already_answered",
      details: { by: "user:ana", at: 1_000, answer: { type: "text", text: "mine" } },
    });
    const types = desk.entries.map((entry) => entry.event.type);
    expect(types.filter((type) => type === "call.answered")).toHaveLength(1);
  });

  it("C17 a call that is proposed again with its answer there is never offered", () => {
    const { desk, agent } = atWork([PAGE]);
    agent.append(...proposal("c1", "page", '{"a":1,"b":2}'), { type: "round.close" });
    applied(desk.user(byHolder("c1", { type: "text", text: "done" })));
    agent.append({ type: "round.open" }, ...proposal("c1", "page", '{ "b": 2, "a": 1 }'));
    agent.append({ type: "round.close" });
    expect([...desk.state.calls.keys()]).toEqual(["c1"]);
    expect(desk.entries.map((entry) => entry.event.type)).toContain("call.replayed");
    expect(desk.user({ type: "call.claim", callId: "c1" }).error?.code).toBe("call_settled");
  });

  it("C33 an id its provider uses again is a new call when the arguments differ", () => {
    const { desk, agent } = atWork([PAGE]);
    agent.append(...proposal("shell:0", "page", '{"a":1}'), { type: "round.close" });
    applied(desk.user(byHolder("shell:0", { type: "text", text: "one" })));
    agent.append({ type: "round.open" }, ...proposal("shell:0", "page", '{"a":2}'));
    agent.append({ type: "round.close" });
    const made = [...desk.state.calls.values()].find((call) => call.providerId === "shell:0");
    expect(made).toMatchObject({ status: "open", arguments: '{"a":2}' });
    expect(made?.id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(desk.call("shell:0").answer?.answer).toEqual({ type: "text", text: "one" });
  });

  it("C22 C23 C24 parallel calls resume the run once, when the last of them has ended", () => {
    const { desk, runId, agent } = atWork([PAGE, { ...PAGE, name: "slow" }, PAY]);
    agent.append(...proposal("c1", "page"), ...proposal("c2", "slow"), ...proposal("c3", "pay"));
    agent.finish();
    applied(desk.user(byHolder("c1", { type: "json", value: 1 })));
    desk.tick(7 * 86_400_000);
    desk.timer({ type: "deadline", callId: "c2" });
    desk.timer({ type: "approval", callId: "c3" });
    expect(desk.run(runId).status).toBe("suspended");
    const body = { callId: "c3", approvalId: approvalOf(desk, "c3"), approved: true } as const;
    applied(desk.user({ type: "call.decide", ...body }));
    expect(desk.run(runId).status).toBe("suspended");
    applied(desk.user(byHolder("c2", { type: "json", value: 2 })));
    expect(desk.run(runId).status).toBe("queued");
    const resumed = desk.entries.filter(
      ({ event }) => event.type === "run.queued" && event.reason === "barrier",
    );
    expect(resumed).toHaveLength(1);
  });

  it("C40 a decision names what was shown: an older call's button approves nothing newer", () => {
    const { desk, agent } = atWork([PAY]);
    agent.append(...proposal("a", "pay", '{"amount":1}'), ...proposal("b", "pay", '{"amount":9}'));
    agent.finish();
    const old = {
      approvalId: approvalOf(desk, "a"),
      digest: desk.call("a").approval?.digest ?? "",
    };
    applied(
      desk.user({ type: "call.decide", callId: "a", approvalId: old.approvalId, approved: false }),
    );
    for (const named of [{ approvalId: old.approvalId }, { digest: old.digest }]) {
      const { error } = desk.user({ type: "call.decide", callId: "b", ...named, approved: true });
      expect(error).toMatchObject({
        code: "stale_decision",
        details: { approvalId: approvalOf(desk, "b"), digest: desk.call("b").approval?.digest },
      });
    }
    expect(desk.call("b").status).toBe("gated");
  });

  it("C47 after a reload a decided call is decided", () => {
    const { desk, runId, agent } = atWork([PAY]);
    agent.append(...proposal("c1", "pay"));
    agent.finish();
    const body = { callId: "c1", approvalId: approvalOf(desk, "c1"), approved: true } as const;
    applied(desk.user({ type: "call.decide", ...body }, "bo"));
    desk.start(runId);
    applied(desk.agent(runId).append({ type: "call.answer", callId: "c1", ...OK }));
    desk.agent(runId).finish();
    expect(roundTrip(desk).calls["c1"]).toMatchObject({
      status: "settled",
      approval: { decision: { approved: true, by: "user:bo" } },
    });
    expect(desk.user({ type: "call.decide", ...body }).error?.code).toBe("stale_decision");
  });

  it("C57 of two decisions at once the first wins, with the identity that gave it", () => {
    const { desk, agent } = atWork([PAY]);
    agent.append(...proposal("c1", "pay"));
    agent.finish();
    const body = { callId: "c1", approvalId: approvalOf(desk, "c1") } as const;
    applied(desk.user({ type: "call.decide", ...body, approved: false }, "ana"));
    const { error } = desk.user({ type: "call.decide", ...body, approved: true }, "bo");
    expect(error).toMatchObject({
      code: "stale_decision",
      details: { decision: { approved: false, by: "user:ana" }, outcome: "denied" },
    });
    expect(desk.call("c1").approval?.decision?.by).toBe("user:ana");
  });

  it("C82 an answer is taken once the arguments are complete, while the run still streams", () => {
    const { desk, runId, agent } = atWork([PAGE]);
    agent.append(...proposal("c1", "page"));
    applied(desk.user(byHolder("c1", { type: "json", value: 1 })));
    agent.append({ type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" });
    agent.finish();
    expect(desk.call("c1").outcome).toBe("ok");
    expect(desk.run(runId)).toMatchObject({ status: "queued" });
  });

  it("C91 state moves forward only: a stale write is refused", () => {
    const { desk, agent } = atWork([PAY, PAGE]);
    agent.append(...proposal("c1", "pay"), ...proposal("c2", "page"));
    agent.finish();
    const body = { callId: "c1", approvalId: approvalOf(desk, "c1"), approved: true } as const;
    applied(desk.user({ type: "call.decide", ...body }));
    applied(desk.user(byHolder("c2", { type: "json", value: 1 })));
    const before = [desk.call("c1"), desk.call("c2")];
    expect(desk.user({ type: "call.decide", ...body, approved: false }).error?.code).toBe(
      "stale_decision",
    );
    expect(desk.user({ type: "call.cancel", callId: "c2" }).error?.code).toBe("call_settled");
    expect([desk.call("c1"), desk.call("c2")]).toEqual(before);
  });
});
