import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { memoryStorage } from "../../src/index.ts";
import { ManualClock, quiet } from "../support/clock.ts";
import { AGENT_URL, scene, SECRET } from "./scene.ts";

const status =
  (code: number, headers = {}) =>
  () =>
    new Response("no", { status: code, headers });

test("a run's agent is told at once, and of nothing that was said", async () => {
  await using it = scene();
  const runId = await it.wake();
  const { work } = await it.claim();
  expect(it.sent).toHaveLength(1);
  const [message] = it.sent;
  expect(message?.url).toBe(AGENT_URL);
  const wakeId = work?.wakeId;
  expect(message?.event).toEqual({
    type: "run.wake",
    session: "s",
    runId,
    wakeId,
    agent: "demo",
    at: it.clock.now(),
  });
  expect(message?.headers.get("webhook-id")).toBe(wakeId);
  expect(message?.headers.get("webhook-timestamp")).toBe(String(it.clock.now() / 1000));
  // The library judges time by the real clock.
  expect(() =>
    new Webhook(SECRET).sign(String(wakeId), new Date(it.clock.now()), message?.body ?? ""),
  ).not.toThrow();
  expect(message?.headers.get("webhook-signature")).toBe(
    new Webhook(SECRET).sign(String(wakeId), new Date(it.clock.now()), message?.body ?? ""),
  );
});

test("runs of agents without a webhook are told to nobody, whatever the agent is called", async () => {
  await using it = scene();
  for (const agent of ["other", "__proto__", "constructor", "http://169.254.169.254/", "notify"]) {
    await it.wake(`of ${agent}`.replaceAll("/", "-"), agent);
  }
  await it.clock.advance(3_600_000);
  expect(it.sent).toEqual([]);
});

