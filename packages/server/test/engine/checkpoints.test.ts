import { expect, test } from "vitest";
import { SIGN_AFTER_MS, SIGN_AFTER_RECORDS } from "../../src/engine/checkpoints.ts";
import { SIGN_AT_LATEST_MS } from "../../src/engine/unsigned.ts";
import { memoryStorage } from "../../src/storage/memory.ts";
import type { AuditAddition, Storage } from "../../src/storage/storage.ts";
import { ManualClock, quiet, until } from "../support/clock.ts";
import { ANA, send, startAttempt, startEngine } from "../support/engine.ts";

const checkpointsIn = async (storage: Storage) =>
  (await storage.audit("s", { after: 0, limit: 999, kinds: ["checkpoint"] })).length;

test("a chain is signed a while after its first act, and not again before there is another", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  await using engine = startEngine({ storage, schedule: clock.schedule });
  await engine.create("s", { agent: "demo" }, ANA);
  await clock.advance(SIGN_AFTER_MS - 1);
  expect(await checkpointsIn(storage)).toBe(0);
  await clock.advance(1);
  expect(await checkpointsIn(storage)).toBe(1);
  await clock.advance(5 * SIGN_AFTER_MS);
  expect(await checkpointsIn(storage)).toBe(1);
  await send(engine, "s", { type: "run.cancel", runId: "run_none" });
  await clock.advance(SIGN_AFTER_MS + 1000);
  expect(await checkpointsIn(storage)).toBe(2);
});

test("a chain is signed at once when it has many new records, and when the engine closes", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  {
    await using engine = startEngine({ storage, schedule: clock.schedule });
    await engine.create("s", { agent: "demo" }, ANA);
    for (let n = 0; n < SIGN_AFTER_RECORDS; n += 1) {
      await send(engine, "s", { type: "policy.set", policy: {} });
    }
    await until("a checkpoint", async () => (await checkpointsIn(storage)) === 1);
    await send(engine, "s", { type: "policy.set", policy: {} });
  }
  expect(await checkpointsIn(storage)).toBe(2);
});

const APPLIED = { status: "applied", offset: expect.any(String) };

test("tokens cost the audit nothing: no write, no read, no byte", async () => {
  const clock = new ManualClock();
  const inner = memoryStorage({ now: clock.now });
  const added: AuditAddition[] = [];
  let reads = 0;
  let bytes = 0;
  const storage: Storage = {
    ...inner,
    append: async (commit) => {
      bytes += commit.batch?.json.match(/"salt"|"digest"|"hash"/g)?.length ?? 0;
      return inner.append(commit);
    },
    addAudit: async (session, records) => {
      added.push(...records);
      return inner.addAudit(session, records);
    },
    entries: async (...query) => {
      reads += 1;
      return inner.entries(...query);
    },
    audit: async (...query) => {
      reads += 1;
      return inner.audit(...query);
    },
  };
  const leaseMs = 10 * SIGN_AFTER_MS;
  await using engine = startEngine({ storage, schedule: clock.schedule, leaseMs });
  const { append } = await startAttempt(engine, "s");
  await append({ type: "round.open" }, { type: "TEXT_MESSAGE_START", messageId: "m" });
  await clock.advance(SIGN_AFTER_MS);
  expect(added.map(({ kind }) => kind)).toEqual(["checkpoint"]);
  [added.length, reads, bytes] = [0, 0, 0];
  for (let n = 0; n < 2 * SIGN_AFTER_RECORDS; n += 1) {
    const delta = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "token " } as const;
    expect(await append(delta)).toEqual({ id: expect.any(String), ...APPLIED });
  }
  await clock.advance(2 * SIGN_AFTER_MS);
  expect([added.length, reads, bytes]).toEqual([0, 0, 0]);
});

