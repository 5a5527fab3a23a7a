import { expect, test } from "vitest";
import { memoryStorage, type Grant } from "../../src/index.ts";
import { ManualClock } from "../support/clock.ts";
import { NOTIFY_URL, scene } from "./scene.ts";

const TYPES = ({ event }: { event: { type: string } }) => event.type;

test("a call that waits with nobody connected is told of once, without its arguments", async () => {
  await using it = scene();
  await it.clock.advance(60_000);
  const runId = await it.ask("s", { approvalMs: 5_000_000 });
  expect(it.sent).toHaveLength(1);
  const [{ url, event, at, headers } = it.sent[0] as never] = it.sent;
  expect(url).toBe(NOTIFY_URL);
  expect(event).toEqual({
    type: "call.waiting",
    session: "s",
    runId,
    callId: "call1",
    agent: "other",
    tool: "pay",
    waiting: { kind: "person", since: at, until: at + 5_000_000 },
  });
  expect(headers.get("webhook-id")).toMatch(/^msg_[0-9a-f]{32}$/);
  await it.clock.advance(3_600_000);
  expect(it.sent).toHaveLength(1);
});

test("while somebody is connected nobody is told; once they have left, it is told of", async () => {
  await using it = scene();
  await it.request("PUT", "/v1/sessions/s", { agent: "other" });
  const first = await it.connect();
  const second = await it.connect();
  await it.ask();
  await it.clock.advance(3_600_000);
  await first();
  await it.clock.advance(60_000);
  expect(it.sent).toEqual([]);
  await second();
  await it.clock.advance(14_999);
  expect(it.sent).toEqual([]);
  await it.clock.advance(1);
  expect(it.sent.map(TYPES)).toEqual(["call.waiting"]);
});

test("a reload is no absence", async () => {
  await using it = scene();
  await it.request("PUT", "/v1/sessions/s", { agent: "other" });
  const leave = await it.connect();
  await it.ask();
  await leave();
  await it.clock.advance(10_000);
  await it.connect();
  await it.clock.advance(3_600_000);
  expect(it.sent).toEqual([]);
});

test("an agent that reads the session is nobody who could decide", async () => {
  await using it = scene();
  await it.clock.advance(60_000);
  await it.request("PUT", "/v1/sessions/s", { agent: "other" });
  await it.connect("s", "agent:other");
  await it.ask();
  expect(it.sent.map(TYPES)).toEqual(["call.waiting"]);
});

test("one who may not do what a call waits for is nobody who could, and takes nobody's time to come back", async () => {
  await using it = scene();
  await it.clock.advance(60_000);
  await it.request("PUT", "/v1/sessions/s", { agent: "other" });
  const verbs = ["read", "send", "cancel", "answer:*", "approve:ask"] as const;
  const connect = (...more: Grant["verbs"]) => it.connect("s", "user:bo", [...verbs, ...more]);
  const leave = await connect("approve:pa*");
  await connect();
  await it.ask();
  await it.clock.advance(3_600_000);
  expect(it.sent).toEqual([]);
  await leave();
  await connect();
  await it.clock.advance(14_999);
  expect(it.sent).toEqual([]);
  await it.clock.advance(1);
  expect(it.sent.map(TYPES)).toEqual(["call.waiting"]);
});

test("for a client's tool, one who may answer it is enough, and one who may approve it is not", async () => {
  for (const [verb, told] of [
    ["answer:pay", []],
    ["approve:pay", ["call.waiting"]],
  ] as const) {
    await using it = scene();
    await it.clock.advance(60_000);
    await it.request("PUT", "/v1/sessions/s", { agent: "other" });
    await it.connect("s", "user:bo", ["read", verb]);
    await it.ask("s", { executor: "client", approval: "never" });
    await it.clock.advance(3_600_000);
    expect(it.sent.map(TYPES)).toEqual(told);
  }
});

