import type { Entry, ToolDeclaration } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { openHouse, proposal, type House } from "../cases/support.ts";
import { raceRounds } from "../faults/rounds.ts";
import { applied, openLane, race, say, type Lane } from "./lane.ts";

const ROUNDS = raceRounds();
const TIME = { timeout: 30_000 + ROUNDS * 100 };
const PAGE: ToolDeclaration = { name: "page", executor: "client" };
const PER_LANE = 25;

const typesOf = (entries: readonly Entry[], prefix: string) =>
  entries.map(({ event }) => event.type).filter((type) => type.startsWith(prefix));

test("a finish and an answer: the run goes on once, whichever came first", TIME, async () => {
  await using house = await openHouse();
  const orders = new Set<string>();
  await inLanes(house, async (lane, rounds) => {
    const runId = await say(lane);
    for (const round of rounds) {
      const attempt = await lane.take();
      const callId = `call-${round}`;
      const items = proposal(callId, "page", `{"n":${round}}`);
      applied(await attempt.append({ type: "round.open" }, ...items, { type: "round.close" }));
      await lane.read();
      const answer = { type: "json", value: 0 } as const;
      const verdicts = await race(
        round,
        () => attempt.finish(),
        () =>
          house.ana.command(lane.session, { type: "call.answer", callId, outcome: "ok", answer }),
      );
      verdicts.map(applied);
      const types = typesOf(await lane.read(), "run.");
      orders.add(types.join());
      expect(types.filter((type) => type === "run.queued")).toHaveLength(1);
      const run = lane.state.runs.get(runId);
      expect(run).toMatchObject({ status: "queued", attempt: attempt.work.attempt });
      expect(run?.wakeId).not.toBe(attempt.work.wakeId);
    }
  });
  // Suspended and woken, or never suspended.
  expect([...orders].toSorted()).toEqual(["run.queued", "run.suspended,run.queued"]);
});

test("two workers and one wake-up: one gets the attempt, and gets it again", TIME, async () => {
  await using house = await openHouse();
  const winners = new Set<number>();
  await inLanes(house, async (lane, rounds) => {
    const ask = (worker: string) => ({ worker, instance: worker, agent: lane.session, waitMs: 0 });
    const claim = (worker: string) => lane.agent.claimWork(ask(worker));
    const claimAgain = (worker: string, wakeId: string) =>
      lane.agent.claimAgain({ ...ask(worker), wakeId });
    for (const round of rounds) {
      const runId = await say(lane);
      const got = await race(
        round,
        () => claim("w1"),
        () => claim("w2"),
      );
      const index = got[0] ? 0 : 1;
      const work = got[index];
      expect(got[1 - index]).toBeUndefined();
      expect(work).toMatchObject({ runId, attempt: 1, session: lane.session });
      if (!work) throw new Error("Nobody won.");
      winners.add(index);
      // Both name the wake-up: it is the winner's, and no second start of it.
      const again = await race(
        round,
        () => claimAgain("w1", work.wakeId),
        () => claimAgain("w2", work.wakeId),
      );
      expect(again[index]?.work).toMatchObject({ runId, attempt: 1, wakeId: work.wakeId });
      expect(again[1 - index]?.code).toBe("run_held");
      expect(typesOf(await lane.read(), "attempt.")).toEqual(["attempt.started"]);
      expect(lane.state.runs.get(runId)).toMatchObject({ worker: index === 0 ? "w1" : "w2" });
      applied(await house.bo.command(lane.session, { type: "run.cancel", runId }));
      await lane.read();
    }
  });
  expect(winners.size).toBe(2);
});

test(
  "a step that starts again and its older attempt: nothing of the old one is left",
  TIME,
  async () => {
    await using house = await openHouse();
    const outcomes = new Set<string>();
    await inLanes(house, async (lane, rounds) => {
      const runId = await say(lane);
      const { agent, work } = await lane.take();
      const fence = (producer: string, seq: number) => ({
        runId,
        attempt: work.attempt,
        producer,
        seq,
      });
      const start = (seq: number) =>
        agent.command(lane.session, { type: "step.start", ...fence("main", seq), stepId: "s" });
      let { stepAttempt = 0 } = applied(await start(1));
      await lane.read();
      for (const [n, round] of rounds.entries()) {
        const old = stepAttempt;
        const messageId = `text-${round}`;
        const [started, appended] = await race(
          round,
          () => start(n + 2),
          () =>
            agent.command(lane.session, {
              type: "run.append",
              ...fence(`old-${round}`, 1),
              stepId: "s",
              stepAttempt: old,
              items: [
                { type: "round.open" },
                { type: "TEXT_MESSAGE_START", messageId },
                { type: "TEXT_MESSAGE_CONTENT", messageId, delta: "old" },
                ...proposal(`call-${round}`, "page", `{"n":${round}}`),
              ],
            }),
        );
        stepAttempt = applied(started).stepAttempt ?? 0;
        expect(stepAttempt).toBe(old + 1);
        const entries = await lane.read();
        const written = entries.filter(({ stepAttempt: of }) => of === old);
        outcomes.add(appended.error?.code ?? appended.status);
        if (appended.status === "applied") {
          const withdrawn = entries.findIndex(({ event }) => event.type === "step.superseded");
          const wrote = entries.findIndex(({ event }) => event.type === "TEXT_MESSAGE_START");
          expect(wrote).toBeLessThan(withdrawn);
          expect(lane.state.calls.get(`call-${round}`)).toMatchObject({ outcome: "superseded" });
        } else {
          expect(appended.error?.code).toBe("attempt_fenced");
          expect(written.map(({ event }) => event.type)).toEqual(["step.superseded"]);
          expect(lane.state.calls.has(`call-${round}`)).toBe(false);
        }
        expect(lane.state.items.has(messageId)).toBe(false);
        expect(lane.state.runs.get(runId)?.steps).toMatchObject([
          { id: "s", attempt: stepAttempt, status: "open" },
        ]);
      }
    });
    expect([...outcomes].toSorted()).toEqual(["applied", "attempt_fenced"]);
  },
);

/** All rounds, twenty-five in one session, four sessions side by side; in the end each agrees with its log. */
async function inLanes(
  house: House,
  play: (lane: Lane, rounds: readonly number[]) => Promise<void>,
): Promise<void> {
  const parts: number[][] = [];
  for (let from = 0; from < ROUNDS; from += PER_LANE) {
    const count = Math.min(PER_LANE, ROUNDS - from);
    parts.push(Array.from({ length: count }, (_, n) => from + n));
  }
  const next = async (): Promise<void> => {
    for (let part = parts.shift(); part; part = parts.shift()) {
      const lane = await openLane(house, [PAGE]);
      await play(lane, part);
      await lane.agree();
    }
  };
  await Promise.all([next(), next(), next(), next()]);
}
