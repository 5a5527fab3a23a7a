import {
  createViewCache,
  fromRows,
  isCall,
  toRows,
  viewOf,
  type RunView,
  type ToolDeclaration,
  type ViewNode,
} from "@holdfast/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openDesk, proposal, type Desk } from "./support/desk.ts";

const TOOLS: ToolDeclaration[] = [{ name: "weather" }, { name: "location", executor: "client" }];

describe("viewOf", () => {
  it("gives an empty view of an empty session, the same one each time", () => {
    const cache = createViewCache();
    const desk = openDesk();
    expect(viewOf(desk.state, cache)).toEqual([]);
    expect(viewOf(desk.state, cache)).toBe(viewOf(desk.state, cache));
  });

  it("shows messages and runs in order, with a run's items and calls in log order", () => {
    const desk = openDesk({ tools: TOOLS });
    talk(desk, "m1");
    talk(desk, "m2");
    const view = viewOf(desk.state);
    expect(view.map(({ type }) => type)).toEqual(["message", "run", "message", "run"]);
    expect(runAt(view, 1).parts.map((part) => (isCall(part) ? part.name : part.kind))).toEqual([
      "round",
      "text",
      "weather",
    ]);
  });

  it("keeps every object that a token does not change", () => {
    const desk = openDesk({ tools: TOOLS });
    talk(desk, "m1");
    const runId = desk.send("m2");
    desk.start(runId);
    const agent = desk.agent(runId);
    agent.append(
      { type: "round.open" },
      { type: "TEXT_MESSAGE_START", messageId: "a" },
      { type: "TEXT_MESSAGE_END", messageId: "a" },
      { type: "TEXT_MESSAGE_START", messageId: "b" },
    );
    const cache = createViewCache();
    const before = viewOf(desk.state, cache);
    agent.append({ type: "TEXT_MESSAGE_CONTENT", messageId: "b", delta: "x" });
    const after = viewOf(desk.state, cache);
    expect(after).not.toBe(before);
    expect(after.map((node, at) => node === before[at])).toEqual([true, true, true, false]);
    const [round, first, second] = runAt(after, 3).parts;
    expect(round).toBe(runAt(before, 3).parts[0]);
    expect(first).toBe(runAt(before, 3).parts[1]);
    expect(second).toMatchObject({ text: "x" });
    expect(runAt(before, 3).parts[2]).toMatchObject({ text: "" });
    expect(viewOf(desk.state, cache)).toBe(after);
  });

  it("leaves out superseded calls and what a withdrawn round wrote", () => {
    const desk = openDesk({ tools: TOOLS });
    const runId = desk.send("m1");
    desk.start(runId);
    const agent = desk.agent(runId);
    const cache = createViewCache();
    agent.append({ type: "round.open" }, ...proposal("c1", "weather"));
    expect(runAt(viewOf(desk.state, cache), 1).parts).toHaveLength(2);
    agent.append({ type: "round.withdraw" });
    expect(desk.state.calls.get("c1")?.outcome).toBe("superseded");
    expect(runAt(viewOf(desk.state, cache), 1).parts).toEqual([]);
  });

  it("follows the branch of the newest node", () => {
    const desk = openDesk();
    const first = talk(desk, "m1");
    talk(desk, "m2");
    const cache = createViewCache();
    viewOf(desk.state, cache);
    talk(desk, "m3", { parentId: first });
    expect(viewOf(desk.state, cache).map(({ id }) => id)).toEqual([
      "m1",
      first,
      "m3",
      viewOf(desk.state).at(-1)?.id,
    ]);
  });

  it("5.8.4 shows a message that steers a run at its place, and where it was read once it was", () => {
    const desk = openDesk();
    const runId = desk.send("m1");
    desk.start(runId);
    const agent = desk.agent(runId);
    const cache = createViewCache();
    const shown = () => {
      const view = viewOf(desk.state, cache);
      expect(view).toEqual(viewOf(desk.state));
      const run = view.flatMap((node) => (node.type === "run" ? node.parts : []));
      const steers = run.flatMap((part) =>
        !isCall(part) && part.kind === "steer" ? [part.message.id] : [],
      );
      return [view.map(({ id }) => id), steers];
    };
    agent.append({ type: "round.open" });
    shown();
    desk.send("s1", { whileActive: "steer" });
    expect(shown()).toEqual([["m1", runId, "s1"], []]);
    desk.send("s2", { whileActive: "steer" });
    agent.append({ type: "round.open" });
    expect(shown()).toEqual([
      ["m1", runId],
      ["s1", "s2"],
    ]);
    agent.append({ type: "round.withdraw" });
    expect(shown()).toEqual([["m1", runId, "s1", "s2"], []]);
    agent.append({ type: "round.open" });
    desk.send("s3", { whileActive: "steer" });
    desk.user({ type: "run.cancel", runId });
    const next = desk.send("m2");
    expect(shown()).toEqual([
      ["m1", runId, "s3", "m2", next],
      ["s1", "s2"],
    ]);
    expect(viewOf(desk.state, cache)).toBe(viewOf(desk.state, cache));
  });

  it("5.8.4 shows a message once that was sent and read between two looks", () => {
    const desk = openDesk();
    const cache = createViewCache();
    viewOf(desk.state, cache);
    const runId = desk.send("m1");
    desk.start(runId);
    desk.send("s1", { whileActive: "steer" });
    desk.agent(runId).append({ type: "round.open" });
    expect(viewOf(desk.state, cache)).toEqual(viewOf(desk.state));
    desk.send("m2");
    expect(viewOf(desk.state, cache).map(({ type }) => type)).toEqual([
      "message",
      "run",
      "message",
      "run",
    ]);
  });

  it("costs what changed: nodes that did not change are not looked at", () => {
    const desk = openDesk();
    for (let n = 0; n < 50; n += 1) talk(desk, `m${n}`);
    const runId = desk.send("last");
    desk.start(runId);
    const agent = desk.agent(runId);
    agent.append({ type: "TEXT_MESSAGE_START", messageId: "t" });
    const cache = createViewCache();
    viewOf(desk.state, cache);
    let looks = 0;
    const get = desk.state.runs.get.bind(desk.state.runs);
    desk.state.runs.get = (id) => ((looks += 1), get(id));
    for (let n = 0; n < 20; n += 1) {
      agent.append({ type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "x" });
      looks = 0;
      viewOf(desk.state, cache);
      expect(looks).toBeLessThanOrEqual(2);
    }
  });

  it("is what a fresh look gives, whenever it looks (property)", () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom("token", "call", "round", "withdraw") },
      { weight: 2, arbitrary: fc.constantFrom("message", "steer", "finish", "cancel", "fork") },
      { weight: 3, arbitrary: fc.constant("look") },
      { weight: 1, arbitrary: fc.constant("many") },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const desk = openDesk({ tools: TOOLS });
        const cache = createViewCache();
        const act = actor(desk);
        for (const each of steps) {
          if (each === "look") viewOf(desk.state, cache);
          else act(each);
        }
        expect(viewOf(desk.state, cache)).toEqual(viewOf(desk.state));
        expect(viewOf(desk.state, cache)).toEqual(
          viewOf(fromRows(desk.state.head, toRows(desk.state))),
        );
      }),
    );
  });
});

