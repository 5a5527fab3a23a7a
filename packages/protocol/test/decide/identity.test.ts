import { toSessionId } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { applied, openDesk, proposal } from "../support/desk.ts";
import { atWork, byHolder, OK, roundTrip } from "../cases/support.ts";

const PAGE = { name: "page", executor: "client" } as const;
const JOB = { name: "job" } as const;

describe("4.8 whose call an id means", () => {
  it("C92 tools that clients advertised are session state, and bind the calls that name them", () => {
    const desk = openDesk();
    const tools = [{ name: "map", deadlineMs: 5 }];
    applied(desk.user({ type: "tools.advertise", tools }, "bo"));
    expect(roundTrip(desk).session.advertised).toMatchObject([{ by: "user:bo", version: 1 }]);
    const runId = desk.send("m1");
    desk.start(runId);
    desk.agent(runId).append(...proposal("c1", "map"));
    expect(desk.call("c1")).toMatchObject({ executor: "client", tool: { deadlineMs: 5 } });
  });

  it("a call that was taken back is proposed anew under the same id, not taken for a replay", () => {
    const { desk, runId, agent } = atWork([PAGE]);
    agent.append(...proposal("c1", "page"), { type: "round.withdraw" }, { type: "round.open" });
    agent.append(...proposal("c1", "page"));
    desk.timer({ type: "lease", runId, attempt: 1 });
    desk.start(runId);
    desk
      .agent(runId)
      .append({ type: "round.open" }, ...proposal("c1", "page"), { type: "round.close" });
    const calls = [...desk.state.calls.values()];
    expect(calls.map((call) => call.outcome ?? call.status)).toEqual([
      "superseded",
      "superseded",
      "open",
    ]);
  });

  it("an id means the call of the attempt's own run, when several runs use it at once", () => {
    const { desk, runId, agent } = atWork([PAGE]);
    agent.append(...proposal("p:0", "page", '{"n":0}'), { type: "round.close" });
    applied(desk.user(byHolder("p:0", { type: "json", value: 0 })));
    const other = desk.send("m2", { whileActive: "concurrent" });
    desk.start(other);
    const start = { type: "TOOL_CALL_START", toolCallId: "p:0", toolCallName: "page" } as const;
    applied(agent.append({ type: "round.open" }, start));
    applied(desk.agent(other).append({ type: "round.open" }, start));
    applied(agent.append({ type: "TOOL_CALL_ARGS", toolCallId: "p:0", delta: '{"run":1}' }));
    applied(desk.agent(other).append({ type: "TOOL_CALL_ARGS", toolCallId: "p:0", delta: "{}" }));
    const args = (id: string) =>
      [...desk.state.calls.values()].find((call) => call.runId === id && call.providerId)
        ?.arguments;
    expect([args(runId), args(other)]).toEqual(['{"run":1}', "{}"]);
  });

  it("4.8.4 a further use of an id is compared with its first and its newest 256", () => {
    const { desk, agent } = atWork([JOB], { policy: { budget: { rounds: 9, repeats: 999 } } });
    const use = (n: number) => agent.append(...proposal("p:0", "job", `{"n":${n}}`));
    for (let n = 0; n < 300; n += 1) {
      applied(use(n));
      applied(agent.append({ type: "call.answer", callId: "p:0", ...OK }));
    }
    const replayed = (n: number) => {
      const before = desk.state.calls.size;
      applied(use(n));
      applied(agent.append({ type: "call.answer", callId: "p:0", ...OK }));
      return desk.state.calls.size === before;
    };
    // The use itself is the newest: 255 are left to compare it with.
    expect([0, 45, 299].map(replayed)).toEqual([true, true, true]);
    expect([44, 1].map(replayed)).toEqual([false, false]);
  });

  it("a replay that was dropped leaves the id with the call before it", () => {
    const { desk, runId, agent } = atWork([JOB]);
    const answer = { type: "call.answer", callId: "p:0", ...OK } as const;
    for (const args of ['{"n":1}', '{"n":2}']) {
      applied(agent.append({ type: "round.open" }, ...proposal("p:0", "job", args), answer));
    }
    agent.append({ type: "round.open" }, ...proposal("p:0", "job", '{"n":1}'));
    const args = [...desk.state.calls.values()].map((call) => call.arguments);
    expect(args).toEqual(['{"n":1}', '{"n":2}']);
    const meant = toSessionId(desk.state, runId, "p:0");
    expect(desk.call(meant).arguments).toBe('{"n":2}');
  });

  it("an attempt has no say in another run's calls, ended or not", () => {
    const { desk, runId, agent } = atWork([PAGE, JOB]);
    agent.append(...proposal("c1", "page"), {
      type: "TOOL_CALL_START",
      toolCallId: "c2",
      toolCallName: "job",
    });
    const other = desk.send("m2", { whileActive: "concurrent" });
    desk.start(other);
    const before = [desk.call("c1"), desk.call("c2")];
    const { skipped } = desk
      .agent(other)
      .append(
        { type: "call.annotate", callId: "c1", metadata: { codec: {} } },
        { type: "call.ask", callId: "c1" },
        { type: "call.invalidate", callId: "c1", error: { message: "no" } },
        { type: "call.replace_arguments", callId: "c2", arguments: "{}" },
        { type: "call.progress", callId: "c1", progress: 1 },
        { type: "call.answer", callId: "c1", ...OK },
      );
    expect(skipped?.map(({ error }) => error.code)).toEqual([
      "unknown_call",
      "unknown_call",
      "unknown_call",
      "unknown_call",
      "not_executor",
      "not_executor",
    ]);
    applied(desk.user({ type: "run.cancel", runId }));
    const ended = desk.call("c1");
    applied(
      desk.agent(other).append({
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "tool-call",
        entityId: "c1",
        encryptedValue: "x",
      }),
    );
    expect(desk.call("c1")).toBe(ended);
    expect(before).toMatchObject([{ status: "ended" }, { status: "streaming" }]);
  });

  it("a call and a message may share an id: taking the round back takes each for what it is", () => {
    const { desk, runId, agent } = atWork([JOB]);
    agent.append({ type: "TEXT_MESSAGE_START", messageId: "same", role: "assistant" });
    agent.append(...proposal("same", "job"), { type: "round.withdraw" });
    expect(desk.state.items.has("same")).toBe(false);
    expect(desk.call("same")).toMatchObject({ outcome: "superseded", withdrawn: true });
    expect(desk.state.index.parts.get(runId)).toMatchObject([{ kind: "call", id: "same" }]);
  });
});