test("a session that is deleted is not signed any more", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  await using engine = startEngine({ storage, schedule: clock.schedule });
  await engine.create("s", { agent: "demo" }, ANA);
  await engine.delete("s");
  await clock.advance(SIGN_AFTER_MS / 2);
  await engine.create("s", { agent: "demo" }, ANA);
  await clock.advance(SIGN_AFTER_MS / 2);
  expect(await checkpointsIn(storage)).toBe(0);
});

const unsignedIn = async (storage: Storage) =>
  (await storage.due({ kinds: ["unsigned"], before: Infinity, limit: 99 })).map(
    ({ session }) => session,
  );

test("acts that a crash left unsigned are signed after the next start, and no other session is looked at", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  const crashed = startEngine({ storage, schedule: () => () => {} }); // nothing of it ever comes to sign
  await crashed.create("s", { agent: "demo" }, ANA);
  await crashed.create("signed", { agent: "demo" }, ANA);
  await drain(await crashed.trail.export("signed"));
  expect(await unsignedIn(storage)).toEqual(["s"]);

  const read: string[] = [];
  const watched: Storage = {
    ...storage,
    audit: (session, query) => (read.push(session), storage.audit(session, query)),
  };
  await using engine = startEngine({ storage: watched, schedule: clock.schedule });
  await clock.advance(SIGN_AT_LATEST_MS);
  expect(await checkpointsIn(storage)).toBe(1);
  expect(await unsignedIn(storage)).toEqual([]);
  expect(read).toEqual(["s"]);
  expect((await engine.trail.verify("s")).ok).toBe(true);
});

test("an act that comes while its chain is signed is signed after it", async () => {
  const clock = new ManualClock();
  const inner = memoryStorage({ now: clock.now });
  const gate = Promise.withResolvers<void>();
  let isOpen = true;
  const storage: Storage = {
    ...inner,
    addAudit: async (...args) => {
      if (!isOpen) await gate.promise;
      return inner.addAudit(...args);
    },
  };
  const crashed = startEngine({ storage, schedule: () => () => {} });
  await crashed.create("s", { agent: "demo" }, ANA);
  isOpen = false;
  const exporting = crashed.trail.export("s");
  await quiet();
  await send(crashed, "s", { type: "policy.set", policy: {} });
  isOpen = true;
  gate.resolve();
  await drain(await exporting);
  await quiet();
  expect(await checkpointsIn(storage)).toBe(1);
  expect(await unsignedIn(storage)).toEqual(["s"]);
  await using engine = startEngine({ storage, schedule: clock.schedule });
  await clock.advance(SIGN_AT_LATEST_MS);
  expect(await checkpointsIn(storage)).toBe(2);
  expect(await unsignedIn(storage)).toEqual([]);
  expect((await engine.trail.verify("s")).records).toBe(2);
});

test("a session that closes with its engine leaves nothing to sign", async () => {
  const storage = memoryStorage();
  {
    await using engine = startEngine({ storage });
    await engine.create("s", { agent: "demo" }, ANA);
    expect(await unsignedIn(storage)).toEqual(["s"]);
  }
  expect(await checkpointsIn(storage)).toBe(1);
  expect(await unsignedIn(storage)).toEqual([]);
});

async function drain(lines: AsyncIterable<string>): Promise<void> {
  for await (const _ of lines); // to the end
}

test("an audit that is asked for while it is signed is signed after that, and not behind it", async () => {
  const inner = memoryStorage();
  const gate = Promise.withResolvers<void>();
  let asked = 0;
  const storage: Storage = {
    ...inner,
    addAudit: async (...args) => {
      if ((asked += 1) === 1) await gate.promise;
      return inner.addAudit(...args);
    },
  };
  await using engine = startEngine({ storage });
  await engine.create("s", { agent: "demo" }, ANA);
  const first = engine.trail.export("s");
  await until("it is signed", () => asked === 1);
  await send(engine, "s", { type: "policy.set", policy: {} });
  const second = engine.trail.export("s");
  await quiet();
  gate.resolve();
  await drain(await first);
  await drain(await second);
  expect(await engine.trail.verify("s")).toMatchObject({ ok: true, records: 2, checkpoints: 2 });
});
