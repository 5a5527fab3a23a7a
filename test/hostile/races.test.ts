import { expect, test } from "vitest";
import { openHouse } from "../cases/support.ts";

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
