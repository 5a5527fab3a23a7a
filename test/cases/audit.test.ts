import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditRecord } from "@holdfast/protocol";
import { memoryStorage, openSqlite } from "holdfast";
import { expect, test } from "vitest";
import { ManualClock } from "../../packages/server/test/support/clock.ts";
import { changesNothing } from "../hostile/support.ts";
import { answerTo, callOf, decisionOn, openHouse, suspendOn, type House } from "./support.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
/** A late answer's text has a salt before it, since the digest outlives both (SPEC 6.14). */
const salted = (record: AuditRecord | undefined, text: string) => {
  const { salt } = record as { readonly salt?: string };
  expect(salt).toMatch(/./);
  return sha256(`${salt}\n${text}`);
};

/** Ana's answer to a settled call, which changes nothing, and the newest record of the audit. */
async function tooLate(house: House, callId: string, value = "late"): Promise<AuditRecord> {
  const verdict = await changesNothing(house, () =>
    house.ana.command(house.session, answerTo(callId, value)),
  );
  expect(verdict.status).toBe("rejected");
  const record = (await house.bo.audit(house.session)).at(-1);
  const text = JSON.stringify({ type: "json", value });
  expect(record).toMatchObject({
    type: "late_answer",
    actor: "user:ana",
    offset: verdict.offset,
    command: { id: verdict.id, type: "call.answer" },
    callId,
    code: verdict.error?.code,
    outcome: "ok",
    payload: { digest: salted(record, text), bytes: text.length },
    content: text,
  });
  if (!record) throw new Error("There is no record.");
  return record;
}

test("6.10 an answer after its call was cancelled is kept, with who cancelled it and when", async () => {
  await using house = await openHouse();
  await suspendOn(house, "location");
  await house.bo.command(house.session, { type: "call.cancel", callId: "c1" });
  const { settledAt } = await callOf(house, "c1");
  expect(await tooLate(house, "c1")).toMatchObject({
    code: "call_settled",
    winner: { by: "user:bo", at: settledAt, outcome: "cancelled", reason: "cancelled" },
  });
});

test("6.10 an answer after its call's deadline is kept", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  await using house = await openHouse({ storage, schedule: clock.schedule });
  await house.send("go");
  const attempt = await house.attempt({
    tools: [{ name: "location", executor: "client", deadlineMs: 1_000 }],
  });
  await attempt.append(
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "location" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
    { type: "round.close" },
  );
  await clock.advance(1_000);
  expect(await tooLate(house, "c1")).toMatchObject({
    at: clock.now(),
    code: "call_settled",
    winner: { by: "server", outcome: "expired", reason: "deadline" },
  });
});

test("6.10 an answer after its run has ended is kept, from a person and from the agent", async () => {
  await using house = await openHouse();
  await house.send("go");
  const attempt = await house.attempt();
  await attempt.append(
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "location" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
    { type: "TOOL_CALL_START", toolCallId: "c2", toolCallName: "weather" },
    { type: "TOOL_CALL_END", toolCallId: "c2" },
    { type: "round.close" },
  );
  const { runId } = attempt.work;
  await house.bo.command(house.session, { type: "run.cancel", runId });
  expect(await tooLate(house, "c1")).toMatchObject({ winner: { reason: "run_cancelled" } });
  // The agent's answers come as items of an append, which is refused as a whole.
  const refused = await changesNothing(house, () =>
    attempt.append({ type: "round.open" }, answerTo("c2", "sunny"), answerTo("c1", "not mine")),
  );
  expect(refused.error?.code).toBe("run_ended");
  const command = { id: refused.id, type: "run.append" };
  const by = { actor: "agent:demo", attempt: { runId, attempt: 1 }, runId, code: "run_ended" };
  expect((await house.bo.audit(house.session)).slice(1)).toMatchObject([
    { type: "refused", ...by, command },
    {
      type: "late_answer",
      ...by,
      command: { ...command, item: 1 },
      callId: "c2",
      winner: { by: "user:bo", outcome: "cancelled" },
      content: '{"type":"json","value":"sunny"}',
    },
  ]);
});

test("6.10 an agent's answer to a call that was cancelled alone is kept, though its append is taken", async () => {
  await using house = await openHouse();
  await house.send("go");
  const attempt = await house.attempt();
  await attempt.append(
    { type: "round.open" },
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "weather" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
  );
  await house.bo.command(house.session, { type: "call.cancel", callId: "c1" });
  const taken = await attempt.append({ type: "round.close" }, answerTo("c1", "sunny"));
  expect(taken).toMatchObject({ status: "applied", skipped: [{ index: 1 }] });
  expect(await house.bo.audit(house.session)).toMatchObject([
    {
      type: "late_answer",
      command: { id: taken.id, type: "run.append", item: 1 },
      callId: "c1",
      code: "call_settled",
    },
  ]);
});

