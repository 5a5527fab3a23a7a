import { request, type ClientRequest } from "node:http";
import { memoryStorage } from "holdfast";
import { expect, test } from "vitest";
import { withHold } from "../../packages/server/test/storage/hold.ts";
import { until } from "../../packages/server/test/support/clock.ts";
import { openHouse, type House } from "../cases/support.ts";
import { devToken } from "../support/wire.ts";

/** A poll for work that can be cut off. */
function poll(house: House, token: string, worker: string, more: object = {}) {
  const { hostname, port } = new URL(house.url);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const options = { hostname, port, path: "/v1/work/claim", method: "POST", headers, agent: false };
  let sent: ClientRequest | undefined;
  const status = new Promise<number>((resolve) => {
    sent = request(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", () => resolve(0)); // cut off
    sent.end(JSON.stringify({ agent: "demo", worker, waitMs: 30_000, ...more }));
  });
  return { status, cut: () => sent?.destroy() };
}

test("polls that vanish while they wait take nothing with them", async () => {
  await using house = await openHouse();
  const token = await devToken(house.url, { agent: "demo" });
  for (let round = 0; round < 3; round += 1) {
    const polls = Array.from({ length: 10 }, (_, n) => poll(house, token, `gone-${n}`));
    const stays = house.agent.claimWork({ worker: "stays", waitMs: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, 20)); // they wait
    for (const { cut } of polls) cut();
    const runId = await house.send("go");
    // Whoever was called and is gone passes the call on; the lease, of a minute, need not end.
    expect(await stays).toMatchObject({ runId });
    await Promise.all(polls.map(({ status }) => status));
    await house.ana.command(house.session, { type: "run.cancel", runId });
  }
});

test.each(["before", "after"] as const)(
  "an attempt granted to a worker that left while it was committed (%s) goes to the next at once",
  async (where) => {
    const held = withHold(memoryStorage());
    await using house = await openHouse({ storage: held.storage });
    const token = await devToken(house.url, { agent: "demo" });
    const runId = await house.send("go");
    held.hold(where);
    const gone = poll(house, token, "gone", { instance: "i1" });
    await held.held(1); // the grant is under way
    gone.cut();
    expect(await gone.status).toBe(0);
    await house.ana.call("GET", "/healthz"); // the server has heard of the cut
    await new Promise((resolve) => setTimeout(resolve, 50));
    const next = house.agent.claimWork({ worker: "next", waitMs: 20_000 });
    held.release();
    expect(await next).toMatchObject({ runId, attempt: 2 });
    const entries = await house.ana.entries(house.session);
    expect(entries.filter(({ event }) => event.type === "attempt.released")).toMatchObject([
      { attempt: 1, event: { reason: "worker_left" } },
    ]);
    // Nobody ever had it, so that it wears out nothing.
    const { runs } = (await house.ana.state(house.session)).state;
    expect(runs[0]).toMatchObject({ losses: 0, attempt: 2 });
  },
);

test("many workers, some under one name, race for each wake-up: one gets it", async () => {
  await using house = await openHouse();
  const names = ["a", "b", "c", "c"];
  for (let round = 0; round < 4; round += 1) {
    const session = `race-${round}`;
    await house.ana.create(session);
    const polls = names.map((worker, n) =>
      house.agent.claimWork({ worker, instance: `${worker}${n}`, waitMs: 300 }),
    );
    const { runId } = await house.ana.command(session, {
      type: "message.send",
      messageId: "m",
      content: "go",
    });
    const first = await Promise.race(
      polls.map(async (it) => (await it) ?? new Promise<never>(() => {})),
    );
    expect(first).toMatchObject({ session, runId, attempt: 1 });
    await house.ana.command(session, { type: "run.cancel", runId: runId ?? "" });
    const works = await Promise.all(polls);
    expect(works.filter((work) => work !== undefined)).toHaveLength(1);
  }
});

test("the same wake-up asked for again by its worker is the same attempt, for others it is held", async () => {
  await using house = await openHouse();
  await house.send("go");
  const work = await house.agent.claimWork({ worker: "w", instance: "i" });
  const { wakeId, token } = work ?? { wakeId: "", token: "" };
  const again = Array.from({ length: 10 }, () =>
    house.agent.claimAgain({ worker: "w", instance: "i", wakeId }),
  );
  for (const same of await Promise.all(again)) {
    expect(same.work).toMatchObject({ runId: work?.runId, attempt: 1 });
  }
  const others = [
    house.agent.claimAgain({ worker: "other", wakeId }),
    house.agent.claimAgain({ worker: "w", wakeId: "wake_x" }),
    house.agent.claimAgain({ worker: "w\u2028", wakeId }),
  ];
  for (const { code } of await Promise.all(others)) expect(code).toBe("run_held");
  // And the attempt goes on undisturbed.
  const beat = { type: "run.heartbeat", runId: work?.runId ?? "", attempt: 1 } as const;
  expect(await house.ana.as(token).command(house.session, beat)).toMatchObject({
    status: "applied",
  });
});

test("a worker that waits hears of a run in a session that was deleted and made again", async () => {
  await using house = await openHouse();
  const stays = house.agent.claimWork({ worker: "stays", waitMs: 20_000 });
  await house.ana.call("DELETE", `/v1/sessions/${house.session}`);
  await house.ana.create(house.session);
  const runId = await house.send("go");
  expect(await stays).toMatchObject({ runId, attempt: 1 });
  await until("it is the only run", async () => (await house.state()).runs.size === 1);
});
