import { expect, test } from "vitest";
import { ManualClock } from "../support/clock.ts";
import { ANA, send, startAttempt, startEngine, stateOf } from "../support/engine.ts";
import { gate } from "../support/gate.ts";
import { memoryStorage } from "../../src/storage/memory.ts";

const MESSAGE = { id: "one", type: "message.send", messageId: "m1", content: "hello" } as const;

test("the same command again has the verdict it had and changes nothing", async () => {
  const { storage, commits } = gate();
  await using engine = startEngine({ storage });
  await engine.create("s", { agent: "demo" }, ANA);
  const first = await send(engine, "s", MESSAGE);
  await send(engine, "s", { type: "message.send", messageId: "m2", content: "later" });
  const written = commits.length;
  const again = await send(engine, "s", MESSAGE);
  expect(again).toEqual({ ...first, repeated: true });
  // The order of the body's keys is no difference.
  const { id, type, ...rest } = MESSAGE;
  expect(await send(engine, "s", { ...rest, type, id })).toEqual(again);
  expect(commits.length).toBe(written);
});

test("a command sent again while its commit is in flight waits for it", async () => {
  await using engine = startEngine();
  await engine.create("s", { agent: "demo" }, ANA);
  const [first, again] = await Promise.all([
    send(engine, "s", MESSAGE),
    send(engine, "s", MESSAGE),
  ]);
  expect(again).toEqual({ ...first, repeated: true });
});

test.each([
  ["another body", { ...MESSAGE, content: "other" }, ANA],
  ["another sender", MESSAGE, { principal: "user:bob" }],
])("an id used for %s is key_reused", async (_, command, actor) => {
  await using engine = startEngine();
  await engine.create("s", { agent: "demo" }, ANA);
  await send(engine, "s", MESSAGE);
  const verdict = await send(engine, "s", command, actor);
  expect(verdict).toMatchObject({ id: "one", status: "rejected", error: { code: "key_reused" } });
  expect((await stateOf(engine, "s")).messages).toHaveLength(1);
});

test("a refused command may be sent again under its id", async () => {
  await using engine = startEngine();
  await engine.create("s", { agent: "demo" }, ANA);
  const command = { id: "x", type: "run.cancel", runId: "run_none" } as const;
  expect((await send(engine, "s", command)).status).toBe("rejected");
  expect((await send(engine, "s", command)).error?.code).toBe("unknown_run");
});

test("receipts outlive the server, and are forgotten after 24 hours", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  const options = { storage, schedule: clock.schedule };
  const first = await (async () => {
    await using engine = startEngine(options);
    await engine.create("s", { agent: "demo" }, ANA);
    return send(engine, "s", MESSAGE);
  })();
  await using engine = startEngine(options);
  expect(await send(engine, "s", MESSAGE)).toEqual({ ...first, repeated: true });

  await clock.advance(24 * 60 * 60 * 1000);
  expect((await send(engine, "s", MESSAGE)).error?.code).toBe("message_exists");
  await send(engine, "s", { ...MESSAGE, id: "two", messageId: "m2" });
  const kept = (await storage.rows("s"))?.rows.filter(({ kind }) => kind === "receipt");
  expect(kept?.map(({ id }) => id)).toEqual(["two"]);
});

test("an append sent again is recognised by its producer's sequence, also after a reload", async () => {
  const { storage } = gate();
  const append = (seq: number, runId: string) =>
    ({
      type: "run.append",
      runId,
      attempt: 1,
      producer: "p",
      seq,
      items: [{ type: "CUSTOM", name: "n", value: seq }],
    }) as const;
  const { work, actor, head } = await (async () => {
    await using engine = startEngine({ storage });
    const { work, actor } = await startAttempt(engine, "s");
    await send(engine, "s", append(1, work.runId), actor);
    expect(await send(engine, "s", append(1, work.runId), actor)).toMatchObject({ repeated: true });
    return { work, actor, head: (await engine.state("s")).offset };
  })();
  await using engine = startEngine({ storage });
  expect(await send(engine, "s", append(1, work.runId), actor)).toMatchObject({
    status: "applied",
    repeated: true,
    offset: head,
  });
  const gap = await send(engine, "s", append(3, work.runId), actor);
  expect(gap.error).toMatchObject({ code: "sequence_gap", details: { expected: 2 } });
  const rows = await storage.rows("s");
  expect(rows?.rows.filter(({ kind, id }) => kind === "receipt" && id !== "")).toHaveLength(1);
});