test("6.10 of answers that race, the losers are kept, each with the winner", async () => {
  await using house = await openHouse();
  await suspendOn(house, "location");
  const names = Array.from({ length: 6 }, (_, n) => `answer-${n}`);
  const verdicts = await Promise.all(
    names.map((name, n) =>
      (n % 2 === 0 ? house.ana : house.bo).command(house.session, answerTo("c1", name)),
    ),
  );
  const { answer } = await callOf(house, "c1");
  const lost = verdicts.filter(({ status }) => status === "rejected");
  expect(lost).toHaveLength(5);
  const records = await house.bo.audit(house.session);
  expect(new Set(records.map((it) => it.type === "late_answer" && it.command.id))).toEqual(
    new Set(lost.map(({ id }) => id)),
  );
  for (const record of records) {
    expect(record).toMatchObject({
      code: "already_answered",
      winner: { by: answer?.by, at: answer?.at, outcome: "ok" },
    });
  }
});

test("6.9 a refused claim and a stale decision are kept, with who was first, and without what was sent", async () => {
  await using house = await openHouse();
  await suspendOn(house, "location", "transfer");
  await house.bo.command(house.session, { type: "call.claim", callId: "c1" });
  const approve = await decisionOn(house, "c2", true);
  await house.bo.command(house.session, approve);
  const claim = await changesNothing(house, () =>
    house.ana.command(house.session, { type: "call.claim", callId: "c1" }),
  );
  const deny = { ...approve, approved: false };
  const stale = await changesNothing(house, () => house.ana.command(house.session, deny));
  // What is digested of a command: all but its id.
  const text = `{"type":"call.claim","callId":"c1"}`;
  const records = await house.bo.audit(house.session);
  expect(records).toMatchObject([
    {
      seq: 1,
      type: "refused",
      actor: "user:ana",
      command: { id: claim.id, type: "call.claim" },
      callId: "c1",
      code: "claim_held",
      winner: { by: "user:bo" },
      payload: { digest: sha256(text), bytes: text.length },
    },
    {
      seq: 2,
      type: "refused",
      command: { id: stale.id, type: "call.decide" },
      callId: "c2",
      code: "stale_decision",
      winner: { by: "user:bo" },
    },
  ]);
  for (const record of records) expect(record).not.toHaveProperty("content");
});

test("6.10 of a call the newest eight late answers are kept, and of each only its beginning", async () => {
  await using house = await openHouse();
  await suspendOn(house, "location", "location");
  for (const callId of ["c1", "c2"])
    await house.bo.command(house.session, { type: "call.cancel", callId });
  await house.ana.command(house.session, answerTo("c2", "quiet"));
  const large = "é".repeat(10_000);
  for (let n = 1; n <= 12; n += 1)
    await house.ana.command(house.session, answerTo("c1", `${n}${large}`));
  const records = await house.bo.audit(house.session);
  expect(records.map(({ seq }) => seq)).toEqual([1, 6, 7, 8, 9, 10, 11, 12, 13]);
  for (const record of records.slice(1)) {
    const text = JSON.stringify({ type: "json", value: `${record.seq - 1}${large}` });
    expect(record).toMatchObject({
      callId: "c1",
      payload: {
        digest: salted(record, text),
        bytes: Buffer.byteLength(text),
        truncated: true,
      },
      content: text.slice(0, 4096),
    });
  }
});

test("6.11 a flood of refusals is bounded and counted, and keeps nobody else's out", async () => {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  await using house = await openHouse({ storage, schedule: clock.schedule });
  await suspendOn(house, "location");
  await house.bo.command(house.session, { type: "call.claim", callId: "c1" });
  const path = `/v1/sessions/${house.session}/commands`;
  const flood = Array.from({ length: 1000 }, (_, n) => ({
    id: `f${n}`,
    type: "call.claim",
    callId: "c1",
  }));
  const started = clock.now();
  await changesNothing(house, () => house.ana.call("POST", path, { commands: flood }));
  await house.bo.command(house.session, { type: "call.claim", callId: "c1" });
  await house.bo.command(house.session, { type: "call.cancel", callId: "c1" });
  await house.ana.command(house.session, answerTo("c1"));
  await clock.advance(10_000);
  const records = await house.bo.audit(house.session);
  expect(records).toHaveLength(32 + 1 + 1 + 1);
  expect(records.slice(32)).toMatchObject([
    { type: "refused", actor: "user:bo", code: "claim_held" },
    { type: "late_answer", actor: "user:ana" },
    {
      type: "dropped",
      actor: "user:ana",
      what: "refused",
      count: 1000 - 32,
      since: started,
      at: started,
    },
  ]);
});

test("the audit survives a restart, and goes with its session", async () => {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-audit-"));
  const storage = await openSqlite({ directory });
  try {
    await using house = await openHouse({ storage });
    await suspendOn(house, "location");
    await house.bo.command(house.session, { type: "call.cancel", callId: "c1" });
    await tooLate(house, "c1", "before");
    // Nobody reads this one before the server ends.
    await house.ana.command(house.session, answerTo("c1", "at the end"));
    await house.restart();
    const records = await house.bo.audit(house.session);
    expect(records.map((it) => it.type === "late_answer" && it.content)).toEqual([
      '{"type":"json","value":"before"}',
      '{"type":"json","value":"at the end"}',
    ]);
    const { seq } = await tooLate(house, "c1", "after");
    expect(seq).toBeGreaterThan(records.at(-1)?.seq ?? 0);
    await house.ana.call("DELETE", `/v1/sessions/${house.session}`);
    await house.ana.create(house.session);
    expect(await house.bo.audit(house.session)).toEqual([]);
  } finally {
    await storage[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  }
});
