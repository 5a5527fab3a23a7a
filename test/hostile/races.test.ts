import type { CommandBody, Verdict } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { openHouse, proposal, type House } from "../cases/support.ts";

const ROUNDS = 200;
const ids = Array.from({ length: ROUNDS }, (_, n) => `call-${n}`);

/** A run with many calls of one tool, whose round is closed. */
async function propose(house: House, tool: string) {
  await house.send("go");
  const attempt = await house.attempt();
  await attempt.append({ type: "round.open" });
  await attempt.append(...ids.flatMap((id, n) => proposal(id, tool, `{"n":${n}}`)));
  await attempt.append({ type: "round.close" });
  return attempt;
}

/** Ana and Bo at once, in turns the one and the other first. */
async function race(
  house: House,
  round: number,
  ana: CommandBody,
  bo: CommandBody,
): Promise<{ ana: Verdict; bo: Verdict }> {
  const session = house.session;
  if (round % 2 === 0) {
    const [first, second] = await Promise.all([
      house.ana.command(session, ana),
      house.bo.command(session, bo),
    ]);
    return { ana: first, bo: second };
  }
  const [first, second] = await Promise.all([
    house.bo.command(session, bo),
    house.ana.command(session, ana),
  ]);
  return { ana: second, bo: first };
}

/** Ten races at a time. */
async function inTens(run: (round: number, callId: string) => Promise<void>): Promise<void> {
  for (let from = 0; from < ROUNDS; from += 10) {
    await Promise.all(ids.slice(from, from + 10).map((id, index) => run(from + index, id)));
  }
}

/** The one that was applied, and why the other was not. */
function winnerOf(verdicts: { ana: Verdict; bo: Verdict }): { by: "ana" | "bo"; lost: unknown } {
  const { ana, bo } = verdicts;
  expect([ana.status, bo.status].toSorted()).toEqual(["applied", "rejected"]);
  return ana.status === "applied"
    ? { by: "ana", lost: bo.error?.code }
    : { by: "bo", lost: ana.error?.code };
}

test("two answers: one is given, and both learn which", async () => {
  await using house = await openHouse();
  await propose(house, "location");
  const winners = new Set<string>();
  await inTens(async (round, callId) => {
    const answer = (who: string) =>
      ({
        type: "call.answer",
        callId,
        outcome: "ok",
        answer: { type: "text", text: who },
      }) as const;
    const verdicts = await race(house, round, answer("ana"), answer("bo"));
    const { by, lost } = winnerOf(verdicts);
    winners.add(by);
    expect(lost).toBe("already_answered");
    const details = (verdicts.ana.error ?? verdicts.bo.error)?.details;
    expect(details).toMatchObject({ by: `user:${by}`, answer: { text: by } });
  });
  const { calls } = await house.state();
  for (const id of ids) {
    const { answer, history } = calls.get(id) ?? {};
    expect(answer?.answer).toEqual({ type: "text", text: answer?.by.slice("user:".length) });
    expect(history?.filter(({ what }) => what === "settled")).toHaveLength(1);
  }
  expect(winners.size).toBe(2); // or it was no race
});

test("two decisions: one holds, and the other is stale", async () => {
  await using house = await openHouse();
  await propose(house, "transfer");
  const before = (await house.state()).calls;
  const winners = new Map<string, string>();
  await inTens(async (round, callId) => {
    const approvalId = before.get(callId)?.approval?.id ?? "";
    const decide = (approved: boolean) =>
      ({ type: "call.decide", callId, approvalId, approved }) as const;
    const { by, lost } = winnerOf(await race(house, round, decide(true), decide(false)));
    expect(lost).toBe("stale_decision");
    winners.set(callId, by);
  });
  const { calls } = await house.state();
  for (const [callId, by] of winners) {
    expect(calls.get(callId)).toMatchObject({
      approval: { decision: { by: `user:${by}`, approved: by === "ana" } },
      status: by === "ana" ? "open" : "settled",
    });
  }
});

test("two claims: one is granted", async () => {
  await using house = await openHouse();
  await propose(house, "location");
  const granted = new Map<string, { id: string | undefined; by: string }>();
  await inTens(async (round, callId) => {
    const claim = { type: "call.claim", callId } as const;
    const verdicts = await race(house, round, claim, claim);
    const { by, lost } = winnerOf(verdicts);
    expect(lost).toBe("claim_held");
    granted.set(callId, { id: verdicts[by].claimId, by: `user:${by}` });
  });
  const { calls } = await house.state();
  for (const [callId, claim] of granted) expect(calls.get(callId)?.claim).toMatchObject(claim);
});

