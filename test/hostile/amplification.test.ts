import type { Verdict } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { answerTo, openHouse, proposal, TOOLS, type House } from "../cases/support.ts";

/** Sends a batch and weighs the answer. */
async function weigh(house: House, commands: readonly object[]) {
  const path = `/v1/sessions/${house.session}/commands`;
  const { status, body } = await house.ana.call("POST", path, { commands });
  expect(status).toBe(200);
  const { verdicts } = body as { verdicts: Verdict[] };
  return { verdicts, weight: JSON.stringify(body).length };
}

/** The session's budget is not what keeps these cheap. */
async function unbound({ ana, session }: House): Promise<void> {
  const budget = { rounds: 1_000_000, repeats: 1_000_000 };
  const verdict = await ana.command(session, { type: "policy.set", policy: { budget } });
  expect(verdict.status).toBe("applied");
}

const thousand = (make: (id: string) => object) =>
  Array.from({ length: 1000 }, (_, n) => ({
    id: `c${n}-${crypto.randomUUID()}`,
    ...make(`x${n}`),
  }));

test("a refusal does not grow with the session: not with its pending calls, not with an answer", async () => {
  await using house = await openHouse({ limits: { resultBytes: 16 << 20 } });
  await unbound(house);
  await house.send("go");
  const attempt = await house.attempt();
  const ids = Array.from({ length: 2000 }, (_, n) => `call-${n}`);
  await attempt.append({ type: "round.open" });
  await attempt.append(...ids.flatMap((id, n) => proposal(id, "location", `{"n":${n}}`)));
  await attempt.append({ type: "round.close" });
  const answers = {
    text: { type: "text", text: "x".repeat(500_000) },
    json: { type: "json", value: Array(100_000).fill(0) },
    parts: { type: "parts", parts: Array(50_000).fill({}) },
  } as const;
  for (const [callId, answer] of [
    ["call-0", answers.text],
    ["call-1", answers.json],
    ["call-2", answers.parts],
  ] as const) {
    const command = { type: "call.answer", callId, outcome: "ok", answer } as const;
    expect(await house.bo.command(house.session, command)).toMatchObject({ status: "applied" });
    const other = { type: "text", text: "" } as const;
    const late = await weigh(
      house,
      thousand(() => ({ ...command, answer: other })),
    );
    expect(new Set(late.verdicts.map(({ error }) => error?.code))).toEqual(
      new Set(["already_answered"]),
    );
    expect(late.weight).toBeLessThan(1_000_000);
  }
  const unknown = await weigh(
    house,
    thousand((callId) => ({ type: "call.cancel", callId })),
  );
  expect(new Set(unknown.verdicts.map(({ error }) => error?.code))).toEqual(
    new Set(["unknown_call"]),
  );
  expect(unknown.weight).toBeLessThan(1_000_000);
  // A short answer is still told to whoever came second.
  const short = { type: "json", value: { a: [1, "b"] } } as const;
  const answer = { type: "call.answer", callId: "call-3", outcome: "ok", answer: short } as const;
  await house.bo.command(house.session, answer);
  const second = await house.ana.command(house.session, answer);
  expect(second.error?.details).toMatchObject({ by: "user:bo", answer: short });
});

test("closing a round costs what is in it, not what is in the run", async () => {
  await using house = await openHouse();
  await unbound(house);
  await house.send("go");
  const attempt = await house.attempt({ tools: TOOLS });
  const budget = { rounds: 30_000, repeats: 25 };
  await house.ana.command(house.session, { type: "policy.set", policy: { budget } });
  const started = performance.now();
  const rounds = Array.from({ length: 20_000 }, () => ({ type: "round.open" as const }));
  expect(await attempt.append(...rounds)).toMatchObject({ status: "applied" });
  expect(performance.now() - started).toBeLessThan(8_000); // looking through the run each time: minutes
  const [run] = (await house.state()).runs.values();
  expect(run).toMatchObject({ round: 20_000, openRounds: [20_000] });
});

test("a provider's id that is used again and again costs little more than new ones", async () => {
  await using house = await openHouse();
  await unbound(house);
  await house.send("go");
  const attempt = await house.attempt({ tools: TOOLS });
  await attempt.append({ type: "round.open" });
  const USES = 2_000;
  const more = JSON.stringify(Array.from({ length: 60 }, (_, n) => n));
  const time = async (name: (n: number) => string) => {
    const started = performance.now();
    for (let n = 0; n < USES; n += 500) {
      const uses = Array.from({ length: 500 }, (_, k) => {
        const args = `{"n":${n + k},"more":${more}}`;
        return [...proposal(name(n + k), "weather", args), answerTo(name(n + k))];
      });
      expect((await attempt.append(...uses.flat())).skipped).toBeUndefined();
    }
    return performance.now() - started;
  };
  const apart = await time((n) => `own:${n}`);
  const together = await time(() => "weather:1");
  expect(together).toBeLessThan(apart * 6 + 1_000); // comparing all with all: thirty times as long
  const calls = (await house.state()).calls.size;
  // What is said once more, of the newest, is dropped, and leaves nothing to look through.
  const again = proposal("weather:1", "weather", `{"more":${more},"n":${USES - 1}}`);
  await attempt.append(...Array.from({ length: 100 }, () => again).flat());
  expect((await house.state()).calls.size).toBe(calls);
});
