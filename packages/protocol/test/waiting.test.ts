import { waitingFor, waitingOf, type ToolDeclaration } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { openDesk, proposal } from "./support/desk.ts";

const TOOLS: ToolDeclaration[] = [
  { name: "weather" },
  { name: "location", executor: "client", deadlineMs: 5_000 },
  { name: "transfer", approval: "always", approvalMs: 9_000 },
];

describe("whom calls and runs wait for", () => {
  it("names the worker, the agent, people and clients in turn, and nobody at the end", () => {
    const desk = openDesk({ tools: TOOLS });
    const runId = desk.send("m1");
    const run = () => waitingFor(desk.state, desk.run(runId));
    const call = (id: string) => waitingOf(desk.call(id));
    expect(run()).toEqual({ kind: "worker", since: 1_000 });

    desk.tick(10);
    desk.start(runId);
    expect(run()).toEqual({ kind: "agent", since: 1_000, who: "w1" });

    const agent = desk.agent(runId);
    agent.command({ type: "run.heartbeat", runId, attempt: 1, until: 60_000 });
    expect(run()).toEqual({ kind: "agent", since: 1_000, who: "w1", until: 60_000 });
    agent.append({ type: "round.open" }, ...proposal("c1", "location"));
    expect(call("c1")).toEqual({ kind: "agent", since: 1_010 });
    desk.tick(10);
    agent.append(...proposal("c2", "transfer"), { type: "round.close" });
    agent.finish();
    expect(call("c1")).toEqual({ kind: "client", since: 1_020, until: 6_020 });
    expect(call("c2")).toEqual({ kind: "person", since: 1_020, until: 10_020 });
    expect(run()).toEqual({ kind: "person", since: 1_020, until: 10_020, calls: ["c1", "c2"] });

    desk.tick(10);
    desk.user({ type: "call.claim", callId: "c1" }, "bo");
    expect(call("c1")).toEqual({ kind: "client", since: 1_030, until: 6_020, who: "user:bo" });

    desk.user({ type: "call.decide", callId: "c2", approved: true, digest: digestOf("c2") });
    expect(call("c2")).toMatchObject({ kind: "agent", since: 1_030 });
    expect(run()).toMatchObject({ kind: "client" });

    desk.user({ type: "call.cancel", callId: "c1" });
    expect(call("c1")).toEqual({ kind: "nobody", since: 1_030 });
    expect(run()).toEqual({ kind: "worker", since: 1_030 });
    desk.user({ type: "run.cancel", runId });
    expect(run()).toEqual({ kind: "nobody", since: 1_030 });

    function digestOf(id: string): string {
      return desk.call(id).approval?.digest ?? "";
    }
  });

  it("says that a manual call waits for a person", () => {
    const desk = openDesk({ tools: TOOLS });
    const runId = desk.send("m1");
    desk.start(runId);
    desk.agent(runId).append(...proposal("c1", "location"));
    desk.agent(runId).finish();
    expect(waitingOf({ ...desk.call("c1"), manual: true })).toMatchObject({ kind: "person" });
  });

  it("says of a queued run what the run before it waits for", () => {
    const desk = openDesk({ tools: TOOLS });
    const first = desk.send("m1");
    desk.start(first);
    const second = desk.send("m2");
    expect(waitingFor(desk.state, desk.run(second))).toEqual({
      kind: "agent",
      since: 1_000,
      runs: [first],
    });
  });
});
