import { HoldfastError } from "@holdfast/protocol";
import { memoryStorage, type Storage } from "holdfast";
import { expect, test } from "vitest";
import { withHold } from "../../packages/server/test/storage/hold.ts";
import type { Engine } from "../../packages/server/src/engine/index.ts";
import { ANA, send, startEngine } from "../../packages/server/test/support/engine.ts";
import { quiet } from "../../packages/server/test/support/clock.ts";
import { openHouse, proposal, type House } from "../cases/support.ts";

const path = (house: House) => `/v1/sessions/${house.session}`;

test("a session deleted while others use it, and made again, is a new one", async () => {
  await using house = await openHouse();
  const cursors = new Set<string>();
  for (let round = 0; round < 15; round += 1) {
    await house.send("old");
    const { offset } = await house.ana.state(house.session);
    const { frames, stop } = await house.bo.stream(house.session);
    const reader = frames.getReader();
    const say = (n: number) =>
      house.ana
        .call("POST", `${path(house)}/commands`, {
          id: `late-${round}-${n}`,
          type: "message.send",
          messageId: `late-${round}-${n}`,
          content: "late",
        })
        .then(({ status }) => expect([200, 404]).toContain(status));
    const remove = () =>
      house.bo.call("DELETE", path(house)).then(({ status }) => expect(status).toBe(204));
    const look = () =>
      house.ana
        .call("GET", `${path(house)}/state`)
        .then(({ status }) => expect([200, 404]).toContain(status));
    await Promise.all([say(1), look(), remove(), look(), say(2), remove(), look(), say(3)]);
    while (!(await reader.read()).done); // its readers' streams end
    stop();
    expect((await house.ana.call("GET", path(house))).status).toBe(404);
    await Promise.all([house.ana.create(house.session), house.bo.create(house.session)]);
    const made = await house.ana.state(house.session);
    expect(made.state.messages).toEqual([]);
    const old = await house.ana.call("GET", `${path(house)}/entries?after=${offset}`);
    expect(old.status).toBe(409);
    cursors.add(made.offset.split(".")[0] ?? "");
  }
  expect(cursors.size).toBe(15); // each with an epoch of its own
});

test("after any mixture of making, deleting and writing, the server and its storage agree", async () => {
  await using house = await openHouse({ maxLoaded: 2 });
  const sessions = ["a", "b", "c"];
  let count = 0;
  for (let round = 0; round < 3; round += 1) {
    const acts = Array.from({ length: 60 }, (_, n) => {
      const session = sessions[n % 3] ?? "a";
      const to = `/v1/sessions/${session}`;
      switch ((n * 7 + round * 5) % 9) {
        case 0:
        case 1:
          return house.ana.call("PUT", to, { agent: "demo" });
        case 2:
          return house.ana.call("DELETE", to);
        case 3:
          return house.bo.call("GET", `${to}/state`);
        case 4:
          return house.bo.call("GET", `${to}/entries`);
        default:
          count += 1;
          return house.ana.call("POST", `${to}/commands`, {
            id: `c${count}`,
            type: "message.send",
            messageId: `m${count}`,
            content: "x",
            whileActive: "concurrent",
          });
      }
    });
    for (const { status } of await Promise.all(acts)) {
      expect([200, 201, 204, 404, 503]).toContain(status);
    }
    const look = async () =>
      JSON.stringify(
        await Promise.all(
          sessions.flatMap((session) => [
            house.ana.call("GET", `/v1/sessions/${session}/state`),
            house.ana.call("GET", `/v1/sessions/${session}/entries`),
          ]),
        ),
      );
    const before = await look();
    await house.restart();
    expect(await look()).toBe(before);
  }
});