/** One message answered with text and a call. @returns the run's id */
function talk(desk: Desk, messageId: string, more: object = {}): string {
  const runId = desk.send(messageId, more);
  desk.start(runId);
  const agent = desk.agent(runId);
  agent.append(
    { type: "round.open" },
    { type: "TEXT_MESSAGE_START", messageId: `${messageId}-t` },
    { type: "TEXT_MESSAGE_CONTENT", messageId: `${messageId}-t`, delta: "hello" },
    { type: "TEXT_MESSAGE_END", messageId: `${messageId}-t` },
    ...proposal(`${messageId}-c`, "weather"),
    { type: "round.close" },
  );
  agent.finish();
  return runId;
}

function actor(desk: Desk): (step: string) => void {
  let n = 0;
  const active = () => [...desk.state.runs.values()].find((run) => run.status === "active");
  const queued = () => [...desk.state.runs.values()].find((run) => run.wakeId !== undefined);
  return (step) => {
    n += 1;
    const waiting = queued();
    if (!active() && waiting) desk.start(waiting.id);
    const run = active();
    if (step === "message") desk.send(`m${n}`);
    if (step === "steer") desk.send(`m${n}`, { whileActive: "steer" });
    if (step === "fork") desk.send(`m${n}`, { parentId: desk.state.index.nodes[0] });
    if (!run) return;
    const agent = desk.agent(run.id);
    if (step === "token" || step === "many") {
      const messageId = `t${run.id}`;
      if (!desk.state.items.has(messageId)) agent.append({ type: "TEXT_MESSAGE_START", messageId });
      for (let count = step === "many" ? 700 : 1; count > 0; count -= 1)
        agent.append({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: "x" });
    }
    if (step === "call") agent.append(...proposal(`c${n}`, n % 2 ? "weather" : "location"));
    if (step === "round") agent.append({ type: "round.open" });
    if (step === "withdraw") agent.append({ type: "round.withdraw" });
    if (step === "finish") agent.finish();
    if (step === "cancel") desk.user({ type: "run.cancel", runId: run.id });
  };
}

function runAt(view: readonly ViewNode[], at: number): RunView {
  const node = view[at];
  if (node?.type !== "run") throw new Error(`node ${at} is no run`);
  return node;
}
