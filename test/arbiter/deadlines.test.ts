import type { Entry, StateRows, ToolDeclaration } from "@holdfast/protocol";
import { memoryStorage, openSqlite } from "holdfast";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualClock } from "../../packages/server/test/support/clock.ts";
import { withHold } from "../../packages/server/test/storage/hold.ts";
import { openHouse, proposal, type House } from "../cases/support.ts";

const TERM = 60_000;
const DAY = 86_400_000;

interface Kind {
  readonly tool: ToolDeclaration;
  /** What the log says when the time has come. */
  readonly event: Partial<Entry["event"]>;
  readonly claims?: boolean;
  /** A right that somebody holds: who could not renew it, since there was no server, has it for a term longer. */
  readonly isHeld?: boolean;
  /** The attempt goes on; else it finishes first. */
  readonly isActive?: boolean;
}

const PAGE = { name: "page", executor: "client" } as const;
const KINDS: Readonly<Record<string, Kind>> = {
  "a call's deadline": {
    tool: { ...PAGE, deadlineMs: TERM },
    event: { type: "call.settled", outcome: "expired", reason: "deadline" },
  },
  "an approval": {
    tool: { name: "pay", approval: "always", approvalMs: TERM },
    event: { type: "call.settled", outcome: "expired", reason: "approval_expired" },
  },
  "an open call's escalation": {
    tool: { ...PAGE, escalateMs: TERM },
    event: { type: "call.escalated" },
  },
  "a gated call's escalation": {
    tool: { name: "pay", approval: "always", escalateMs: TERM },
    event: { type: "call.escalated" },
  },
  "a client's claim": {
    tool: PAGE,
    claims: true,
    isHeld: true,
    event: { type: "call.released", reason: "expired", manual: true },
  },
  "a claim that may be repeated": {
    tool: { ...PAGE, retry: "safe" },
    claims: true,
    isHeld: true,
    event: { type: "call.released", reason: "expired" },
  },
  "a run's lease": {
    tool: PAGE,
    isActive: true,
    isHeld: true,
    event: { type: "attempt.lost", reason: "lease_expired" },
  },
};

test.each(Object.entries(KINDS))("%s ends on time, and once", async (_, kind) => {
  const clock = new ManualClock();
  await using house = await openTimed(clock);
  await arrange(house, kind);
  await clock.advance(TERM - 1);
  expect(await happened(house, kind)).toEqual([]);
  await clock.advance(1);
  const [first] = await happened(house, kind);
  expect(first).toMatchObject({ at: clock.now(), actor: "server" });
  await clock.advance(DAY);
  await house.restart(() => clock.advance(DAY));
  await clock.advance(DAY);
  expect(await happened(house, kind)).toHaveLength(1);
});

test.each(Object.entries(KINDS))("%s ends on time after a restart", async (_, kind) => {
  const clock = new ManualClock();
  await using house = await openTimed(clock);
  await arrange(house, kind);
  await house.restart(() => clock.advance(TERM / 2));
  await clock.advance(TERM / 2 - 1);
  expect(await happened(house, kind)).toEqual([]);
  if (kind.isHeld) await clock.advance(TERM);
  expect(await happened(house, kind)).toEqual([]);
  await clock.advance(1);
  expect(await happened(house, kind)).toMatchObject([{ at: clock.now() }]);
});

test.each(Object.entries(KINDS))(
  "%s that passed while the server was away ends at once, or with grace",
  async (_, kind) => {
    const clock = new ManualClock();
    await using house = await openTimed(clock);
    await arrange(house, kind);
    await house.restart(() => clock.advance(DAY));
    await clock.advance(0);
    if (kind.isHeld) {
      await clock.advance(TERM - 1);
      expect(await happened(house, kind)).toEqual([]);
      await clock.advance(1);
    }
    expect(await happened(house, kind)).toMatchObject([{ at: clock.now() }]);
    await house.restart(() => clock.advance(DAY));
    await clock.advance(DAY);
    expect(await happened(house, kind)).toHaveLength(1);
  },
);

