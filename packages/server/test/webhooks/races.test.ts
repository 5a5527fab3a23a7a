import { expect, test } from "vitest";
import { memoryStorage, type Storage } from "../../src/index.ts";
import { ManualClock, quiet } from "../support/clock.ts";
import { scene } from "./scene.ts";

const gone = () => new Response(null, { status: 410 });

test("a dead delivery that is asked for twice at once is delivered once", async () => {
  const clock = new ManualClock();
  const inner = memoryStorage({ now: clock.now });
  const waiting: (() => void)[] = [];
  let together = 1;
  const storage: Storage = {
    ...inner,
    async find(query) {
      const found = await inner.find(query);
      // Nobody goes on before both have seen that it is dead.
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length >= together) for (const go of waiting.splice(0)) go();
      });
      return found;
    },
  };
  await using it = scene({ storage, clock });
  it.answer(gone);
  await it.wake();
  const id = it.sent[0]?.headers.get("webhook-id") ?? "";
  it.answer();
  const path = `/v1/webhooks/dead/${id}/redeliver`;
  together = 2;
  const asked = await Promise.all([it.request("POST", path), it.request("POST", path)]);
  together = 1;
  expect(asked.map(({ status }) => String(status)).toSorted()).toEqual(["200", "404"]);
  await quiet();
  expect(it.sent).toHaveLength(2);
  expect((await it.request("POST", path)).status).toBe(404);
  // One that dies again may be asked for again.
  it.answer(gone);
  await it.clock.advance(61_000);
  expect((await it.request("POST", path)).status).toBe(200);
});

test.each(["while it is told of", "while it is to be tried again", "while it is dead"])(
  "a session that is deleted %s leaves no delivery, also to a new one of its name",
  async (when) => {
    await using it = scene();
    const answers: ((response: Response) => void)[] = [];
    it.answer(() => new Promise((resolve) => answers.push(resolve)));
    await it.wake();
    const answer = (status: number) => answers.shift()?.(new Response(null, { status }));
    if (when === "while it is to be tried again") answer(503);
    if (when === "while it is dead") answer(410);
    await quiet();
    expect((await it.request("DELETE", "/v1/sessions/s")).status).toBe(204);
    answer(503);
    await quiet();
    await it.clock.advance(86_400_000);
    expect(it.sent).toHaveLength(1);
    const left = { kinds: ["wake", "waiting", "escalated"], before: Infinity, limit: 9 };
    expect(await it.storage.due(left)).toEqual([]);
    expect((await it.request("GET", "/v1/webhooks/dead")).body).toEqual({ dead: [] });
    it.answer();
    const runId = await it.wake();
    expect(it.sent.map(({ event }) => "runId" in event && event.runId)).toEqual([
      expect.any(String),
      runId,
    ]);
    expect((await it.request("GET", "/v1/sessions/s/deliveries")).body).toMatchObject({
      deliveries: [{ runId, status: "accepted", tries: 1 }],
    });
  },
);

test("a session that is closed, or whose time is over, has nobody told of its runs any more", async () => {
  await using it = scene();
  it.answer(() => new Response(null, { status: 503 }));
  await it.wake("closed");
  await it.wake("over");
  await it.command("over", { type: "session.update", ttlMs: 1_000 });
  await it.command("closed", { type: "session.close" });
  await it.clock.advance(10_000);
  const told = it.sent.length;
  await it.clock.advance(86_400_000);
  expect(it.sent).toHaveLength(told);
  expect((await it.request("GET", "/v1/webhooks/dead")).body).toEqual({ dead: [] });
  expect((await it.request("GET", "/v1/sessions/over")).status).toBe(404);
});

test("a call that somebody took up while its row was read is not told of", async () => {
  const clock = new ManualClock();
  const inner = memoryStorage({ now: clock.now });
  let held: Promise<void> | undefined;
  const storage: Storage = {
    ...inner,
    async due(query) {
      const rows = await inner.due(query);
      if (query.kinds.includes("waiting") && rows.length > 0) await held;
      return rows;
    },
  };
  await using it = scene({ storage, clock });
  await it.request("PUT", "/v1/sessions/s", { agent: "other" });
  await it.command("s", { type: "tools.advertise", tools: [{ name: "pay" }] });
  await it.ask("s", { executor: "client", approval: "never" });
  await clock.advance(14_000);
  const { promise, resolve } = Promise.withResolvers<void>();
  held = promise;
  await clock.advance(2_000);
  await it.command("s", { type: "call.claim", callId: "call1" });
  await quiet();
  held = undefined;
  resolve();
  await clock.advance(1_000);
  expect(it.sent).toEqual([]);
});

test("a delivery whose outcome cannot be kept is sent again, in a while, under its id", async () => {
  const clock = new ManualClock();
  const inner = memoryStorage({ now: clock.now });
  let full = false;
  const storage: Storage = {
    ...inner,
    append: (commit) =>
      full && commit.rows.some(({ kind }) => kind === "delivery")
        ? Promise.reject(new Error("The disk is full."))
        : inner.append(commit),
  };
  const logged: string[] = [];
  await using it = scene({ storage, clock, log: (message) => void logged.push(message) });
  full = true;
  await it.wake();
  await clock.advance(9_000);
  expect(it.sent).toHaveLength(1);
  await clock.advance(11_000);
  full = false;
  const tried = it.sent.length;
  expect(tried).toBeGreaterThan(1);
  expect(tried).toBeLessThan(4);
  await clock.advance(10_000);
  expect(new Set(it.sent.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
  expect(logged[0]).toMatch(/^Delivery of wake run_/);
  const { body } = await it.request("GET", "/v1/sessions/s/deliveries");
  expect(body).toMatchObject({ deliveries: [{ status: "accepted" }] });
});
