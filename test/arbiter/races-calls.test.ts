import type { Entry, ToolDeclaration } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { openHouse } from "../cases/support.ts";
import { raceRounds } from "../faults/rounds.ts";
import { overCalls, race, winnerOf } from "./lane.ts";

const ROUNDS = raceRounds();
const TIME = { timeout: 30_000 + ROUNDS * 100 };
const PAGE: ToolDeclaration = { name: "page", executor: "client" };
const NAMES = ["user:ana", "user:bo"];

const typesOf = (entries: readonly Entry[]) => entries.map(({ event }) => event.type);
const answerOf = (callId: string, value: unknown) =>
  ({
    type: "call.answer",
    callId,
    outcome: "ok",
    answer: { type: "json", value: value as string },
  }) as const;

test("two answers: one is given, and both learn whose", TIME, async () => {
  await using house = await openHouse();
  const winners = new Set<number>();
  await overCalls(house, {
    rounds: ROUNDS,
    tools: [PAGE],
    race: ({ session }, callId, round) =>
      race(
        round,
        () => house.ana.command(session, answerOf(callId, "user:ana")),
        () => house.bo.command(session, answerOf(callId, "user:bo")),
      ),
    judge(verdicts, entries, { state }, callId) {
      const { index, lost } = winnerOf(verdicts);
      winners.add(index);
      const by = NAMES[index];
      const { outcome, answer } = state.calls.get(callId) ?? {};
      expect(answer).toMatchObject({ by, answer: { value: by } });
      const details = { by, at: answer?.at, outcome, answer: answer?.answer };
      expect(lost).toMatchObject({ code: "already_answered", details });
      expect(typesOf(entries)).toEqual(["call.answered"]);
    },
  });
  expect(winners.size).toBe(2); // or it was no race
});

test("two decisions: one holds with who took it, and the other is stale", TIME, async () => {
  await using house = await openHouse();
  const winners = new Set<number>();
  await overCalls(house, {
    rounds: ROUNDS,
    tools: [{ name: "transfer", approval: "always" }],
    race({ session, state }, callId, round) {
      const approvalId = state.calls.get(callId)?.approval?.id ?? "";
      const decide = (approved: boolean) =>
        ({ type: "call.decide", callId, approvalId, approved }) as const;
      return race(
        round,
        () => house.ana.command(session, decide(true)),
        () => house.bo.command(session, decide(false)),
      );
    },
    judge(verdicts, entries, { state }, callId) {
      const { index, lost } = winnerOf(verdicts);
      winners.add(index);
      const decision = { by: NAMES[index], approved: index === 0 };
      expect(lost).toMatchObject({ code: "stale_decision", details: { decision } });
      expect(state.calls.get(callId)).toMatchObject({
        approval: { decision },
        status: index === 0 ? "open" : "settled",
      });
      const next = index === 0 ? ["call.opened"] : [];
      expect(typesOf(entries)).toEqual(["call.decided", ...next]);
    },
  });
  expect(winners.size).toBe(2);
});

test("two claims: one is granted, and the other learns who holds it", TIME, async () => {
  await using house = await openHouse();
  const winners = new Set<number>();
  await overCalls(house, {
    rounds: ROUNDS,
    tools: [PAGE],
    race({ session }, callId, round) {
      const claim = { type: "call.claim", callId } as const;
      return race(
        round,
        () => house.ana.command(session, claim),
        () => house.bo.command(session, claim),
      );
    },
    judge(verdicts, entries, { state }, callId) {
      const { index, lost } = winnerOf(verdicts);
      winners.add(index);
      const by = NAMES[index];
      expect(lost).toMatchObject({ code: "claim_held", details: { by } });
      expect(state.calls.get(callId)?.claim).toMatchObject({ id: verdicts[index]?.claimId, by });
      expect(typesOf(entries)).toEqual(["call.claimed"]);
    },
  });
  expect(winners.size).toBe(2);
});

test("an answer and a cancel: the call ends once, as the winner said", TIME, async () => {
  await using house = await openHouse();
  const winners = new Set<number>();
  await overCalls(house, {
    rounds: ROUNDS,
    tools: [PAGE],
    race: ({ session }, callId, round) =>
      race(
        round,
        () => house.ana.command(session, answerOf(callId, round)),
        () => house.bo.command(session, { type: "call.cancel", callId }),
      ),
    judge(verdicts, entries, { state }, callId) {
      const { index, lost } = winnerOf(verdicts);
      winners.add(index);
      // A cancel that came second is told that nothing can change it, whatever ended it.
      expect(lost?.code).toBe("call_settled");
      expect(state.calls.get(callId)?.outcome).toBe(index === 0 ? "ok" : "cancelled");
      expect(typesOf(entries)).toEqual([index === 0 ? "call.answered" : "call.settled"]);
    },
  });
  expect(winners.size).toBe(2);
});

test("an answer and a deadline: the one that is in the log first holds", TIME, async () => {
  await using house = await openHouse();
  const winners = new Set<string>();
  // Some are over before an answer can be there, some long after, and some meet it on its way.
  const terms = [1, 2, 4, 8, 16, 32, 64, 96, 128, 10_000];
  const tools = terms.map((deadlineMs) => ({ ...PAGE, name: `page-${deadlineMs}`, deadlineMs }));
  await overCalls(house, {
    rounds: ROUNDS,
    tools,
    toolOf: (n) => tools[n % tools.length]?.name ?? "",
    race: ({ session }, callId, round) => house.ana.command(session, answerOf(callId, round)),
    judge(verdict, entries, { state }, callId) {
      const call = state.calls.get(callId);
      const won = verdict.status === "applied";
      winners.add(won ? "answer" : "deadline");
      expect(call?.outcome).toBe(won ? "ok" : "expired");
      if (!won) {
        const details = { outcome: "expired", reason: "deadline" };
        expect(verdict.error).toMatchObject({ code: "call_settled", details });
      }
      // One that ran out before its race began was read before it, too.
      expect(call?.history.filter(({ what }) => what === "settled")).toHaveLength(1);
      expect(typesOf(entries).filter((type) => type !== "call.settled")).toEqual(
        won ? ["call.answered"] : [],
      );
    },
  });
  expect(winners.size).toBe(2);
});
