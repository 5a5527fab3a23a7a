import { expect, it } from "vitest";
import { applied, openDesk, proposal } from "../support/desk.ts";

/** A run that waits for a person, one that works, and one that waits for it. */
function scene() {
  const desk = openDesk({ policy: { whilePending: "queue" }, tools: [{ name: "look" }] });
  const [active, queued] = [desk.send("m1"), desk.send("m2")];
  const suspended = desk.send("m3", { parentId: "m1", whileActive: "concurrent" });
  desk.start(suspended);
  const other = desk.agent(suspended);
  applied(other.append({ type: "round.open" }, ...proposal("c2", "pay")));
  applied(other.append({ type: "call.ask", callId: "c2" }));
  applied(other.finish());
  desk.start(active);
  const agent = desk.agent(active);
  applied(agent.append({ type: "round.open" }, ...proposal("c1", "look")));
  expect([active, queued, suspended].map((id) => desk.run(id).status)).toEqual([
    "active",
    "queued",
    "suspended",
  ]);
  return { desk, agent, runs: [active, queued, suspended] };
}

it("5.11.2 closes a session with every run and call of it, in one commit", () => {
  const { desk, runs } = scene();
  const frames = desk.frames.length;
  applied(desk.user({ type: "session.close", reason: "done" }));
  expect(desk.frames).toHaveLength(frames + 1);
  for (const id of runs)
    expect(desk.run(id)).toMatchObject({
      status: "ended",
      outcome: "cancelled",
      reason: "session_closed",
    });
  for (const id of ["c1", "c2"])
    expect(desk.call(id)).toMatchObject({ outcome: "cancelled", reason: "session_closed" });
  const types = desk.frames.at(-1)?.entries.map(({ event }) => event.type) ?? [];
  expect(types.at(-1)).toBe("session.closed");
  expect(types).not.toContain("run.queued");
  expect(desk.state.session.closed).toEqual({ by: "user:ana", at: 1_000, reason: "done" });
});

it("5.11.2 changes nothing when a session is closed again", () => {
  const { desk } = scene();
  applied(desk.user({ type: "session.close" }));
  const { head } = desk.state;
  expect(desk.user({ type: "session.close", reason: "again" }, "bo").repeated).toBe(true);
  expect(desk.state.head).toBe(head);
});

it("5.11.3 refuses what would begin in a closed session, and answers the rest as ever", () => {
  const { desk, agent } = scene();
  const [run = ""] = desk.state.runs.keys();
  applied(desk.user({ type: "session.close", reason: "done" }));
  const code = (body: Parameters<typeof desk.user>[0]) => desk.user(body).error?.code ?? "applied";
  const closed = "session_closed";
  expect(code({ type: "message.send", messageId: "m9", content: "hi" })).toBe(closed);
  expect(code({ type: "tools.advertise", tools: [{ name: "t" }] })).toBe(closed);
  expect(code({ type: "policy.set", policy: {} })).toBe(closed);
  expect(code({ type: "approval.revoke", tool: "look" })).toBe(closed);
  expect(code({ type: "run.cancel", runId: run })).toBe("run_ended");
  expect(code({ type: "call.cancel", callId: "c1" })).toBe("call_settled");
  expect(agent.append({ type: "round.close" }).error?.code).toBe("run_ended");
  expect(code({ type: "session.update", metadata: { kept: true } })).toBe("applied");
  const refused = desk.user({ type: "message.send", messageId: "m9", content: "hi" });
  expect(refused.error?.details).toEqual({ by: "user:ana", at: 1_000, reason: "done" });
});

it("5.11.1 patches metadata by its members, and says nothing where nothing changes", () => {
  const desk = openDesk();
  const update = (metadata: object) =>
    applied(desk.user({ type: "session.update", metadata: metadata as Record<string, never> }));
  update({ a: 1, b: { c: 2 }, ["__proto__"]: "own" });
  update({ a: null, b: { d: 3 } });
  expect(desk.state.session.metadata).toEqual(
    JSON.parse('{"b":{"d":3},"__proto__":"own"}') as object,
  );
  const { head } = desk.state;
  update({ b: { d: 3 }, gone: null });
  expect(desk.state.head).toBe(head);
});

it("5.11.1 sets a time to live and takes it away", () => {
  const desk = openDesk();
  applied(desk.user({ type: "session.update", ttlMs: 5_000 }));
  expect(desk.state.session.ttlMs).toBe(5_000);
  applied(desk.user({ type: "session.update", ttlMs: null }));
  expect("ttlMs" in desk.state.session).toBe(false);
  expect(desk.user({ type: "session.update", ttlMs: null }).repeated).toBe(true);
});

it("5.11.1 bounds metadata as a whole, however it is added", () => {
  const desk = openDesk({
    limits: { eventBytes: 1_000, argumentsLength: 1_000, textLength: 1_000, resultBytes: 1_000 },
  });
  const add = (name: string) =>
    desk.user({ type: "session.update", metadata: { [name]: "x".repeat(400) } }).error;
  expect([add("a"), add("b")]).toEqual([undefined, undefined]);
  expect(add("c")).toMatchObject({ code: "too_large", details: { limit: 1_000 } });
});