test("those who were connected have time to come back when the server starts again", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  {
    await using it = scene({ storage, clock });
    await it.ask();
  }
  await using it = scene({ storage, clock });
  await clock.advance(14_999);
  expect(it.sent).toEqual([]);
  await clock.advance(1);
  expect(it.sent.map(TYPES)).toEqual(["call.waiting"]);
});

test("a decision within the grace makes it pointless; each wait of a call is told of by itself", async () => {
  await using it = scene();
  await it.ask("quick", { executor: "client" });
  const decide = (session: string) =>
    it.request("GET", `/v1/sessions/${session}/state`).then(({ body }) => {
      const { state } = body as unknown as { state: { calls: { approval: { id: string } }[] } };
      const approvalId = state.calls[0]?.approval.id;
      return it.command(session, {
        type: "call.decide",
        callId: "call1",
        approvalId,
        approved: true,
      });
    });
  await decide("quick");
  await it.clock.advance(20_000);
  expect(it.sent.map(({ event }) => event)).toMatchObject([
    { type: "call.waiting", waiting: { kind: "client" } },
  ]);
  await it.ask("later", { executor: "client" });
  await decide("later");
  await it.clock.advance(20_000);
  const later = it.sent.filter(({ event }) => event.session === "later");
  expect(later.map(({ event }) => event)).toMatchObject([
    { waiting: { kind: "person" } },
    { waiting: { kind: "client" } },
  ]);
  expect(new Set(later.map(({ headers }) => headers.get("webhook-id"))).size).toBe(2);
});

test("one that waits too long is escalated, whoever is connected, and once", async () => {
  await using it = scene();
  await it.request("PUT", "/v1/sessions/s", { agent: "other" });
  await it.connect();
  await it.ask("s", { escalateMs: 600_000 });
  await it.clock.advance(599_999);
  expect(it.sent).toEqual([]);
  await it.clock.advance(1);
  expect(it.sent.map(({ event }) => event)).toMatchObject([
    { type: "call.escalate", callId: "call1", tool: "pay", waiting: { kind: "person" } },
  ]);
  await it.clock.advance(3_600_000);
  expect(it.sent).toHaveLength(1);
});

test("a claim that comes and goes is no new wait", async () => {
  await using it = scene();
  await it.clock.advance(60_000);
  await it.ask("s", { executor: "client", approval: "never" });
  expect(it.sent).toHaveLength(1);
  await it.command("s", { type: "call.claim", callId: "call1" });
  await it.clock.advance(30_000);
  // The claim ran out: it is nobody's but a person's to do now, and that is new.
  await it.clock.advance(30_000);
  expect(it.sent.map(({ event }) => event)).toMatchObject([
    { waiting: { kind: "client" } },
    { waiting: { kind: "person" } },
  ]);
  await it.command("s", { type: "call.claim", callId: "call1", force: true });
  await it.clock.advance(60_000);
  expect(it.sent).toHaveLength(2);
});

test("one that is settled while it is told of leaves nothing behind", async () => {
  await using it = scene();
  await it.clock.advance(60_000);
  it.answer(async ({ event }) => {
    await it.command(event.session, { type: "run.cancel", runId: event.runId });
    return new Response(null, { status: 500 });
  });
  await it.ask();
  expect((await it.request("GET", "/v1/sessions/s/deliveries")).body).toEqual({ deliveries: [] });
  const due = { kinds: ["waiting"], before: Number.MAX_SAFE_INTEGER, limit: 9 };
  expect(await it.storage.due(due)).toEqual([]);
});

test("a notice that fails is tried again until the call is settled", async () => {
  await using it = scene();
  await it.clock.advance(60_000);
  it.answer(() => new Response(null, { status: 500 }));
  const runId = await it.ask();
  await it.clock.advance(4_000);
  const before = it.sent.length;
  expect(before).toBeGreaterThan(2);
  expect(new Set(it.sent.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
  await it.command("s", { type: "run.cancel", runId });
  await it.clock.advance(3_600_000);
  expect(it.sent).toHaveLength(before);
  expect((await it.request("GET", "/v1/sessions/s/deliveries")).body).toEqual({ deliveries: [] });
});