test("a commit that fails under many commands refuses each of them, and each may be sent again", async () => {
  const held = withHold(memoryStorage());
  await using house = await openHouse({ storage: held.storage, log: () => {} });
  await house.ana.create("well");
  const send = (n: number) =>
    house.ana.call("POST", `${path(house)}/commands`, {
      id: `c${n}`,
      type: "message.send",
      messageId: `m${n}`,
      content: "x",
      whileActive: "concurrent",
    });
  for (const where of ["before", "after"] as const) {
    const base = where === "before" ? 0 : 100;
    const { offset } = await house.ana.state(house.session);
    held.hold(where);
    const first = send(base);
    await held.held(1);
    // These are decided on what is not durable, and wait behind it.
    const rest = Array.from({ length: 30 }, (_, n) => send(base + n + 1));
    await new Promise((resolve) => setTimeout(resolve, 100)); // most of them are there
    const other = house.ana.call("GET", "/v1/sessions/well/state");
    held.fail(new Error("the disk is full"));
    const answers = await Promise.all([first, ...rest]);
    const failed = answers.filter(({ status }) => status !== 200);
    expect(failed.length).toBeGreaterThan(1);
    for (const { status, body } of failed) {
      expect([status, (body as { code: string }).code]).toEqual([500, "internal"]);
      expect(JSON.stringify(body)).not.toContain("disk"); // that is for the log
    }
    expect((await other).status).toBe(200);
    const after = await house.ana.state(house.session);
    // What failed before it was written never happened; what was written holds, whatever was said.
    if (failed.length === answers.length) expect(after.offset > offset).toBe(where === "after");
    const again = await Promise.all(Array.from({ length: 31 }, (_, n) => send(base + n)));
    for (const { status } of again) expect(status).toBe(200);
    const { state } = await house.ana.state(house.session);
    const ids = state.messages.map(({ id }) => id).filter((id) => Number(id.slice(1)) >= base);
    expect(ids.toSorted()).toEqual(Array.from({ length: 31 }, (_, n) => `m${base + n}`).toSorted());
  }
});

test("a server that closes under load finishes what it took and says no to the rest", async () => {
  const storage = memoryStorage();
  await using house = await openHouse({ storage });
  await house.send("go");
  const waiting = house.agent.claimWork({ worker: "w0", agent: "demo", waitMs: 0 });
  await waiting;
  const poll = house.agent.call("POST", "/v1/work/claim", {
    agent: "demo",
    worker: "w1",
    waitMs: 30_000,
  });
  const { frames } = await house.bo.stream(house.session);
  const acknowledged: string[] = [];
  const senders = Array.from({ length: 8 }, async (_, sender) => {
    for (let n = 0; ; n += 1) {
      const messageId = `m-${sender}-${n}`;
      const sent = house.ana.call("POST", `${path(house)}/commands`, {
        id: messageId,
        type: "message.send",
        messageId,
        content: "x",
      });
      const answer = await sent.catch(() => undefined); // nobody listens any more
      if (answer?.status === 200) acknowledged.push(messageId);
      else return answer?.status;
    }
  });
  await quiet();
  await house.restart();
  expect([204, 200]).toContain((await poll).status);
  const reader = frames.getReader();
  while (!(await reader.read()).done); // its readers' streams end in good order
  for (const status of await Promise.all(senders)) expect([undefined, 503]).toContain(status);
  expect(acknowledged.length).toBeGreaterThan(0);
  const { messages } = await house.state();
  for (const id of acknowledged) expect(messages.has(id)).toBe(true);
});

test("a restart finds attempts, claims and timers as they were, and gives holders their time", async () => {
  let now = Date.now();
  const storage = memoryStorage({ now: () => now });
  const terms = { leaseMs: 60_000, claimLeaseMs: 60_000 };
  await using house = await openHouse({ storage, ...terms });
  const tools = [
    { name: "location", executor: "client", retry: "safe", deadlineMs: 600_000 },
    { name: "transfer", approval: "always", approvalMs: 600_000 },
    { name: "weather", retry: "safe" },
  ];
  const runId = await house.send("go");
  const attempt = await house.attempt({ tools });
  await attempt.append(
    { type: "round.open" },
    ...proposal("c1", "location", "{}"),
    ...proposal("c2", "transfer", "{}"),
    ...proposal("c3", "weather", "{}"),
    { type: "round.close" },
  );
  const claimed = await house.ana.command(house.session, { type: "call.claim", callId: "c1" });
  const before = JSON.stringify(await house.ana.state(house.session));
  now += 3_600_000; // the machine slept, so everything is overdue
  await house.restart();
  await quiet();
  const { calls, runs } = await house.state();
  expect([calls.get("c1")?.reason, calls.get("c2")?.reason]).toEqual([
    "deadline",
    "approval_expired",
  ]);
  // Whoever holds a lease could not renew it while there was no server.
  expect(runs.get(runId)).toMatchObject({ status: "active", attempt: 1 });
  expect(before).toContain(claimed.claimId);
  now -= 7_200_000; // and its clock was set back
  await house.restart();
  const agent = house.ana.as(attempt.work.token);
  const claim = await agent.command(house.session, { type: "call.claim", callId: "c3" });
  expect(claim).toMatchObject({ status: "applied" });
  const late = await house.ana.command(house.session, {
    type: "call.answer",
    callId: "c1",
    outcome: "ok",
    answer: { type: "json", value: 1 },
  });
  expect(late.error?.code).toBe("call_settled");
});