test("a cancel and an answer: the call ends once, as the log says", async () => {
  await using house = await openHouse();
  await propose(house, "location");
  const outcomes = new Map<string, string>();
  await inTens(async (round, callId) => {
    const cancel = { type: "call.cancel", callId } as const;
    const answer = { type: "json", value: round } as const;
    const give = { type: "call.answer", callId, outcome: "ok", answer } as const;
    const { by, lost } = winnerOf(await race(house, round, cancel, give));
    expect(lost).toBe("call_settled");
    outcomes.set(callId, by === "ana" ? "cancelled" : "ok");
  });
  const { calls } = await house.state();
  for (const [callId, outcome] of outcomes) expect(calls.get(callId)).toMatchObject({ outcome });
  const entries = await house.ana.entries(house.session);
  const ends = entries.flatMap(({ event }) =>
    event.type === "call.answered" || event.type === "call.settled" ? [event.callId] : [],
  );
  expect(ends.toSorted()).toEqual(ids.toSorted());
});

test("an agent's last word and an answer: the run is queued, whichever came first", async () => {
  await using house = await openHouse();
  for (let round = 0; round < 25; round += 1) {
    const runId = await house.send("go");
    const attempt = await house.attempt();
    const callId = `call-${round}`;
    await attempt.append(
      { type: "round.open" },
      ...proposal(callId, "location", JSON.stringify({ callId })),
      {
        type: "round.close",
      },
    );
    const answer = { type: "json", value: 0 } as const;
    const give = { type: "call.answer", callId, outcome: "ok", answer } as const;
    const both = [() => attempt.finish(), () => house.ana.command(house.session, give)];
    if (round % 2 === 1) both.reverse();
    const verdicts = await Promise.all(both.map((act) => act()));
    expect(verdicts.map(({ status }) => status)).toEqual(["applied", "applied"]);
    const run = (await house.state()).runs.get(runId);
    expect([run?.status, typeof run?.wakeId]).toEqual(["queued", "string"]);
    await house.bo.command(house.session, { type: "run.cancel", runId });
  }
});

test("one command sent from ten places at once is one command; for another body it is none", async () => {
  await using house = await openHouse();
  for (let round = 0; round < 20; round += 1) {
    const id = `same-${round}`;
    const command = { id, type: "message.send", messageId: `m${round}`, content: "x" } as const;
    const sent = Array.from({ length: 10 }, () => house.ana.command(house.session, command));
    const verdicts = await Promise.all(sent);
    expect(verdicts.filter(({ repeated }) => repeated)).toHaveLength(9);
    expect(new Set(verdicts.map(({ runId, offset }) => `${runId} ${offset}`)).size).toBe(1);
    const others = [
      house.ana.command(house.session, { ...command, content: "y" }),
      house.ana.command(house.session, { id, type: "policy.set", policy: {} }),
      house.bo.command(house.session, command), // which would say who it was
      house.agent.command(house.session, command),
    ];
    for (const { error } of await Promise.all(others)) expect(error?.code).toBe("key_reused");
    await house.ana.command(house.session, {
      type: "run.cancel",
      runId: verdicts[0]?.runId ?? "",
    });
  }
  expect((await house.state()).messages.size).toBe(20);
});

test("producers that race each keep their own order; holes, repeats and fences change nothing", async () => {
  await using house = await openHouse();
  await house.send("go");
  const { agent, work } = await house.attempt();
  const append = (producer: string, seq: number) =>
    agent.command(work.session, {
      type: "run.append",
      runId: work.runId,
      attempt: work.attempt,
      producer,
      seq,
      items: [{ type: "CUSTOM", name: producer, value: seq }],
    });
  const producers = ["a", "b", "__proto__", "a/1"];
  for (let seq = 1; seq <= 20; seq += 1) {
    const sent = producers.flatMap((producer) => [
      append(producer, seq),
      append(producer, seq), // again, as after a timeout
      append(producer, seq + 2), // too early
      ...(seq > 1 ? [append(producer, seq - 1)] : []), // late
    ]);
    for (const [index, verdict] of (await Promise.all(sent)).entries()) {
      const isHole = index % (seq > 1 ? 4 : 3) === 2;
      expect(verdict.status).toBe(isHole ? "rejected" : "applied");
      if (isHole) {
        expect(verdict.error).toMatchObject({
          code: "sequence_gap",
          details: { expected: seq + 1 },
        });
      }
    }
  }
  await house.ana.command(house.session, { type: "run.cancel", runId: work.runId });
  expect((await append("a", 21)).error?.code).toBe("run_ended");
  expect(await append("a", 20)).toMatchObject({ status: "applied", repeated: true });
  const seen = new Map<string, unknown[]>();
  for (const { event } of await house.ana.entries(house.session)) {
    if (event.type === "CUSTOM")
      seen.set(event.name, [...(seen.get(event.name) ?? []), event.value]);
  }
  const all = Array.from({ length: 20 }, (_, n) => n + 1);
  expect([...seen.keys()].toSorted()).toEqual(producers.toSorted());
  for (const values of seen.values()) expect(values).toEqual(all);
});
