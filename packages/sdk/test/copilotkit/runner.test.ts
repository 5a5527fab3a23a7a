import { createHoldfastRunner, type RunnerRequest } from "@holdfast/sdk/copilotkit";
import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { openLab, type Lab } from "../support/lab.ts";

interface Event {
  readonly type: string;
  readonly code?: string;
  readonly runId?: string;
}

/** Only its name counts: its runs are worked on elsewhere. */
const agent = {
  agentId: "demo",
  threadId: "t1",
  headers: { "x-user": "ana" },
  setMessages() {},
  setState() {},
  runAgent: () => Promise.reject(new Error("asked")),
  abortRun() {},
  clone: () => agent,
};

const input = (runId: string) => ({
  threadId: "t1",
  runId,
  state: {},
  tools: [],
  context: [],
  forwardedProps: {},
  messages: [{ id: `u-${runId}`, role: "user", content: "Hi" }],
});

function runnerOf(lab: Lab) {
  const asked: RunnerRequest[] = [];
  const runner = createHoldfastRunner<Event>({
    url: lab.url,
    token: (request) => (asked.push(request), lab.mint("user:ana")),
  });
  return { runner, asked };
}

function eventsOf(observable: Observable<Event>) {
  const events: Event[] = [];
  const ended = Promise.withResolvers<Event[]>();
  const subscription = observable.subscribe({
    next: (event) => void events.push(event),
    error: ended.reject,
    complete: () => ended.resolve(events),
  });
  return { ended: ended.promise, leave: () => subscription.unsubscribe() };
}

