import { expect, test } from "vitest";
import type { AgentItem } from "@holdfast/protocol";
import type { InboxNews } from "../../src/engine/index.ts";
import { DEFAULTS } from "../../src/config.ts";
import { memoryStorage } from "../../src/storage/memory.ts";
import { ManualClock } from "../support/clock.ts";
import { ANA, send, startAttempt, startEngine, type Attempt } from "../support/engine.ts";

const all = { limit: 100 };
const anybody = () => true;

/** The calls of one round, each of its own tool. */
function propose(...tools: readonly string[]): AgentItem[] {
  return [
    { type: "round.open" },
    ...tools.flatMap((tool): AgentItem[] => [
      { type: "TOOL_CALL_START", toolCallId: `call_${tool}`, toolCallName: tool },
      { type: "TOOL_CALL_END", toolCallId: `call_${tool}` },
    ]),
    { type: "round.close" },
  ] as AgentItem[];
}

async function ask(engine: ReturnType<typeof startEngine>, session: string): Promise<Attempt> {
  await engine.create(session, { agent: "demo" }, ANA);
  await send(engine, session, {
    type: "policy.set",
    policy: { tools: [{ tool: "pay", approval: "always" }] },
  } as never);
  await send(engine, session, {
    type: "tools.advertise",
    tools: [{ name: "locate", parameters: {} }],
  } as never);
  const attempt = await startAttempt(engine, session);
  await attempt.append(...propose("pay", "locate"));
  await attempt.finish();
  return attempt;
}

