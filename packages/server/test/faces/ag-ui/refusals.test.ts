import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { memoryStorage } from "../../../src/storage/memory.ts";
import { ManualClock } from "../../support/clock.ts";
import {
  call,
  eventsIn,
  openStage,
  PAGE,
  post,
  result,
  round,
  running,
  text,
  user,
  type Stage,
} from "./stage.ts";

// Stock clients say there that they were refused.
beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

const PAY = { name: "pay", approval: "always" } as const;

const input = (runId: string, more: object = {}) => ({
  threadId: "s1",
  runId,
  messages: [user("u1", "go")],
  tools: [PAGE],
  ...more,
});

/** A run that proposed calls and finished; what it waits for then. */
async function proposed(stage: Stage, names: readonly string[], approvalMs?: number) {
  const response = await post(stage, input("r1"));
  const attempt = await stage.attempt([{ ...PAY, ...(approvalMs && { approvalMs }) }]);
  await attempt.append(...round(...names.flatMap((name, n) => call(`c${n}`, name, "{}"))));
  await attempt.finish();
  await response.text();
  const { calls, runs } = await stage.state();
  return { ids: calls.map(({ approval }) => approval?.id ?? ""), runId: runs[0]?.id };
}

const resolved = (interruptId: string) => ({
  interruptId,
  status: "resolved",
  payload: { approved: true },
});

/** Posts what is refused, and what of it is told. */
async function refused(stage: Stage, body: object) {
  const before = await stage.state();
  const response = await post(stage, body);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const { code, details } = await response.json();
  expect(await stage.state()).toEqual(before);
  return { status: response.status, code, details };
}

describe("12.2.7 over HTTP, each with a code of its own", () => {
  it("an entry is missing: which calls and interrupts wait", async () => {
    await using stage = await openStage();
    const { ids, runId } = await proposed(stage, ["pay", "page", "pay"]);
    const resume = [resolved(ids[0] ?? "")];
    expect(await refused(stage, input("r2", { resume }))).toEqual({
      status: 409,
      code: "calls_pending",
      details: { runId, calls: ["c0", "c1", "c2"], interrupts: [ids[0], ids[2]] },
    });
  });

  it("an entry is repeated", async () => {
    await using stage = await openStage();
    const { ids } = await proposed(stage, ["pay"]);
    const resume = [resolved(ids[0] ?? ""), resolved(ids[0] ?? "")];
    expect(await refused(stage, input("r2", { resume }))).toEqual({
      status: 400,
      code: "invalid_request",
      details: { interruptId: ids[0] },
    });
  });

  it("an entry is invented, beside one that is not", async () => {
    await using stage = await openStage();
    const { ids } = await proposed(stage, ["pay"]);
    const resume = [resolved(ids[0] ?? ""), resolved("x")];
    expect(await refused(stage, input("r2", { resume }))).toMatchObject({
      status: 404,
      code: "unknown_call",
    });
  });

  it("an interrupt expired: it is cancelled at most, and the run goes on by itself", async () => {
    const clock = new ManualClock();
    await using storage = memoryStorage({ now: clock.now });
    await using stage = await openStage({ storage, schedule: clock.schedule });
    const { ids } = await proposed(stage, ["pay"], 10_000);
    await clock.advance(10_000);
    await stage.untilCall("c0", "settled");
    const resume = [resolved(ids[0] ?? "")];
    expect(await refused(stage, input("r2", { resume }))).toMatchObject({
      status: 409,
      code: "stale_decision",
    });
    const cancelled = { interruptId: ids[0], status: "cancelled" };
    const response = await post(stage, input("r3", { resume: [cancelled] }));
    const attempt = await stage.attempt();
    await attempt.append(...round(...text("a1", "Too late.")));
    await attempt.finish();
    expect(eventsIn(await response.text()).at(-1)?.data).toMatchObject({
      type: "RUN_FINISHED",
      runId: "r3",
      outcome: { type: "success" },
    });
  });

  it("a message passes over what waits: with the list", async () => {
    await using stage = await openStage();
    const { ids } = await proposed(stage, ["pay", "page"]);
    const messages = [user("u1", "go"), result("c1", "here"), user("u2", "and?")];
    expect(await refused(stage, input("r2", { messages }))).toMatchObject({
      status: 409,
      code: "calls_pending",
      details: { calls: ["c0", "c1"], interrupts: ids.slice(0, 1) },
    });
  });

  it("an id is used again for something else", async () => {
    await using stage = await openStage();
    const { ids } = await proposed(stage, ["pay"]);
    const resume = [resolved(ids[0] ?? "")];
    expect(await refused(stage, input("r1", { resume }))).toMatchObject({
      status: 409,
      code: "key_reused",
    });
  });
});

