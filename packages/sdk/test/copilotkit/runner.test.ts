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
