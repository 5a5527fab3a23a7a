import type { AgentItem } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { applied, proposal } from "../support/desk.ts";
import { approvalOf, atWork, OK, roundTrip } from "../cases/support.ts";

const JOB = { name: "job" };
const PAGE = { name: "page", executor: "client" } as const;

describe("5.7 steps", () => {
  it("a repeat of the batch that began a step names its attempt, until another begins a newer one", () => {
    const { desk, runId, agent } = atWork([]);
    const first = { id: "x", type: "step.start", ...agent.fence(), stepId: "s" } as const;
    const actor = desk.env("agent:demo", { runId, attempt: 1 });
    expect(desk.decide(first, actor)).toMatchObject({ stepAttempt: 1 });
    expect(desk.decide(first, actor)).toMatchObject({ repeated: true, stepAttempt: 1 });
    expect(applied(desk.agent(runId, 1, "side").startStep("s")).stepAttempt).toBe(2);
    const late = desk.decide(first, actor);
    expect(late).toMatchObject({ status: "applied", repeated: true });
    expect(late.stepAttempt).toBeUndefined();
  });

  it("what an older attempt of a step wrote leaves the state, live and on reload, and no other's", () => {
    const { desk, runId, agent } = atWork([JOB, PAGE]);
    const text = (messageId: string) =>
      [
        { type: "round.open" },
        { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
        { type: "TEXT_MESSAGE_CONTENT", messageId, delta: messageId },
      ] as const;
    for (const id of ["a", "b"]) {
      applied(agent.startStep(id));
      applied(agent.step(id).append(...text(id), ...proposal(`call-${id}`, "job")));
    }
    applied(agent.endStep("a"));
    applied(agent.startStep("a"));
    applied(agent.step("a").append(...text("a2")));
    const texts = [...desk.state.items.values()].filter(({ kind }) => kind === "text");
    expect(texts.map(({ id }) => id)).toEqual(["b", "a2"]);
    expect(desk.call("call-a")).toMatchObject({ outcome: "superseded", withdrawn: true });
    expect(desk.call("call-b")).toMatchObject({ status: "ended" });
    expect(Object.keys(roundTrip(desk).items)).toEqual([...desk.state.items.keys()]);
    expect(desk.run(runId).openRounds).toHaveLength(3);
  });

  it("a message begins again in its own step only, and so does a call", () => {
    const { desk, agent } = atWork([JOB]);
    agent.append({ type: "round.close" });
    const start = { type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" } as const;
    const call = { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "job" } as const;
    const end = { type: "TOOL_CALL_END", toolCallId: "c" } as const;
    applied(agent.startStep("a"));
    applied(agent.step("a").append(start, { type: "TEXT_MESSAGE_END", messageId: "t" }, call, end));
    applied(agent.startStep("b"));
    const { skipped } = agent.step("b").append(start, call);
    expect(skipped?.map(({ error }) => error.code)).toEqual(["sequence_violation"]);
    expect([...desk.state.calls.values()].map(({ rev, stepId }) => [rev, stepId])).toEqual([
      [1, "a"],
      [1, "b"],
    ]);
    applied(agent.step("a").append(start));
  });

  describe("5.7.8 what a step began is its own to go on with", () => {
    const said = { type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "x" } as const;
    const more = { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" } as const;
    const items: AgentItem[] = [
      said,
      { type: "TEXT_MESSAGE_END", messageId: "t" },
      more,
      { type: "TOOL_CALL_END", toolCallId: "c" },
      { type: "call.replace_arguments", callId: "c", arguments: "{}" },
      { type: "call.invalidate", callId: "c", error: { message: "No." } },
      { type: "call.invalidate", callId: "e", error: { message: "No." } },
      { type: "call.ask", callId: "e" },
    ];
    const begun: AgentItem[] = [
      { type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" },
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "job" },
      ...proposal("e", "job"),
    ];
    const where = ["no step", "a", "b"] as const;
    const pairs = where.flatMap((mine) => where.map((other) => [mine, other] as const));

    it.each(pairs)("begun in %s, gone on with in %s", (mine, other) => {
      const { desk, agent } = atWork([JOB]);
      for (const id of ["a", "b"]) applied(agent.startStep(id));
      const at = (step: (typeof where)[number]) => (step === "no step" ? agent : agent.step(step));
      applied(at(mine).append(...begun));
      const entries = desk.entries.length;
      const { skipped = [] } = at(other).append(...items);
      if (mine === other) {
        // Once ended, nothing more is said of its arguments but that they are invalid, or to be asked for.
        expect(skipped.map(({ index }) => index)).toEqual([4]);
      } else {
        expect(skipped.map(({ error }) => error.code)).toEqual(
          items.map(() => "sequence_violation"),
        );
        expect(desk.entries.length).toBe(entries);
      }
      const use: AgentItem[] = [
        { type: "call.annotate", callId: "e", metadata: { app: 1 } },
        { type: "call.progress", callId: "e", progress: 1 },
        { type: "call.answer", callId: "e", ...OK },
      ];
      const used = at(other).append(...use);
      expect(used.skipped).toBeUndefined();
    });

    it("nor does its next attempt go on with it", () => {
      const { agent } = atWork([JOB]);
      applied(agent.startStep("a"));
      applied(agent.step("a").append(...begun));
      applied(agent.startStep("a"));
      const codes = agent
        .step("a")
        .append(...items)
        .skipped?.map(({ error }) => error.code);
      const call = "call_settled";
      const message = "sequence_violation";
      expect(codes).toEqual([message, message, ...Array.from({ length: 6 }, () => call)]);
    });
  });

  it("5.7.9 batches are told apart by producer and number alone, so that a step's attempts share no name", () => {
    const { desk, runId, agent } = atWork([]);
    const note = (value: number) => ({ type: "CUSTOM", name: "note", value }) as const;
    applied(agent.startStep("a"));
    const late = desk.agent(runId, 1, "shared").step("a", 1);
    const own = desk.agent(runId, 1, "own").step("a", 1);
    const unsent = { id: "u", type: "run.append", ...late.fence(), items: [note(1)] } as const;
    applied(agent.startStep("a"));
    // Under a name of its own, the older attempt hears that it is over.
    expect(own.append(note(1)).error?.code).toBe("attempt_fenced");
    applied(desk.agent(runId, 1, "shared").step("a", 2).append(note(2)));
    const actor = desk.env("agent:demo", { runId, attempt: 1 });
    expect(desk.decide(unsent, actor)).toMatchObject({ status: "applied", repeated: true });
  });

  it("4.4.5 what a step said outside its rounds closes with it", () => {
    const { desk, agent } = atWork([JOB, PAGE]);
    applied(agent.startStep("a"));
    const streaming = { type: "TOOL_CALL_START", toolCallId: "c3", toolCallName: "job" } as const;
    applied(agent.step("a").append(...proposal("c1", "page"), ...proposal("c2", "job"), streaming));
    const { claimId = "" } = applied(agent.command({ type: "call.claim", callId: "c2" }));
    expect(desk.call("c1").status).toBe("ended");
    applied(agent.endStep("a"));
    expect(["c1", "c2", "c3"].map((id) => desk.call(id).reason ?? desk.call(id).status)).toEqual([
      "open",
      "claimed",
      "truncated",
    ]);
    applied(agent.command({ type: "call.release", callId: "c2", claimId }));
    expect(desk.call("c2").status).toBe("open");
  });

  it("a call that is proposed again under its id, after the step took it back, is a call of its own", () => {
    const { desk, agent } = atWork([JOB]);
    applied(agent.startStep("a"));
    applied(
      agent.step("a").append(...proposal("c", "job"), { type: "call.answer", callId: "c", ...OK }),
    );
    applied(agent.startStep("a"));
    applied(agent.step("a").append(...proposal("c", "job")));
    const calls = [...desk.state.calls.values()];
    expect(calls.map((call) => call.withdrawn ?? call.status)).toEqual([true, "ended"]);
    expect(desk.entries.some(({ event }) => event.type === "call.replayed")).toBe(false);
  });

  it("several processes hold one attempt: a cancel that came first is in what they read", () => {
    const { desk, runId, agent } = atWork([JOB]);
    agent.append(...proposal("c", "job"));
    applied(desk.user({ type: "call.cancel", callId: "c" }));
    const side = desk.agent(runId, 1, "side");
    applied(side.startStep("b"));
    const { skipped } = side.step("b").append({ type: "call.answer", callId: "c", ...OK });
    expect(skipped?.[0]?.error.code).toBe("call_settled");
    expect(side.command({ type: "call.claim", callId: "c" }).error?.code).toBe("call_settled");
  });
});

describe("5.8 steering", () => {
  it("a message that a withdrawn round or an older step read waits again, and is read once more", () => {
    const { desk, runId, agent } = atWork([]);
    const steers = () => desk.run(runId).steers?.map(({ consumed }) => consumed);
    const read = () => [...desk.state.items.values()].filter(({ kind }) => kind === "steer");
    desk.send("s1", { whileActive: "steer" });
    applied(agent.append({ type: "round.open" }));
    expect(steers()).toEqual([true]);
    applied(agent.append({ type: "round.withdraw" }));
    expect([steers(), read().length]).toEqual([[undefined], 0]);
    applied(agent.startStep("a"));
    applied(agent.step("a").append({ type: "round.open" }));
    expect(read()).toMatchObject([{ stepId: "a", stepAttempt: 1, message: { content: "s1" } }]);
    applied(agent.startStep("a"));
    expect([steers(), read().length]).toEqual([[undefined], 0]);
    applied(agent.append({ type: "round.open" }));
    expect([steers(), read().length]).toEqual([[true], 1]);
    expect(read()[0]?.stepId).toBeUndefined();
  });

  it("an unread message is reported when the attempt that was given it finishes, and when its run ends", () => {
    const { desk, runId, agent } = atWork([PAGE]);
    desk.send("s1", { whileActive: "steer" });
    agent.finish();
    expect(desk.run(runId)).toMatchObject({ status: "queued", steers: [{ messageId: "s1" }] });
    desk.start(runId);
    desk.agent(runId).append(...proposal("c", "page"));
    desk.send("s2", { whileActive: "steer" });
    desk.agent(runId).finish();
    const reports = () => desk.run(runId).steers?.map(({ consumed }) => consumed);
    expect([desk.run(runId).status, reports()]).toEqual(["suspended", [false, undefined]]);
    applied(desk.user({ type: "run.cancel", runId }));
    expect(reports()).toEqual([false, false]);
  });

  it("5.8.5 a round that names what its request holds reads just that, whatever is still to run", () => {
    const { desk, runId, agent } = atWork([{ name: "pay", approval: "always" }]);
    const steers = () => desk.run(runId).steers?.map(({ consumed }) => consumed);
    applied(agent.append({ type: "round.open" }, ...proposal("c", "pay"), { type: "round.close" }));
    for (const id of ["s1", "s2", "s3"]) desk.send(id, { whileActive: "steer" });
    const approvalId = approvalOf(desk, "c");
    applied(desk.user({ type: "call.decide", callId: "c", approvalId, approved: true }));
    // An approved call is to run first, and none is named: all wait on.
    applied(agent.append({ type: "round.open" }));
    applied(agent.append({ type: "round.open", steers: [] }));
    expect(steers()).toEqual([undefined, undefined, undefined]);
    // Names are taken once, in the order of the log, and what nobody sent means nothing.
    applied(agent.append({ type: "round.open", steers: ["s2", "nobody", "m1", "s2"] }));
    expect(steers()).toEqual([undefined, true, undefined]);
    applied(agent.append({ type: "round.open", steers: ["s2", "s3", "s1"] }));
    expect(steers()).toEqual([true, true, true]);
    const read = [...desk.state.items.values()].filter((item) => item.kind === "steer");
    expect(read.map(({ message, round }) => [message.id, round])).toEqual([
      ["s2", 5],
      ["s1", 6],
      ["s3", 6],
    ]);
  });

  it("it answers with the run that is steered, which is where the view goes on", () => {
    const { desk, runId } = atWork([]);
    expect(desk.send("s1", { whileActive: "steer" })).toBe(runId);
    expect(desk.send("s2", { whileActive: "steer" })).toBe(runId);
    const parents = ["s1", "s2"].map((id) => desk.state.messages.get(id)?.parentId);
    expect(parents).toEqual([runId, "s1"]);
    const next = desk.send("m2");
    expect(desk.run(next)).toMatchObject({ parentId: "m2", behind: [runId] });
  });
});