describe("2.1 messages of a run", () => {
  it("a message goes on as what it began, in the round it began in", () => {
    const { agent } = atWork([]);
    applied(agent.append({ type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" }));
    const codes = (verdict: ReturnType<typeof agent.append>) =>
      verdict.skipped?.map(({ error }) => error.code);
    expect(
      codes(
        agent.append(
          { type: "REASONING_MESSAGE_CONTENT", messageId: "t", delta: "hm" },
          { type: "REASONING_MESSAGE_END", messageId: "t" },
          { type: "TEXT_MESSAGE_END", messageId: "t" },
          { type: "REASONING_MESSAGE_START", messageId: "t", role: "reasoning" },
        ),
      ),
    ).toEqual(["sequence_violation", "sequence_violation", "sequence_violation"]);
    applied(agent.append({ type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" }));
    const again = { type: "TEXT_MESSAGE_START", messageId: "t", role: "assistant" } as const;
    expect(codes(agent.append({ type: "round.open" }, again))).toEqual(["sequence_violation"]);
  });

  it("no message takes an id that the reduction gives to rounds", () => {
    const { desk, runId, agent } = atWork([]);
    for (const messageId of [`round:${runId}:2`, "event:test.1", "steer:m2"]) {
      const start = { type: "TEXT_MESSAGE_START", messageId, role: "assistant" } as const;
      expect(agent.append(start).skipped).toHaveLength(1);
    }
    applied(agent.append({ type: "round.open" }));
    expect(desk.state.items.get(`round:${runId}:2`)?.kind).toBe("round");
  });
});
