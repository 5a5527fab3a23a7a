import {
  copyState,
  findActivation,
  fromRows,
  MAX_REQUESTS,
  requestedId,
  toRows,
  type CommandBody,
  type RunRequestCommand,
} from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { approvalOf, atWork, byHolder, roundTrip } from "../cases/support.ts";
import { applied, openDesk, proposal, type Desk } from "../support/desk.ts";
import { photograph, rowsOf } from "../support/photograph.ts";

const PAGE = { name: "page", executor: "client" } as const;

function request(
  requestId: string,
  of: RunRequestCommand["of"],
  more: Partial<RunRequestCommand> = {},
): CommandBody {
  return { type: "run.request", requestId, digest: `digest of ${requestId}`, of, ...more };
}

/** A run that waits for a client's answer. */
function suspended(desk: Desk, runId: string, callId = "c1") {
  const agent = desk.agent(runId);
  applied(agent.append({ type: "round.open" }, ...proposal(callId, "page")));
  applied(agent.finish());
}

describe("12.1 requests", () => {
  it("12.1.2 mean the activation under way, else the next", () => {
    const desk = openDesk({ tools: [PAGE] });
    const runId = desk.send("m1");
    const ask = (id: string, of: RunRequestCommand["of"]) =>
      applied(desk.user(request(id, of))).activation;
    expect(ask("queued", { messageId: "m1" })).toBe(1);
    desk.start(runId);
    expect(ask("active", { runId })).toBe(1);
    suspended(desk, runId);
    expect(ask("suspended", { callId: "c1" })).toBe(2);
    applied(desk.user(byHolder("c1", { type: "text", text: "here" })));
    expect(ask("queued again", { callId: "c1" })).toBe(2);
    desk.start(runId);
    expect(ask("active again", { messageId: "m1" })).toBe(2);
    applied(desk.agent(runId).finish());
    expect(desk.user(request("late", { runId })).error?.code).toBe("run_ended");
  });

  it("12.1.1 a lost or released attempt does not end an activation", () => {
    const desk = openDesk({ tools: [PAGE] });
    const runId = desk.send("m1");
    desk.start(runId);
    const ask = (id: string) => applied(desk.user(request(id, { runId }))).activation;
    desk.timer({ type: "lease", runId, attempt: 1 });
    expect(ask("lost")).toBe(1);
    desk.start(runId);
    applied(desk.agent(runId).command({ type: "run.release", ...desk.agent(runId).fence() }));
    expect(ask("released")).toBe(1);
    desk.start(runId);
    expect([desk.run(runId).attempt, ask("third")]).toEqual([3, 1]);
    suspended(desk, runId);
    expect(ask("suspended")).toBe(4);
  });

  it("12.1.1 a lost attempt whose run others owe something has ended its activation", () => {
    const { desk, runId, agent } = atWork([PAGE]);
    applied(agent.append(...proposal("c1", "page"), { type: "round.close" }));
    desk.timer({ type: "lease", runId, attempt: 1 });
    expect(desk.run(runId).status).toBe("suspended");
    expect(applied(desk.user(request("r", { runId }))).activation).toBe(2);
  });

  it("12.1.2 a message that steers means the run it steers", () => {
    const { desk, runId } = atWork([]);
    desk.send("m2", { whileActive: "steer" });
    expect(applied(desk.user(request("r", { messageId: "m2" })))).toMatchObject({ runId });
  });

  it("12.1.3 the same again is repeated, whatever became of the run", () => {
    const { desk, runId, agent } = atWork([]);
    applied(desk.user(request("r", { runId })));
    applied(agent.finish());
    const { head } = desk.state;
    expect(desk.user(request("r", { runId }), "bo")).toMatchObject({
      status: "applied",
      repeated: true,
      runId,
      activation: 1,
    });
    const other = desk.user(request("r", { runId }, { digest: "another" }));
    expect(other.error).toMatchObject({
      code: "key_reused",
      details: { runId, activation: 1, by: "user:ana" },
    });
    expect(desk.state.head).toBe(head);
  });

  it("12.1.3 an id that an attempt has by itself is nobody else's", () => {
    const { desk, runId } = atWork([]);
    for (const id of [`${runId}:1`, `${runId}:7`])
      expect(desk.user(request(id, { runId })).error?.code).toBe("key_reused");
    applied(desk.user(request("other-run:1", { runId })));
    applied(desk.user(request(`${runId}:one`, { runId })));
  });

  it.each([
    [{ messageId: "none" }, "unknown_node"],
    [{ callId: "none" }, "unknown_call"],
    [{ runId: "none" }, "unknown_run"],
  ] as const)("12.1.2 of what there is not: %j", (of, code) => {
    const { desk } = atWork([]);
    expect(desk.user(request("r", of)).error?.code).toBe(code);
  });

  it("12.1.4 a run keeps the newest input that was brought", () => {
    const { desk, runId } = atWork([]);
    const input = {
      state: null,
      context: [],
      forwardedProps: 0,
      parentRunId: "",
      instructions: [1],
    };
    applied(desk.user(request("a", { runId }, { input: { state: { a: 1 } } })));
    applied(desk.user(request("b", { runId }, { input })));
    applied(desk.user(request("c", { runId })));
    expect(desk.run(runId).input).toStrictEqual(input);
    expect(roundTrip(desk)).toEqual(rowsOf(desk.state));
  });

  it("12.1.5 the first id that was requested is the activation's", () => {
    const { desk, runId } = atWork([]);
    expect(requestedId(desk.run(runId), 1)).toBe(`${runId}:1`);
    applied(desk.user(request("a", { runId })));
    applied(desk.user(request("b", { runId })));
    expect(requestedId(desk.run(runId), 1)).toBe("a");
    for (const id of ["a", "b", `${runId}:1`])
      expect(findActivation(desk.state, id)).toEqual({ runId, activation: 1 });
    for (const id of ["c", `${runId}:2`, `${runId}:0`, "x:1", "1", ""])
      expect(findActivation(desk.state, id)).toBeUndefined();
  });

  it("12.1.5 the newest are kept, and found after a reload", () => {
    const { desk, runId } = atWork([]);
    for (let n = 1; n <= MAX_REQUESTS + 1; n += 1) applied(desk.user(request(`r${n}`, { runId })));
    const reloaded = fromRows(desk.state.head, toRows(desk.state));
    for (const state of [desk.state, reloaded]) {
      expect(findActivation(state, "r1")).toBeUndefined();
      expect(findActivation(state, "r2")).toEqual({ runId, activation: 1 });
      expect(state.index.requests.size).toBe(MAX_REQUESTS);
    }
  });

  it("12.1.6 by a call: whoever may answer it, or decide upon it", () => {
    const { desk, agent } = atWork([{ ...PAGE, approval: "always" }]);
    applied(agent.append(...proposal("c1", "page"), { type: "round.close" }));
    const ask = (id: string, principal: string, verbs: readonly string[]) =>
      desk.command(request(id, { callId: "c1" }), {
        ...desk.env(principal),
        actor: { principal, may: (verb, tool) => verbs.includes(`${verb}:${tool}`) },
      }).error?.code;
    expect(ask("a", "user:bo", ["answer:page"])).toBeUndefined();
    expect(ask("b", "user:bo", ["approve:page"])).toBeUndefined();
    expect(ask("c", "user:bo", ["data:page", "answer:other"])).toBe("forbidden");
    // An agent decides upon nothing.
    expect(ask("d", "agent:demo", ["approve:page"])).toBe("forbidden");
  });
});

it("a copy of a state is decided upon, and the state stays as it was", () => {
  const { desk, runId, agent } = atWork([PAGE, { name: "pay", approval: "always" }]);
  applied(agent.append(...proposal("c1", "page"), ...proposal("c2", "pay")));
  applied(desk.user(request("a", { runId })));
  applied(agent.finish());
  const before = photograph(desk.state);
  const copy = copyState(desk.state);
  expect(photograph(copy)).toEqual(before);
  const trial = openDesk({ from: { offset: copy.head, rows: toRows(copy), now: 1_000 } });
  Object.assign(trial.state, copy);
  applied(trial.user(request("b", { runId })));
  applied(trial.user(byHolder("c1", { type: "text", text: "x" })));
  const approvalId = approvalOf(desk, "c2");
  applied(trial.user({ type: "call.decide", callId: "c2", approvalId, approved: true }));
  trial.send("m2", { whileActive: "replace" });
  expect(photograph(desk.state)).toEqual(before);
});
