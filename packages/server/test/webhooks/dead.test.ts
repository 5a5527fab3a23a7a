import { expect, test } from "vitest";
import { memoryStorage } from "../../src/index.ts";
import { ManualClock, quiet } from "../support/clock.ts";
import { scene } from "./scene.ts";

const gone = () => new Response(null, { status: 410 });

test("what a receiver refuses for good is dead, seen, and delivered when somebody asks for it", async () => {
  await using it = scene();
  it.answer(gone);
  const runId = await it.wake();
  const id = it.sent[0]?.headers.get("webhook-id");
  const dead = { id, session: "s", type: "run.wake", runId, tries: 1, error: "answered 410" };
  expect((await it.request("GET", "/v1/webhooks/dead")).body).toMatchObject({ dead: [dead] });
  await it.clock.advance(86_400_000);
  expect(it.sent).toHaveLength(1);
  const { body } = await it.request("GET", "/v1/sessions/s/state");
  expect(body).toMatchObject({ state: { runs: [{ id: runId, status: "queued", agent: "demo" }] } });

  it.answer();
  const again = await it.request("POST", `/v1/webhooks/dead/${id}/redeliver`);
  expect(again).toEqual({ status: 200, body: { id, status: "pending" } });
  await quiet();
  expect(it.sent.map(({ headers }) => headers.get("webhook-id"))).toEqual([id, id]);
  expect((await it.request("GET", "/v1/webhooks/dead")).body).toEqual({ dead: [] });
  expect((await it.claim()).work).toMatchObject({ runId });
  const late = await it.request("POST", `/v1/webhooks/dead/${id}/redeliver`);
  expect(late).toMatchObject({ status: 404, body: { code: "not_found" } });
});

test.each([400, 401, 404, 410, 422])("%i is for good", async (status) => {
  await using it = scene();
  it.answer(() => new Response(null, { status }));
  await it.wake();
  await it.clock.advance(60_000);
  expect(it.sent).toHaveLength(1);
});

test.each([301, 408, 409, 425, 429, 500, 502])("%i may pass", async (status) => {
  await using it = scene();
  it.answer(() => new Response(null, { status }));
  await it.wake();
  await it.clock.advance(5_000);
  expect(it.sent.length).toBeGreaterThan(2);
});

test("dead ones come page by page, over a restart, each once", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  const ids = Array.from({ length: 7 }, (_, n) => `s${n}`);
  {
    await using it = scene({ storage, clock });
    it.answer(gone);
    for (const id of ids) await it.wake(id);
  }
  await using it = scene({ storage, clock });
  await clock.advance(1_000);
  expect(it.sent).toEqual([]);
  const seen: string[] = [];
  let next: string | undefined = "";
  while (next !== undefined) {
    const after: string = next === "" ? "" : `&after=${next}`;
    const { body } = await it.request("GET", `/v1/webhooks/dead?limit=3${after}`);
    const page = body as unknown as { dead: { session: string }[]; next?: string };
    expect(page.dead.length).toBeLessThanOrEqual(3);
    seen.push(...page.dead.map(({ session }) => session));
    next = page.next;
  }
  expect(seen.toSorted()).toEqual(ids);
});

test("a dead one goes when its run is cancelled, and with its session", async () => {
  await using it = scene();
  it.answer(gone);
  const runId = await it.wake("s1");
  await it.wake("s2");
  await it.command("s1", { type: "run.cancel", runId });
  const ids = it.sent.map(({ headers }) => headers.get("webhook-id"));
  await it.request("DELETE", "/v1/sessions/s2");
  for (const id of ids) {
    const { status } = await it.request("POST", `/v1/webhooks/dead/${id}/redeliver`);
    expect(status).toBe(404);
  }
  expect((await it.request("GET", "/v1/webhooks/dead")).body).toEqual({ dead: [] });
});

test("agents and attempts see nothing of it", async () => {
  await using it = scene();
  await it.wake();
  for (const [method, path] of [
    ["GET", "/v1/webhooks/dead"],
    ["POST", "/v1/webhooks/dead/x/redeliver"],
    ["GET", "/v1/sessions/s/deliveries"],
  ] as const) {
    const { status, body } = await it.request(method, path, undefined, "agent:demo");
    expect([status, body["code"]]).toEqual([403, "forbidden"]);
  }
});