test("timers of a session that cannot be written hold up no other's", async () => {
  let now = Date.now();
  const inner = memoryStorage({ now: () => now });
  let broken = "";
  const storage: Storage = {
    ...inner,
    append: (commit) =>
      commit.session === broken ? Promise.reject(new Error("bad sector")) : inner.append(commit),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
  await using house = await openHouse({ storage, log: () => {} });
  const tools = [{ name: "location", executor: "client", deadlineMs: 1_000 }];
  const propose = async (count: number) => {
    await house.send("go");
    const attempt = await house.attempt({ tools });
    await attempt.append({ type: "round.open" });
    const ids = Array.from({ length: count }, (_, n) => `call-${n}`);
    await attempt.append(...ids.flatMap((id) => proposal(id, "location", "{}")));
    await attempt.append({ type: "round.close" });
  };
  house.session = "broken";
  await house.ana.create("broken");
  await propose(150);
  now += 10;
  house.session = "well";
  await house.ana.create("well");
  await propose(1);
  broken = "broken";
  now += 1_000;
  await house.restart();
  const expired = await house.ana.until("well", ({ calls }) => calls[0]?.status === "settled");
  expect(expired.calls).toMatchObject([{ reason: "deadline" }]);
});

test("a reader that catches up while its session is deleted and made again sees nothing of the new one", async () => {
  for (let round = 0; round < 8; round += 1) {
    const logged: unknown[] = [];
    await using engine = startEngine({ log: (...words) => void logged.push(words) });
    await engine.create("s", { agent: "demo" }, ANA);
    for (let n = 0; n < 5; n += 1) await say(engine, `old${n}`);
    const frames = await engine.subscribe("s", undefined);
    const { value: first } = await frames.next();
    const [epoch] = first?.[0]?.last.split(".") ?? [];
    await engine.delete("s");
    await engine.create("s", { agent: "demo" }, ANA);
    for (let n = 0; n < 5; n += 1) await say(engine, `new${n}`);
    for await (const some of frames) {
      for (const { last } of some) expect(last.split(".")[0]).toBe(epoch);
    }
    expect(logged).toEqual([]);
  }
});

test("a page that is read while its session is deleted and made again holds nothing of the new one", async () => {
  const inner = memoryStorage();
  let held: Promise<void> | undefined;
  const storage: Storage = {
    ...inner,
    entries: async (session, after, maxBytes) => {
      await held;
      return inner.entries(session, after, maxBytes);
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
  for (let round = 0; round < 8; round += 1) {
    await using engine = startEngine({ storage });
    await engine.create("s", { agent: "demo" }, ANA);
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    const reading = engine.page("s", undefined, 100);
    await quiet();
    await engine.delete("s");
    await engine.create("s", { agent: "demo" }, ANA);
    await say(engine, "new");
    resolve();
    // Whether the offsets of the one come before those of the other is chance.
    const read = await reading.catch((error: unknown) => error);
    if (read instanceof HoldfastError) expect(read.code).toBe("overloaded");
    else expect(read).toMatchObject({ entries: "[]", upToDate: false });
    await engine.delete("s");
  }
});

function say(engine: Engine, messageId: string) {
  const content = "x".repeat(200_000);
  return send(engine, "s", { type: "message.send", messageId, content });
}