describe("12.2.5 what was said is not unsaid", () => {
  /** A client that was answered twice. */
  async function answered(stage: Stage) {
    const agent = stage.client();
    for (const n of [1, 2]) {
      agent.addMessage(user(`u${n}`, `Question ${n}`));
      const run = running(agent);
      const attempt = await stage.attempt();
      await attempt.append(...round(...text(`a${n}`, `Answer ${n}`)));
      await attempt.finish();
      await run.ended;
    }
    return agent;
  }

  it.each<[string, (messages: ReturnType<typeof user>[]) => unknown[]]>([
    ["the last answer is taken off, to be given anew", (all) => all.slice(0, -1)],
    ["all behind an earlier message is", (all) => all.slice(0, 1)],
    [
      "what was asked is changed",
      (all) => all.slice(0, -1).map((it) => (it.id === "u2" ? user("u2", "Other") : it)),
    ],
  ])("%s: it is refused, and the thread stays", async (_, change) => {
    await using stage = await openStage();
    const agent = await answered(stage);
    const before = await stage.state();
    agent.messages = change(agent.messages as never) as never;
    await expect(agent.runAgent()).rejects.toThrow(
      /^HTTP 409: .*"run_ended".*nothing is answered anew/,
    );
    expect(await stage.state()).toEqual(before);
    await agent.connectAgent();
    expect(agent.messages.map(({ content }) => content)).toEqual([
      "Question 1",
      "Answer 1",
      "Question 2",
      "Answer 2",
    ]);
  });

  it.each([
    ["under a new id goes below what is there", "u9"],
    ["under its own id is what it was, where something new is said", "u2"],
  ])("a message that was changed %s", async (_, id) => {
    await using stage = await openStage();
    const agent = await answered(stage);
    const [u1, a1, , a2] = agent.messages;
    if (!u1 || !a1 || !a2) throw new Error("It holds too little.");
    const changed = user(id, "Other");
    agent.messages = id === "u2" ? [u1, a1, changed, a2, user("u3", "More")] : [u1, a1, changed];
    const run = running(agent);
    const attempt = await stage.attempt();
    await attempt.append(...round(...text("a3", "Answer 3")));
    await attempt.finish();
    await run.ended;
    expect(agent.messages.map(({ content }) => content)).toEqual([
      "Question 1",
      "Answer 1",
      "Question 2",
      "Answer 2",
      id === "u2" ? "More" : "Other",
      "Answer 3",
    ]);
  });
});

describe("12.4.2 posts that are held", () => {
  it("of two of one input at the same time, one begins and both are told", async () => {
    await using stage = await openStage();
    const both = await Promise.all([post(stage, input("r1")), post(stage, input("r1"))]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    const attempt = await stage.attempt();
    await attempt.append(...round(...text("a1", "Once.")));
    await attempt.finish();
    const [one, other] = await Promise.all(both.map(async (it) => eventsIn(await it.text())));
    expect(one).toEqual(other);
    expect(one?.at(-1)?.data).toMatchObject({ type: "RUN_FINISHED", runId: "r1" });
    const { messages, runs } = await stage.state();
    expect([messages.length, runs.length]).toEqual([1, 1]);
  });

  it("of two of other inputs under one id at the same time, one is refused", async () => {
    await using stage = await openStage();
    const both = await Promise.all([
      post(stage, input("r1")),
      post(stage, input("r1", { messages: [user("u2", "stay")] })),
    ]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect((await stage.state()).messages).toHaveLength(1);
    for (const { body } of both) await body?.cancel();
  });

  it("one whose client went away while it waited is answered all the same, and read by no one", async () => {
    await using stage = await openStage({
      limits: { subscribersPerSession: 3 },
    });
    for (let n = 0; n < 8; n += 1) {
      const gone = new AbortController();
      const held = await fetch(`${stage.url}/v1/sessions/s1/ag-ui`, {
        method: "POST",
        headers: { authorization: `Bearer ${stage.token()}` },
        body: JSON.stringify(input(`r${n}`, { messages: [user(`u${n}`, "go")] })),
        signal: gone.signal,
      });
      expect(held.status).toBe(200);
      gone.abort();
      // Its place is free once the server has heard of it.
      await expect
        .poll(async () => {
          const joined = await post(stage, {}, {}, "/v1/sessions/s1/ag-ui/connect");
          await joined.body?.cancel();
          return joined.status;
        })
        .toBe(200);
    }
    for (let n = 0; n < 8; n += 1) {
      const attempt = await stage.attempt();
      await attempt.append(...round(...text(`a${n}`, `Answer ${n}`)));
      await attempt.finish();
    }
    const { runs } = await stage.state();
    expect(new Set(runs.map(({ outcome }) => outcome))).toEqual(new Set(["complete"]));
    const again = await post(stage, input("r3", { messages: [user("u3", "go")] }));
    expect(await again.text()).toContain("Answer 3");
  });
});