test("an escalated call goes on waiting, and is answered as any other", async () => {
  const clock = new ManualClock();
  await using house = await openTimed(clock);
  await arrange(house, { tool: { ...PAGE, escalateMs: TERM }, event: {} });
  await clock.advance(TERM);
  expect((await house.state()).calls.get("c1")).toMatchObject({
    status: "open",
    escalatedAt: clock.now(),
  });
  const give = { type: "call.answer", callId: "c1", outcome: "ok" } as const;
  const answer = { type: "json", value: 1 } as const;
  const verdict = await house.ana.command(house.session, { ...give, answer });
  expect(verdict.status).toBe("applied");
});

test("a deadline holds that was written by a commit of which nobody heard", async () => {
  const clock = new ManualClock();
  const held = withHold(memoryStorage({ now: clock.now }));
  await using house = await openHouse({ ...timed(clock), storage: held.storage, log: () => {} });
  const attempt = await propose(house, { ...PAGE, deadlineMs: TERM / 2 });
  held.hold("after");
  const closing = attempt.append({ type: "round.close" });
  await held.held(1);
  held.fail(new Error("the connection broke"));
  await expect(closing).rejects.toThrow("500");
  await clock.advance(TERM / 2);
  expect((await house.state()).calls.get("c1")).toMatchObject({ reason: "deadline" });
});

test("on the system's clock and a disk, a deadline and an escalation come by themselves", async () => {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-deadlines-"));
  try {
    await using storage = await openSqlite({ directory });
    await using house = await openHouse({ storage });
    await house.send("go");
    const timed = { ...PAGE, name: "timed", deadlineMs: 200 };
    const attempt = await house.attempt({ tools: [{ ...PAGE, escalateMs: 200 }, timed] });
    const calls = [...proposal("c1", "page", "{}"), ...proposal("c2", "timed", "{}")];
    await attempt.append({ type: "round.open" }, ...calls, { type: "round.close" });
    await attempt.finish();
    await house.restart();
    const come = ({ calls: [page, other] }: StateRows) =>
      page?.escalatedAt !== undefined && other?.status === "settled";
    const [page, other] = (await house.ana.until(house.session, come)).calls;
    expect(page?.escalatedAt).toBeGreaterThanOrEqual(page?.escalateAt ?? Infinity);
    expect(other).toMatchObject({ outcome: "expired", reason: "deadline" });
    expect(other?.settledAt).toBeGreaterThanOrEqual(other?.deadlineAt ?? Infinity);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

function timed(clock: ManualClock) {
  const storage = memoryStorage({ now: clock.now });
  return { storage, schedule: clock.schedule, leaseMs: TERM, claimLeaseMs: TERM };
}

function openTimed(clock: ManualClock): Promise<House> {
  return openHouse(timed(clock));
}

async function propose(house: House, tool: ToolDeclaration) {
  await house.send("go");
  const attempt = await house.attempt({ tools: [tool] });
  await attempt.append({ type: "round.open" }, ...proposal("c1", tool.name, "{}"));
  return attempt;
}

/** One call whose time begins now. */
async function arrange(house: House, { tool, claims, isActive }: Kind): Promise<void> {
  const attempt = await propose(house, tool);
  await attempt.append({ type: "round.close" });
  if (!isActive) await attempt.finish();
  if (claims) await house.ana.command(house.session, { type: "call.claim", callId: "c1" });
}

/** Where the log says that the time had come. */
async function happened(house: House, { event }: Kind): Promise<Entry[]> {
  const wanted = Object.entries(event);
  const entries = await house.ana.entries(house.session);
  return entries.filter((entry) => {
    const said = entry.event as unknown as Record<string, unknown>;
    return wanted.every(([key, value]) => said[key] === value);
  });
}
