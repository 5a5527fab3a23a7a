import { decide, type ErrorCode } from "@holdfast/protocol";
import { INTERRUPT_TOOL, type AgUiInput } from "@holdfast/protocol/ag-ui";
import { describe, expect, it } from "vitest";
import { applied, type Desk } from "../../../../protocol/test/support/desk.ts";
import { plan, said, thread, user } from "./planning.ts";

describe("12.2.6 resume entries", () => {
  const paying = (more: object = {}) =>
    thread({ c1: "pay" }, { args: '{"to":"bo"}', ...more }).desk;
  const idOf = (desk: Desk, callId = "c1") => desk.call(callId).approval?.id ?? callId;
  const entry = (interruptId: string, more: object = {}) => ({
    interruptId,
    status: "resolved" as const,
    ...more,
  });
  it.each<[string, object, object]>([
    ["resolved", {}, { approved: true }],
    ["with a payload", { payload: { note: 1 } }, { approved: true, payload: { note: 1 } }],
    ["approved", { payload: { approved: true } }, { approved: true, payload: { approved: true } }],
    [
      "denied, with a reason",
      { payload: { approved: false, reason: "no", arguments: { to: "x" } } },
      {
        approved: false,
        reason: "no",
        payload: { approved: false, reason: "no", arguments: { to: "x" } },
      },
    ],
    ["cancelled", { status: "cancelled" }, { approved: false }],
    ["false", { payload: false }, { approved: true, payload: false }],
    [
      "edited",
      { payload: { editedArguments: { to: "al" } } },
      { approved: true, arguments: '{"to":"al"}', payload: { editedArguments: { to: "al" } } },
    ],
    [
      "edited, as text",
      { payload: { arguments: '{"to": "al"}' } },
      { approved: true, arguments: '{"to": "al"}', payload: { arguments: '{"to": "al"}' } },
    ],
    [
      "the arguments that were shown",
      { payload: { arguments: { to: "bo" } } },
      { approved: true, payload: { arguments: { to: "bo" } } },
    ],
  ])("%s", (_, more, expected) => {
    const desk = paying();
    const id = idOf(desk);
    expect(said(desk, { resume: [entry(id, more)] })).toEqual([
      { type: "call.decide", callId: "c1", approvalId: id, ...expected },
      { request: { callId: "c1" } },
    ]);
  });

  it.each<[string, object, object]>([
    ["resolved", {}, { outcome: "ok", answer: { type: "json", value: null } }],
    ["with 0", { payload: 0 }, { outcome: "ok", answer: { type: "json", value: 0 } }],
    [
      "cancelled",
      { status: "cancelled", payload: "busy" },
      { outcome: "error", declined: true, answer: { type: "json", value: "busy" } },
    ],
  ])("an interrupt that is no approval: %s", (_, more, expected) => {
    const { desk } = thread({ c1: INTERRUPT_TOOL });
    expect(said(desk, { resume: [entry("c1", more)] })).toEqual([
      { type: "call.answer", callId: "c1", ...expected },
      { request: { callId: "c1" } },
    ]);
  });

  it.each<[string, (ids: string[]) => AgUiInput["resume"], ErrorCode]>([
    ["missing", ([a = ""]) => [entry(a)], "calls_pending"],
    ["repeated", ([a = "", b = ""]) => [entry(a), entry(b), entry(a)], "invalid_request"],
    ["invented", ([a = "", b = ""]) => [entry(a), entry(b), entry("x")], "unknown_call"],
  ])("12.2.7 %s", (_, entries, code) => {
    const { desk } = thread({ c1: "pay", c2: "pay" });
    const resume = entries([idOf(desk, "c1"), idOf(desk, "c2")]) ?? [];
    expect(said(desk, { resume })).toBe(code);
  });

  it("12.2.7 names what is missing", () => {
    const { desk, runId } = thread({ c1: "pay", c2: "pay", c3: "page" });
    const made = plan(desk, { resume: [entry(idOf(desk, "c1"))] });
    expect("refused" in made && made.refused.details).toEqual({
      runId,
      calls: ["c1", "c2", "c3"],
      interrupts: [idOf(desk, "c1"), idOf(desk, "c2")],
    });
  });

  it("12.2.7 expired", () => {
    const desk = paying({ tools: { approvalMs: 10 } });
    const id = idOf(desk);
    desk.tick(10);
    expect(said(desk, { resume: [entry(id)] })).toBe("stale_decision");
    expect(said(desk, { resume: [entry(id, { status: "cancelled" })] })).toHaveLength(2);
    desk.timer({ type: "approval", callId: "c1" } as never);
    expect(desk.call("c1").outcome).toBe("expired");
    expect(said(desk, { resume: [entry(id, { status: "cancelled" })] })).toEqual([
      { request: { runId: desk.call("c1").runId } },
    ]);
  });

  it("12.2.7 what has come true already is no news; another word is decided, and refused", () => {
    const desk = paying();
    const id = idOf(desk);
    const body = { callId: "c1", approvalId: id, approved: true } as const;
    applied(desk.user({ type: "call.decide", ...body }, "bo"));
    const { runId } = desk.call("c1");
    expect(said(desk, { resume: [entry(id)] })).toEqual([{ request: { runId } }]);
    const made = plan(desk, { resume: [entry(id, { status: "cancelled" })] });
    const [first] = "steps" in made ? made.steps : [];
    const verdict = first && decide(desk.draft, first.command, desk.env("user:ana"));
    expect(verdict?.error?.code).toBe("stale_decision");
  });

  it("12.2.8 a message does not pass over an interrupt", () => {
    const desk = paying();
    const messages = [user("m2", "next")];
    expect(said(desk, { messages })).toBe("calls_pending");
    expect(said(desk, { messages, resume: [entry(idOf(desk))] })).toHaveLength(3);
    applied(desk.user({ type: "policy.set", policy: { whilePending: "queue" } }));
    expect(said(desk, { messages })).toHaveLength(2);
  });

  it("12.2.8 other calls are passed over as the policy says", () => {
    const { desk } = thread({ c1: "page" });
    expect(said(desk, { messages: [user("m2", "next")] })).toHaveLength(2);
  });

  it("12.2.9 nothing new, and calls that wait", () => {
    const { desk, runId } = thread({ c1: "page", c2: "pay" });
    expect(said(desk, {})).toBe("calls_pending");
    applied(desk.user({ type: "call.cancel", callId: "c1" }));
    expect(said(desk, {})).toEqual([{ request: { runId } }]);
  });
});
