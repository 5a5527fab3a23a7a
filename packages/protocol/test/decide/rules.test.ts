import {
  emptyState,
  reduceAll,
  toOffset,
  type AgentItem,
  type Answer,
  type Policy,
  type ToolRule,
} from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { applied, proposal, type Desk } from "../support/desk.ts";
import { approvalOf, atWork, byHolder, OK, roundTrip } from "../cases/support.ts";

const JOB = { name: "job" };
const PAGE = { name: "page", executor: "client" } as const;

function underRules(tools: ToolRule[], more: Partial<Policy> = {}, asks = JOB as object) {
  return atWork([{ ...JOB, ...asks }, PAGE], { policy: { tools, ...more } });
}

function decide(desk: Desk, callId: string, more: object = {}, name = "ana") {
  const approvalId = approvalOf(desk, callId);
  return desk.user({ type: "call.decide", callId, approvalId, approved: true, ...more }, name);
}

describe("5.10 rules", () => {
  const when = (required: string[]) => ({ when: { required } });
  it.each<[string, ToolRule[], object, string, string]>([
    ["no rule", [], {}, "{}", "open"],
    ["always", [{ tool: "job", approval: "always" }], {}, "{}", "gated"],
    ["any tool", [{ tool: "*", approval: "always" }], {}, "{}", "gated"],
    [
      "its own before any tool's",
      [
        { tool: "*", approval: "always" },
        { tool: "job", approval: "never" },
      ],
      {},
      "{}",
      "open",
    ],
    [
      "never, and the agent's tool asks",
      [{ tool: "job", approval: "never" }],
      { approval: "always" },
      "{}",
      "gated",
    ],
    [
      "always, and the agent's tool does not",
      [{ tool: "job", approval: "always" }],
      { approval: "never" },
      "{}",
      "gated",
    ],
    [
      "arguments that fit",
      [{ tool: "job", approval: when(["amount"]) }],
      {},
      '{"amount":1}',
      "gated",
    ],
    ["arguments that do not", [{ tool: "job", approval: when(["amount"]) }], {}, "{}", "open"],
    ["empty arguments", [{ tool: "job", approval: when([]) }], {}, "", "gated"],
    [
      "a schema that cannot be used",
      [{ tool: "job", approval: { when: { unusable: true } } }],
      {},
      "{}",
      "gated",
    ],
  ])("%s", (_, rules, tool, args, status) => {
    const { desk, agent } = underRules(rules, {}, tool);
    agent.append(...proposal("c", "job", args), { type: "round.close" });
    expect(desk.call("c").status).toBe(status);
  });

  it("arguments that are no JSON cannot be judged: offered as they are, they ask", () => {
    const rules = [{ tool: "job", approval: when(["amount"]) }];
    const { desk, agent } = underRules(rules, { invalidArguments: "offer" });
    agent.append(...proposal("c", "job", '{"amount"'), { type: "round.close" });
    expect(desk.call("c").status).toBe("gated");
  });

  it("4.7.1 a provider's call asks only where its agent does, whatever rule or declaration there is", () => {
    const { desk, agent } = underRules(
      [{ tool: "*", approval: "always" }],
      {},
      { sideEffects: true },
    );
    const metadata = { holdfast: { executor: "provider" } };
    for (const callId of ["c", "d"]) {
      const [start, ...rest] = proposal(callId, "job");
      agent.append({ ...start, metadata } as AgentItem, ...rest);
    }
    agent.append({ type: "call.ask", callId: "d" }, { type: "round.close" });
    expect([desk.call("c").status, desk.call("d").status]).toEqual(["open", "gated"]);
  });

  it("C55 C56 only who may decide does, and the refusal says who may", () => {
    const rules: ToolRule[] = [
      { tool: "job", approval: "always", approvers: ["user:boss", "user:lead-*"] },
    ];
    const { desk, agent } = underRules(rules);
    agent.append(...proposal("c", "job"), ...proposal("d", "job"), { type: "round.close" });
    for (const approved of [true, false]) {
      const { error } = decide(desk, "c", { approved });
      expect(error).toMatchObject({
        code: "not_approver",
        details: { approvers: ["user:boss", "user:lead-*"] },
      });
    }
    expect(desk.call("c").status).toBe("gated");
    expect(decide(desk, "c", {}, "lead").error?.code).toBe("not_approver");
    applied(decide(desk, "c", {}, "lead-2"));
    applied(decide(desk, "d", {}, "boss"));
  });
});