test("what fails is tried again under the same id, later each time, until it is taken", async () => {
  await using it = scene();
  it.answer(status(503));
  const runId = await it.wake();
  await it.clock.advance(10_000);
  const start = it.sent[0]?.at ?? 0;
  expect(it.sent.map(({ at }) => at - start)).toEqual([0, 500, 1500, 3500, 7500]);
  expect(new Set(it.sent.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
  expect((await it.request("GET", "/v1/sessions/s/deliveries")).body).toEqual({
    deliveries: [
      {
        id: it.sent[0]?.headers.get("webhook-id"),
        type: "run.wake",
        runId,
        status: "pending",
        tries: 5,
        since: start,
        error: "answered 503",
        nextAt: start + 15_500,
      },
    ],
  });
  it.answer();
  await it.clock.advance(10_000);
  expect(it.sent).toHaveLength(6);
  expect((await it.claim()).work).toMatchObject({ runId });
  await it.clock.advance(120_000);
  // The lease ended meanwhile: that is another wake-up, under another id.
  const ids = it.sent.map(({ headers }) => headers.get("webhook-id"));
  expect(new Set(ids.slice(0, 6)).size).toBe(1);
  expect(ids.slice(6)).not.toContain(ids[0]);
});

test("a receiver that says when is not asked before", async () => {
  await using it = scene();
  it.answer(status(429, { "retry-after": "90" }));
  await it.wake();
  await it.clock.advance(89_999);
  expect(it.sent).toHaveLength(1);
  it.answer(status(503, { "retry-after": new Date(it.clock.now() + 60_001).toUTCString() }));
  await it.clock.advance(1);
  expect(it.sent).toHaveLength(2);
  await it.clock.advance(58_000);
  expect(it.sent).toHaveLength(2);
  await it.clock.advance(3_000);
  expect(it.sent).toHaveLength(3);
});

test("accepted is not begun: it is told again, the same, and dead when nobody ever begins", async () => {
  await using it = scene({ maxTries: 3 });
  const runId = await it.wake();
  const shown = async () => (await it.request("GET", "/v1/sessions/s/deliveries")).body;
  expect(await shown()).toMatchObject({ deliveries: [{ status: "accepted", tries: 1 }] });
  const state = async () => (await it.request("GET", "/v1/sessions/s/state")).body;
  expect(await state()).toMatchObject({ state: { runs: [{ id: runId, status: "queued" }] } });
  await it.clock.advance(180_000);
  expect(it.sent).toHaveLength(3);
  expect(new Set(it.sent.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
  expect(await shown()).toMatchObject({
    deliveries: [{ status: "dead", tries: 3, error: "accepted, and no attempt was begun" }],
  });
  await it.clock.advance(86_400_000);
  expect(it.sent).toHaveLength(3);
  // It waits for its agent still, and a worker that asks gets it.
  expect((await it.claim()).work).toMatchObject({ runId });
  expect(await shown()).toEqual({ deliveries: [] });
  expect((await it.request("GET", "/v1/webhooks/dead")).body).toEqual({ dead: [] });
});

test("one that a worker took up meanwhile is not told again", async () => {
  await using it = scene();
  it.answer(status(500));
  await it.wake();
  const { work } = await it.claim();
  const told = it.sent.length;
  for (let beat = 0; beat < 20; beat += 1) {
    await it.clock.advance(10_000);
    const { runId, attempt } = work ?? {};
    await it.command("s", { type: "run.heartbeat", runId, attempt }, work?.token);
  }
  expect(it.sent).toHaveLength(told);
  const kinds = ["wake"];
  expect(await it.storage.due({ kinds, before: Number.MAX_SAFE_INTEGER, limit: 9 })).toEqual([]);
});

test("a receiver that begins the run while it answers has nothing more to hear of it", async () => {
  await using it = scene();
  let taken: Promise<unknown> | undefined;
  it.answer(async ({ event }) => {
    const { session, runId, wakeId } = event as { session: string; runId: string; wakeId: string };
    taken = it.claim({ session, runId, wakeId });
    await taken;
    return new Response(null, { status: 500 });
  });
  const runId = await it.wake();
  expect(await taken).toMatchObject({ status: 200, work: { runId } });
  await quiet();
  expect((await it.request("GET", "/v1/sessions/s/deliveries")).body).toEqual({ deliveries: [] });
});

test("a redirect is not followed, and a connection that breaks names no address", async () => {
  await using it = scene();
  it.answer(() => Response.redirect("http://169.254.169.254/latest/meta-data", 302));
  await it.wake();
  expect(it.sent.map(({ url }) => url)).toEqual([AGENT_URL]);
  const cause = Object.assign(new Error("connect 10.0.0.7:80"), { code: "ECONNREFUSED" });
  it.answer(() => Promise.reject(new TypeError("fetch failed", { cause })));
  await it.clock.advance(600);
  const { body } = await it.request("GET", "/v1/sessions/s/deliveries");
  expect(body).toMatchObject({ deliveries: [{ tries: 2, error: "no answer (ECONNREFUSED)" }] });
});

test("receivers that hang delay nobody but their own agent, and that no longer than the timeout", async () => {
  const agents = {
    demo: { url: AGENT_URL, secret: SECRET },
    slow: { url: "http://slow.test/", secret: SECRET },
  };
  await using it = scene({ agents, concurrency: 2, timeoutMs: 5_000 });
  it.answer(({ url }) =>
    url === AGENT_URL ? new Response(null, { status: 204 }) : new Promise(() => {}),
  );
  for (const n of [1, 2, 3]) await it.wake(`slow${n}`, "slow");
  await it.wake("quick");
  const told = (agent: string) => it.sent.filter(({ event }) => event.agent === agent).length;
  expect([told("slow"), told("demo")]).toEqual([2, 1]);
  await it.clock.advance(5_000);
  expect(told("slow")).toBe(3);
  const { body } = await it.request("GET", "/v1/sessions/slow1/deliveries");
  expect(body).toMatchObject({ deliveries: [{ error: "no answer within 5000 ms" }] });
});

test("an endless answer is not read to its end", async () => {
  await using it = scene();
  let pulled = 0;
  let cancelled = false;
  const body = new ReadableStream({
    pull(controller) {
      pulled += 1;
      controller.enqueue(new Uint8Array(1024));
    },
    cancel: () => void (cancelled = true),
  });
  it.answer(() => new Response(body));
  await it.wake();
  expect(cancelled).toBe(true);
  expect(pulled).toBeLessThan(30);
  expect((await it.request("GET", "/v1/sessions/s/deliveries")).body).toMatchObject({
    deliveries: [{ status: "accepted" }],
  });
});

test("a server that starts again goes on where it was, and learns of runs from before the webhook", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  {
    await using none = scene({ storage, clock, agents: {} });
    await none.wake("before");
    expect(none.sent).toEqual([]);
  }
  {
    await using first = scene({ storage, clock });
    first.answer(() => new Promise(() => {}));
    await first.wake("cut");
    expect(first.sent.map(({ event }) => event.session).toSorted()).toEqual(["before", "cut"]);
  }
  {
    await using second = scene({ storage, clock });
    second.answer(status(503, { "retry-after": "30" }));
    await clock.advance(0);
    expect(second.sent.map(({ event }) => event.session).toSorted()).toEqual(["before", "cut"]);
  }
  await using third = scene({ storage, clock });
  await clock.advance(29_999);
  expect(third.sent).toEqual([]);
  await clock.advance(1);
  expect(third.sent.map(({ event }) => event.session).toSorted()).toEqual(["before", "cut"]);
});

test("a run is claimed by name with the wake id it waits for, and by its own agent", async () => {
  await using it = scene({ agents: {} });
  const runId = await it.wake("s1");
  const otherRun = await it.wake("s2", "other");
  const { body } = await it.request("GET", "/v1/sessions/s1/state");
  const { wakeId } = (body as { state: { runs: { wakeId: string }[] } }).state.runs[0] ?? {};
  const name = { session: "s1", runId, wakeId };
  expect(await it.claim({ ...name, wakeId: "w0" })).toMatchObject({
    status: 409,
    code: "run_held",
  });
  expect(await it.claim({ ...name, runId: "r0" })).toMatchObject({ code: "unknown_run" });
  expect(await it.claim({ ...name, session: "s0" })).toMatchObject({ code: "unknown_session" });
  expect(await it.claim({ ...name, session: "s2", runId: otherRun })).toMatchObject({
    code: "unknown_run",
  });
  expect(await it.claim({ session: "s1", runId })).toMatchObject({ code: "invalid_request" });
  expect(await it.claim(name)).toMatchObject({ status: 200, work: { runId, attempt: 1 } });
  expect(await it.claim(name)).toMatchObject({ status: 200, work: { runId, attempt: 1 } });
  expect(await it.claim({ ...name, worker: "w2" })).toMatchObject({
    status: 409,
    code: "run_held",
  });
});