test("calls that wait are listed over sessions, and by what they are", async () => {
  await using engine = startEngine();
  await ask(engine, "s1");
  await ask(engine, "s2");
  const page = await engine.calls(all, anybody);
  const listed = page.calls.map(({ session, id, status }) => `${session} ${id} ${status}`);
  expect(listed.toSorted()).toEqual([
    "s1 call_locate open",
    "s1 call_pay gated",
    "s2 call_locate open",
    "s2 call_pay gated",
  ]);
  const pay = page.calls.find(({ session, tool }) => session === "s1" && tool === "pay");
  expect(pay).toEqual({
    session: "s1",
    id: "call_pay",
    runId: expect.any(String),
    tool: "pay",
    status: "gated",
    executor: "agent",
    waiting: { kind: "person", since: expect.any(Number) },
    approval: { id: expect.any(String), digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  const ids = async (query: object) =>
    (await engine.calls({ ...all, ...query }, anybody)).calls
      .map(({ session, tool }) => `${session}/${tool}`)
      .toSorted();
  expect(await ids({ tool: "pay" })).toEqual(["s1/pay", "s2/pay"]);
  expect(await ids({ status: "open" })).toEqual(["s1/locate", "s2/locate"]);
  expect(await ids({ waitsFor: "client", tool: "pay" })).toEqual([]);
  expect(await ids({ owner: "user:ana", agent: "demo", waitsFor: "person" })).toEqual([
    "s1/pay",
    "s2/pay",
  ]);
  expect(await ids({ owner: "user:bob" })).toEqual([]);
  const mine = await engine.calls(all, (session) => session === "s2");
  expect(mine.calls.map(({ session }) => session)).toEqual(["s2", "s2"]);
});

test("what was decided or answered waits no more, and the list is what storage holds", async () => {
  const storage = memoryStorage();
  {
    await using engine = startEngine({ storage });
    await ask(engine, "s");
    const [pay] = (await engine.calls({ ...all, tool: "pay" }, anybody)).calls;
    await send(engine, "s", {
      type: "call.decide",
      callId: "call_pay",
      approvalId: pay?.approval?.id ?? "",
      approved: false,
    });
  }
  await using engine = startEngine({ storage });
  expect((await engine.calls(all, anybody)).calls.map(({ id }) => id)).toEqual(["call_locate"]);
  const answer = { type: "json", value: 1 } as const;
  await send(engine, "s", { type: "call.answer", callId: "call_locate", outcome: "ok", answer });
  expect(await engine.calls(all, anybody)).toEqual({ calls: [] });
});

test("one who watches hears of every change that matches, and of no session that is not theirs", async () => {
  await using engine = startEngine();
  await ask(engine, "before");
  const over = new AbortController();
  const watching = engine.watchCalls(
    { ...all, tool: "pay" },
    (session) => session !== "secret",
    over,
  );
  const next = async () => (await watching.next()).value as InboxNews;
  expect(await next()).toMatchObject({ type: "page", page: { calls: [{ session: "before" }] } });
  await ask(engine, "secret");
  await ask(engine, "after");
  expect(await next()).toMatchObject({ type: "call", call: { session: "after", id: "call_pay" } });
  expect(await next()).toEqual({ type: "gone", session: "after", id: "call_locate" });
  await send(engine, "after", { type: "call.cancel", callId: "call_pay" });
  expect(await next()).toEqual({ type: "gone", session: "after", id: "call_pay" });
  over.abort();
  expect((await watching.next()).done).toBe(true);
});

test("one who watches and takes nothing is sent away", async () => {
  await using engine = startEngine();
  const watching = engine.watchCalls(all, anybody, new AbortController());
  await watching.next();
  const attempt = await startAttempt(engine, "s");
  await attempt.append(...propose(...Array.from({ length: 1001 }, (_, n) => `t${n}`)));
  expect((await watching.next()).done).toBe(true);
});

test("those that wait since before a time are listed, and watched, alone", async () => {
  const clock = new ManualClock();
  await using engine = startEngine({
    storage: memoryStorage({ now: clock.now }),
    schedule: clock.schedule,
  });
  await ask(engine, "old");
  const [first] = (await engine.calls(all, anybody)).calls;
  const since = first?.waiting.since ?? 0;
  await clock.advance(1000);
  await ask(engine, "new");
  const before = async (waitingBefore: number, more = {}) =>
    (await engine.calls({ ...all, waitingBefore, ...more }, anybody)).calls.map(
      ({ session, tool }) => `${session}/${tool}`,
    );
  expect(await before(since)).toEqual([]);
  expect((await before(since + 1)).toSorted()).toEqual(["old/locate", "old/pay"]);
  expect(await before(since + 1, { tool: "pay", newestFirst: true })).toEqual(["old/pay"]);
  expect(await before(since + 1001)).toHaveLength(4);

  const over = new AbortController();
  const watching = engine.watchCalls({ ...all, waitingBefore: since + 1 }, anybody, over);
  const next = async () => (await watching.next()).value as InboxNews;
  expect(await next()).toMatchObject({ page: { calls: [{ session: "old" }, { session: "old" }] } });
  await send(engine, "new", { type: "call.claim", callId: "call_locate" });
  expect(await next()).toEqual({ type: "gone", session: "new", id: "call_locate" });
  over.abort();
});

test("one who watches hears that a session was deleted, or ended with its time, and with it its calls", async () => {
  const clock = new ManualClock();
  await using engine = startEngine({
    storage: memoryStorage({ now: clock.now }),
    schedule: clock.schedule,
  });
  const mayRead = (session: string) => session !== "secret";
  const over = new AbortController();
  const watching = engine.watchCalls({ ...all, tool: "pay" }, mayRead, over);
  const next = async () => (await watching.next()).value as InboxNews;
  await next();
  for (const session of ["s", "secret"]) {
    await ask(engine, session);
    await engine.delete(session);
  }
  await engine.create("brief", { agent: "demo", ttlMs: 60_000 }, ANA);
  const heard: InboxNews[] = [];
  while (!JSON.stringify(heard).includes("brief")) {
    const told = next();
    await clock.advance(30_000);
    heard.push(await told);
  }
  expect(heard).toEqual([
    { type: "call", call: expect.objectContaining({ session: "s", id: "call_pay" }) },
    { type: "gone", session: "s", id: "call_locate" },
    { type: "gone", session: "s" },
    { type: "gone", session: "brief" },
  ]);
  over.abort();
});

test("what waits for one who watches is bounded in size too", async () => {
  await using engine = startEngine({ subscriberBytes: 10_000 });
  let slow = 0;
  const { signal } = new AbortController();
  const watching = engine.watchCalls(all, anybody, { signal, onSlow: () => (slow += 1) });
  await watching.next();
  const attempt = await startAttempt(engine, "s");
  const propose = (id: string) =>
    attempt.append(
      { type: "round.open" },
      { type: "TOOL_CALL_START", toolCallId: id, toolCallName: "pay" },
      { type: "TOOL_CALL_END", toolCallId: id },
      { type: "call.ask", callId: id, reason: "x".repeat(20_000) },
      { type: "round.close" },
    );
  await propose("one");
  expect((await watching.next()).value).toMatchObject({ type: "call", call: { id: "one" } });
  await propose("two");
  expect(slow).toBe(0);
  await propose("three");
  expect(slow).toBe(1);
  expect((await watching.next()).done).toBe(true);
});

test("who watches the inbox is a reader of its principal, until they leave", async () => {
  const limits = { ...DEFAULTS.limits, subscribersPerPrincipal: 1 };
  await using engine = startEngine({ limits });
  await engine.create("s", { agent: "demo" }, ANA);
  const watch = (signal: AbortSignal) =>
    engine.watchCalls(all, anybody, { signal, principal: "user:ana" });
  const over = new AbortController();
  await watch(over.signal).next();
  const { signal } = new AbortController();
  expect(() => watch(signal)).toThrow(/has 1 readers/);
  const reading = engine.subscribe("s", undefined, { principal: "user:ana" });
  await expect(reading).rejects.toMatchObject({ code: "too_many_requests" });
  over.abort();
  const second = watch(signal);
  await second.next();
  await second.return();
  await watch(signal).return();
});

test("those that were found to wait too long are listed alone, and watched as they become so", async () => {
  const clock = new ManualClock();
  await using engine = startEngine({
    storage: memoryStorage({ now: clock.now }),
    schedule: clock.schedule,
  });
  const escalated = { ...all, escalated: true } as const;
  const over = new AbortController();
  const watching = engine.watchCalls(escalated, anybody, over);
  expect((await watching.next()).value).toEqual({ type: "page", page: { calls: [] } });
  await engine.create("s", { agent: "demo" }, ANA);
  const tools = [{ name: "locate" }, { name: "look", escalateMs: 1000 }];
  await send(engine, "s", { type: "tools.advertise", tools });
  const attempt = await startAttempt(engine, "s");
  await attempt.append(...propose("locate", "look"));
  await attempt.finish();
  expect(await engine.calls(escalated, anybody)).toEqual({ calls: [] });
  await clock.advance(1000);
  const { calls } = await engine.calls(escalated, anybody);
  expect(calls).toMatchObject([{ id: "call_look", escalatedAt: clock.now() }]);
  const heard: InboxNews[] = [];
  while (heard.at(-1)?.type !== "call") heard.push((await watching.next()).value as InboxNews);
  expect(heard.at(-1)).toEqual({ type: "call", call: calls[0] });
  expect(new Set(heard.slice(0, -1).map(({ type }) => type))).toEqual(new Set(["gone"]));
  over.abort();
});
