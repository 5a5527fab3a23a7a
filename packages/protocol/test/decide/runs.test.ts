import { describe, expect, it } from "vitest";
import { applied, openDesk, proposal } from "../support/desk.ts";
import { atWork, byHolder, OK } from "../cases/support.ts";

describe("5.3 what becomes of a run", () => {
  it("calls before the first round belong to none: a loss closes them, it does not take them back", () => {
    const desk = openDesk({ tools: [{ name: "page", executor: "client" }, { name: "job" }] });
    const runId = desk.send("m1");
    desk.start(runId);
    const agent = desk.agent(runId);
    agent.append(...proposal("c1", "page"), ...proposal("c2", "job"));
    agent.append({ type: "TOOL_CALL_START", toolCallId: "c3", toolCallName: "job" });
    agent.append({ type: "round.open" }, ...proposal("c4", "job"));
    desk.timer({ type: "lease", runId, attempt: 1 });
    const ends = ["c1", "c2", "c3", "c4"].map((id) => desk.call(id).reason ?? desk.call(id).status);
    expect(ends).toEqual(["open", "open", "truncated", "round_superseded"]);
    expect(desk.run(runId).status).toBe("suspended");
  });

  it("the calls of a closing round are settled, gated or opened after it closed, in order", () => {
    const { desk, agent } = atWork([
      { name: "page", executor: "client" },
      { name: "pay", approval: "always" },
    ]);
    agent.append(...proposal("c1", "page"), ...proposal("c2", "pay"), {
      type: "TOOL_CALL_START",
      toolCallId: "c3",
      toolCallName: "page",
    });
    const from = desk.entries.length;
    agent.append({ type: "round.close" });
    expect(desk.entries.slice(from).map(({ event }) => event.type)).toEqual([
      "round.closed",
      "call.opened",
      "call.approval_requested",
      "call.gated",
      "call.settled",
    ]);
  });

  it("a run that its attempt left for a person's answer resumes once, though both calls end at once", () => {
    const { desk, runId, agent } = atWork([{ name: "page", executor: "client" }]);
    agent.append(...proposal("c1", "page"), ...proposal("c2", "page"));
    agent.finish();
    applied(desk.user(byHolder("c1", { type: "json", value: 1 })));
    applied(desk.user({ type: "call.cancel", callId: "c2" }));
    const { wakeId } = desk.run(runId);
    expect(desk.user({ type: "call.cancel", callId: "c2" }).error?.code).toBe("call_settled");
    expect(desk.run(runId).wakeId).toBe(wakeId);
  });

  it("what the attempt does itself is no news to it", () => {
    const { desk, runId, agent } = atWork([{ name: "job" }]);
    agent.append(...proposal("c1", "job"), ...proposal("c2", "job"));
    agent.append({ type: "call.answer", callId: "c1", ...OK });
    applied(agent.command({ type: "call.cancel", callId: "c2" }));
    expect(desk.run(runId).news).toBe(false);
    agent.finish();
    expect(desk.run(runId)).toMatchObject({ status: "ended", outcome: "complete" });
  });

  it("nothing requeues for ever: what an attempt was given and left is closed", () => {
    const { desk, runId, agent } = atWork([{ name: "pay", approval: "always" }]);
    agent.append(...proposal("c1", "pay"));
    agent.finish();
    const approvalId = desk.call("c1").approval?.id ?? "";
    applied(desk.user({ type: "call.decide", callId: "c1", approvalId, approved: true }));
    desk.start(runId);
    desk.agent(runId).finish();
    expect(desk.call("c1")).toMatchObject({ outcome: "error", reason: "unanswered" });
    expect(desk.run(runId).status).toBe("ended");
  });

  it("finishing resets the count of losses", () => {
    const desk = openDesk({ tools: [{ name: "page", executor: "client" }] });
    const runId = desk.send("m1");
    for (const _ of [1, 2, 3]) {
      desk.start(runId);
      desk.timer({ type: "lease", runId, attempt: desk.run(runId).attempt });
    }
    desk.start(runId);
    desk.agent(runId).append(...proposal("c1", "page"));
    desk.agent(runId).finish();
    expect(desk.run(runId)).toMatchObject({ status: "suspended", losses: 0 });
  });
});

describe("5.6 messages and the runs before them", () => {
  it("replacing ends the last run first, so that none is freed only to end", () => {
    const desk = openDesk();
    desk.start(desk.send("m1"));
    desk.send("m2");
    desk.send("m3");
    const from = desk.entries.length;
    desk.send("m4", { whileActive: "replace" });
    const queued = desk.entries.slice(from).filter(({ event }) => event.type === "run.queued");
    expect(queued).toHaveLength(1);
    expect([...desk.state.index.live]).toHaveLength(1);
  });

  it("abandoning frees what waited behind the run, in its turn", () => {
    const { desk, runId, agent } = atWork([{ name: "page", executor: "client" }]);
    agent.append(...proposal("c1", "page"));
    agent.finish();
    const waiting = desk.send("m2", { whilePending: "queue" });
    expect(desk.run(waiting).behind).toEqual([runId]);
    const last = desk.send("m3");
    expect(desk.run(runId)).toMatchObject({ outcome: "complete", reason: "abandoned" });
    expect(desk.run(waiting)).toMatchObject({ behind: [], wakeId: expect.any(String) });
    expect(desk.run(last)).toMatchObject({ behind: [waiting] });
  });

  it("a message with the id of a node there is refused, a run's id too", () => {
    const desk = openDesk();
    const runId = desk.send("m1");
    for (const messageId of ["m1", runId]) {
      const body = { type: "message.send", messageId, content: "" } as const;
      expect(desk.user(body).error?.code).toBe("message_exists");
    }
    const lost = { type: "message.send", messageId: "m2", content: "", parentId: "m9" } as const;
    expect(desk.user(lost).error?.code).toBe("unknown_node");
  });
});