describe("a runner", () => {
  it("asks the thread of its agent, with a token for each request, and stops what runs", async () => {
    await using lab = await openLab();
    const { runner, asked } = runnerOf(lab);
    await using _closing = runner;
    expect(await runner.isRunning({ threadId: "t1" })).toBe(false);
    expect(await runner.stop({ threadId: "t1" })).toBe(false);
    const running = eventsOf(runner.run({ threadId: "t1", agent, input: input("r1") }));
    await untilThere(lab);
    expect(await runner.isRunning({ threadId: "t1" })).toBe(true);
    expect(await runner.stop({ threadId: "t1", runId: "other" })).toBe(false);
    expect(await runner.stop({ threadId: "t1", runId: "r1" })).toBe(true);
    const events = await running.ended;
    expect(events).toMatchObject([
      { type: "RUN_STARTED", runId: "r1" },
      { type: "RUN_ERROR", code: "cancelled" },
    ]);
    expect(await runner.isRunning({ threadId: "t1" })).toBe(false);
    expect(await runner.stop({ threadId: "t1", runId: "r1" })).toBe(false);
    const headers = { "x-user": "ana" };
    expect(asked).toContainEqual({ verb: "run", threadId: "t1", agentId: "demo", headers });
    expect(asked).toContainEqual({ verb: "stop", threadId: "t1" });
  });

  it("that nobody listens to any more goes away, and the run does not", async () => {
    await using lab = await openLab();
    const { runner } = runnerOf(lab);
    await using _closing = runner;
    const running = eventsOf(runner.run({ threadId: "t1", agent, input: input("r1") }));
    await untilThere(lab);
    running.leave();
    expect(await runner.isRunning({ threadId: "t1" })).toBe(true);
  });

  it("tells of what is refused, and nothing of a thread that is not there", async () => {
    await using lab = await openLab();
    const { runner } = runnerOf(lab);
    await using _closing = runner;
    const connected = eventsOf(runner.connect({ threadId: "t1", agentId: "demo" }));
    expect(await connected.ended).toEqual([]);
    const posted = { ...input("r1"), messages: [] };
    const running = eventsOf(runner.run({ threadId: "t1", agent, input: posted }));
    expect(await running.ended).toMatchObject([{ type: "RUN_ERROR", code: "invalid_request" }]);
  });

  it.each([
    "a/b",
    "a?b#c",
    "%2F",
    "%zz",
    "ü 😀",
    " ",
    "..%2f",
    "__proto__",
    "...",
    "x".repeat(256),
  ])("takes %o for a thread's id as it is", async (threadId) => {
    await using lab = await openLab();
    const { runner } = runnerOf(lab);
    await using _closing = runner;
    const running = eventsOf(runner.run({ threadId, agent, input: input("r1") }));
    await untilRunning(runner, threadId);
    const connected = eventsOf(runner.connect({ threadId, agentId: "demo" }));
    expect(await runner.stop({ threadId })).toBe(true);
    const events = await running.ended;
    expect(events).toMatchObject([
      { type: "RUN_STARTED", threadId },
      { type: "RUN_ERROR", code: "cancelled" },
    ]);
    await connected.ended;
    expect(await runner.isRunning({ threadId })).toBe(false);
  });

  it.each([".", ".."])(
    "is refused %o for a thread's id, which has no address",
    async (threadId) => {
      await using lab = await openLab();
      const { runner } = runnerOf(lab);
      await using _closing = runner;
      const running = eventsOf(runner.run({ threadId, agent, input: input("r1") }));
      expect(await running.ended).toMatchObject([{ type: "RUN_ERROR", code: "invalid_request" }]);
      const connected = eventsOf(runner.connect({ threadId, agentId: "demo" }));
      expect(await connected.ended).toMatchObject([{ type: "RUN_ERROR", code: "invalid_request" }]);
    },
  );

  it("has its threads' runs for every runner, over the end of any and of the server", async () => {
    await using lab = await openLab();
    const before = runnerOf(lab).runner;
    const told = eventsOf(before.run({ threadId: "t1", agent, input: input("r1") }));
    await untilRunning(before, "t1");
    await before[Symbol.asyncDispose]();
    // Its page is told nothing that is not so: the run goes on.
    expect(await told.ended).toEqual([]);
    await lab.restart();
    const after = runnerOf(lab).runner;
    await using _closing = after;
    expect(await after.isRunning({ threadId: "t1" })).toBe(true);
    expect(await after.stop({ threadId: "t1", runId: "r1" })).toBe(true);
    expect(await after.isRunning({ threadId: "t1" })).toBe(false);
  });

  it("has a second run of a thread wait for the first, and each stopped by its own id", async () => {
    await using lab = await openLab();
    const { runner } = runnerOf(lab);
    await using _closing = runner;
    const first = eventsOf(runner.run({ threadId: "t1", agent, input: input("r1") }));
    await untilThere(lab);
    const second = eventsOf(runner.run({ threadId: "t1", agent, input: input("r2") }));
    const third = eventsOf(runner.run({ threadId: "t1", agent, input: input("r3") }));
    await lab.until("t1", ({ runs }) => runs.size === 3);
    expect(await runner.stop({ threadId: "t1", runId: "r2" })).toBe(true);
    expect((await second.ended).at(-1)).toMatchObject({ type: "RUN_ERROR", code: "cancelled" });
    expect(await runner.isRunning({ threadId: "t1" })).toBe(true);
    expect(await runner.stop({ threadId: "t1" })).toBe(true);
    for (const [runId, { ended }] of [
      ["r1", first],
      ["r3", third],
    ] as const) {
      expect(await ended).toMatchObject([
        { type: "RUN_STARTED", runId },
        { type: "RUN_ERROR", code: "cancelled" },
      ]);
    }
  });

  it("runs no agent of its own that is the server's", () => {
    const own = (url: string) => ({ agents: { demo: { ...agent, url } }, token: "t" });
    const options = { url: "http://server.test/base/", token: "t" };
    expect(() =>
      createHoldfastRunner({
        ...options,
        own: own("http://server.test/base/v1/agents/demo/ag-ui"),
      }),
    ).toThrow(RangeError);
  });
});

type Runner = ReturnType<typeof runnerOf>["runner"];

/** Resolves once a run of the thread has work to do. */
async function untilRunning(runner: Runner, threadId: string): Promise<void> {
  while (!(await runner.isRunning({ threadId }))) await new Promise((r) => setTimeout(r, 10));
}

/** Resolves once the thread has a run. */
async function untilThere(lab: Lab): Promise<void> {
  for (;;) {
    try {
      await lab.until("t1", ({ runs }) => runs.size > 0);
      return;
    } catch (error) {
      if ((error as { cause?: { code?: string } }).cause?.code !== "unknown_session") throw error;
    }
  }
}
