import { expect, test } from "vitest";
import type { Entry } from "@holdfast/protocol";
import { memoryStorage } from "holdfast";
import { ManualClock } from "../../packages/server/test/support/clock.ts";
import { changesNothing } from "../hostile/support.ts";
import { historyOf, resultIn } from "./history.ts";
import {
  answerTo,
  callOf,
  decisionOn,
  firstData,
  openHouse,
  proposal,
  suspendOn,
} from "./support.ts";

test("C82: a result that comes while the run still streams is taken, and is not lost at its finish", async () => {
  await using house = await openHouse();
  const runId = await house.send("go");
  const attempt = await house.attempt();
  await attempt.append({ type: "round.open" }, ...proposal("c1", "location", "{}"));
  // Its round is open, and the model goes on talking.
  expect((await house.ana.command(house.session, answerTo("c1", "Oslo"))).status).toBe("applied");
  await attempt.append(
    { type: "TEXT_MESSAGE_START", messageId: "t" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "One moment." },
    { type: "TEXT_MESSAGE_END", messageId: "t" },
    { type: "round.close" },
  );
  await attempt.finish();
  const next = await house.attempt();
  expect(next.work).toMatchObject({ runId, attempt: 2 });
  expect(JSON.stringify(resultIn(await historyOf(house, runId), "c1"))).toContain("Oslo");
});

test("C91: an old tab changes nothing of what is over", async () => {
  await using house = await openHouse();
  await suspendOn(house, "transfer", "location");
  const approve = await decisionOn(house, "c1", true);
  const claimed = await house.ana.command(house.session, { type: "call.claim", callId: "c2" });
  const claimId = claimed.claimId ?? "";
  await house.ana.command(house.session, { ...answerTo("c2", "new"), claimId });
  await house.bo.command(house.session, approve);
  const second = await house.attempt();
  await second.append(answerTo("c1", "sent"));
  const stale = [
    [approve, "stale_decision"],
    [{ ...approve, approved: false }, "stale_decision"],
    [answerTo("c1", "mine"), "not_executor"],
    [answerTo("c2", "old"), "already_answered"],
    [{ ...answerTo("c2", "old"), claimId }, "already_answered"],
    [{ type: "call.claim", callId: "c2" }, "call_settled"],
    [{ type: "call.claim", callId: "c2", force: true }, "call_settled"],
    [{ type: "call.release", callId: "c2", claimId }, "call_settled"],
    [{ type: "call.progress", callId: "c2", claimId, progress: 1 }, "call_settled"],
    [{ type: "call.cancel", callId: "c2" }, "call_settled"],
  ] as const;
  for (const [command, code] of stale) {
    const { error } = await changesNothing(house, () => house.bo.command(house.session, command));
    expect([command.type, error?.code]).toEqual([command.type, code]);
  }
});

test("C107: a tool that ends after Stop is told so, and starts nothing", async () => {
  await using house = await openHouse();
  const { work } = await suspendOn(house, "location");
  const claim = await house.ana.command(house.session, { type: "call.claim", callId: "c1" });
  const { offset } = await house.ana.state(house.session);
  const { frames, stop: hangUp } = await house.ana.stream(house.session, offset);
  const stop = { type: "run.cancel", runId: work.runId, reason: "enough" } as const;
  await house.bo.command(house.session, stop);
  // One commit, of the one who stopped it, with the reason that was given.
  const commit = (await firstData(frames)).split("data: ").at(-1) ?? "";
  hangUp();
  const { entries } = JSON.parse(commit) as { entries: Entry[] };
  expect(entries.map(({ actor, event }) => ({ actor, ...event }))).toMatchObject([
    { actor: "user:bo", type: "call.settled", callId: "c1", outcome: "cancelled" },
    { actor: "user:bo", type: "run.ended", outcome: "cancelled", reason: "enough" },
  ]);
  const late = await changesNothing(house, () =>
    house.ana.command(house.session, { ...answerTo("c1"), claimId: claim.claimId ?? "" }),
  );
  expect(late.error).toMatchObject({
    code: "call_settled",
    details: { outcome: "cancelled", reason: "run_cancelled", settledBy: "user:bo" },
  });
  expect(await house.agent.claimWork({ worker: "w1", waitMs: 0 })).toBeUndefined();
  expect(await house.bo.audit(house.session)).toMatchObject([
    {
      type: "late_answer",
      actor: "user:ana",
      command: { id: late.id, type: "call.answer" },
      callId: "c1",
      runId: work.runId,
      code: "call_settled",
      winner: { by: "user:bo", outcome: "cancelled", reason: "run_cancelled" },
      content: '{"type":"json","value":"done"}',
    },
  ]);
});

test("C108: a tool that will not stop is over at once, alone or with its run", async () => {
  await using house = await openHouse();
  const { work } = await suspendOn(house, "location", "location");
  for (const callId of ["c1", "c2"])
    await house.ana.command(house.session, { type: "call.claim", callId });
  await house.bo.command(house.session, { type: "call.cancel", callId: "c1", reason: "slow" });
  const ended = { status: "settled", outcome: "cancelled", settledBy: "user:bo" };
  expect(await callOf(house, "c1")).toMatchObject({
    ...ended,
    reason: "cancelled",
    message: "slow",
  });
  expect((await callOf(house, "c2")).status).toBe("claimed"); // that one was not meant
  expect((await house.state()).runs.get(work.runId)?.status).toBe("suspended");
  await house.bo.command(house.session, { type: "run.cancel", runId: work.runId });
  expect(await callOf(house, "c2")).toMatchObject({ ...ended, reason: "run_cancelled" });
  expect((await house.state()).runs.get(work.runId)).toMatchObject({
    status: "ended",
    outcome: "cancelled",
  });
  for (const callId of ["c1", "c2"]) {
    const late = await house.ana.command(house.session, answerTo(callId));
    expect(late.error?.code).toBe("call_settled");
  }
});

test("C109: a run whose agent is gone goes to another, and ends when none of them stays", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  const terms = { leaseMs: 30_000, schedule: clock.schedule };
  await using house = await openHouse({ storage, ...terms });
  const runId = await house.send("go");
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    const { work, append } = await house.attempt({ worker: `w${attempt}` });
    expect(work).toMatchObject({ runId, attempt });
    await append({ type: "round.open" });
    await clock.advance(29_999);
    expect((await house.state()).runs.get(runId)?.status).toBe("active");
    await clock.advance(1);
    expect((await house.state()).runs.get(runId)?.status).toBe(attempt < 4 ? "queued" : "ended");
    expect((await append({ type: "round.open" })).error?.code).toBe(
      attempt < 4 ? "attempt_fenced" : "run_ended",
    );
  }
  const run = (await house.state()).runs.get(runId);
  expect(run).toMatchObject({ outcome: "error", reason: "agent_lost" });
});