describe("5.10.3 standing approvals", () => {
  it("run later calls at once, on the record, in the name of who gave them", () => {
    const { desk, runId, agent } = underRules([{ tool: "*", approval: "always" }]);
    agent.append(...proposal("c", "job"), ...proposal("p", "page"), { type: "round.close" });
    applied(decide(desk, "c", { always: true }, "bo"));
    expect(desk.call("p").status).toBe("gated");
    agent.append({ type: "round.open" }, ...proposal("d", "job"), { type: "round.close" });
    expect(desk.call("d")).toMatchObject({
      status: "open",
      approval: {
        decision: { approved: true, automatic: true, by: "server", onBehalfOf: "user:bo" },
      },
    });
    expect(desk.run(runId).news).toBe(true);
    expect(roundTrip(desk).session.grants).toEqual([{ tool: "job", by: "user:bo", at: 1_000 }]);
  });

  it("end when they are revoked, or when who gave them may not decide any more", () => {
    const rule: ToolRule = { tool: "job", approval: "always" };
    const { desk, agent } = underRules([rule]);
    const next = (id: string) => {
      agent.append({ type: "round.open" }, ...proposal(id, "job"), { type: "round.close" });
      return desk.call(id).status;
    };
    next("a");
    applied(decide(desk, "a", { always: true }));
    expect(next("b")).toBe("open");
    const policy = { tools: [{ ...rule, approvers: ["user:bo"] }] };
    applied(desk.user({ type: "policy.set", policy }));
    expect(next("c")).toBe("gated");
    applied(desk.user({ type: "policy.set", policy: { tools: [rule] } }));
    expect(next("d")).toBe("open");
    expect(applied(desk.user({ type: "approval.revoke", tool: "job" })).repeated).toBeUndefined();
    expect(next("e")).toBe("gated");
    expect(applied(desk.user({ type: "approval.revoke", tool: "job" })).repeated).toBe(true);
    expect(desk.call("b").status).toBe("open");
  });

  it("are not given by an approval that is for its call alone", () => {
    const { desk, agent } = underRules([{ tool: "job", approval: "always" }]);
    agent.append(...proposal("a", "job"), { type: "round.close" });
    applied(decide(desk, "a"));
    agent.append({ type: "round.open" }, ...proposal("b", "job"), { type: "round.close" });
    expect([desk.call("a").status, desk.call("b").status]).toEqual(["open", "gated"]);
    expect(desk.state.session.grants).toBeUndefined();
  });

  it("are not given by a denial", () => {
    const { desk, agent } = underRules([{ tool: "job", approval: "always" }]);
    agent.append(...proposal("a", "job"), { type: "round.close" });
    applied(decide(desk, "a", { approved: false, always: true }));
    expect(desk.state.session.grants).toBeUndefined();
  });

  it("are in no entry of the log that a reader could not reduce", () => {
    const reader = emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
    const entry = { offset: "test.1", at: 1, actor: "user:ana" };
    const event = { type: "approval.revoked", tool: "nothing" } as const;
    reduceAll(reader, [{ ...entry, event }]);
    expect(reader.session.grants).toEqual([]);
  });
});

describe("4.9 escalation", () => {
  it.each([
    ["gated", { approval: "always" as const }],
    ["open to a client", {}],
  ])("a call %s is escalated once, when it is due", (_, tool) => {
    const { desk, agent } = atWork([{ ...PAGE, ...tool, escalateMs: 100 }]);
    agent.append(...proposal("c", "page"), { type: "round.close" });
    const escalated = () =>
      desk.entries.filter(({ event }) => event.type === "call.escalated").length;
    const { status } = desk.call("c");
    for (const [wait, count] of [
      [99, 0],
      [1, 1],
      [500, 1],
    ] as const) {
      desk.tick(wait);
      desk.timer({ type: "escalation", callId: "c" });
      expect(escalated()).toBe(count);
    }
    expect(desk.call("c")).toMatchObject({ status, escalatedAt: 1_100 });
    if (status === "gated") applied(decide(desk, "c"));
    desk.tick(1_000);
    desk.timer({ type: "escalation", callId: "c" });
    expect(escalated()).toBe(1);
    applied(desk.user(byHolder("c", { type: "json", value: null })));
  });

  it("a call that waits for no person is not escalated", () => {
    const { desk, agent } = atWork([
      { ...JOB, escalateMs: 100 },
      { ...PAGE, escalateMs: 100 },
    ]);
    agent.append(...proposal("c", "job"), ...proposal("p", "page"), { type: "round.close" });
    applied(desk.user({ type: "call.claim", callId: "p" }));
    desk.tick(1_000);
    for (const callId of ["c", "p", "gone"]) desk.timer({ type: "escalation", callId });
    expect(desk.entries.some(({ event }) => event.type === "call.escalated")).toBe(false);
  });
});

describe("4.6.7 results", () => {
  it("a client's answer fits its tool's schema, or the call waits on", () => {
    const result = { required: ["city"] };
    const { desk, agent } = atWork([
      { ...PAGE, result },
      { ...JOB, result },
    ]);
    agent.append(...proposal("c", "page"), ...proposal("j", "job"), { type: "round.close" });
    const misfits: Answer[] = [
      { type: "json", value: {} },
      { type: "text", text: '{"city":"Oslo"}' },
      { type: "parts", parts: [] },
    ];
    for (const answer of misfits) {
      const { error } = desk.user(byHolder("c", answer));
      expect(error?.code).toBe("invalid_result");
      expect(error?.details).toEqual({ paths: answer.type === "json" ? ["/city"] : undefined });
    }
    expect(desk.call("c").status).toBe("open");
    applied(desk.user(byHolder("c", { type: "json", value: { city: "Oslo" } })));
    applied(agent.append({ type: "call.answer", callId: "j", ...OK }));
  });

  it("an error is no result", () => {
    const { desk, agent } = atWork([{ ...PAGE, result: { required: ["city"] } }]);
    agent.append(...proposal("c", "page"), { type: "round.close" });
    const answer = { type: "text", text: "no" } as const;
    applied(desk.user({ type: "call.answer", callId: "c", outcome: "error", answer }));
  });
});
