import { memoryStorage } from "holdfast";
import { expect, test } from "vitest";
import { ManualClock } from "../../packages/server/test/support/clock.ts";
import { callOf, openHouse, proposal, type House } from "./support.ts";

const CLAIM = { type: "call.claim", callId: "c1" } as const;

/** A house in which a client call of a tool waits, and Ana's page has claimed it and is gone. */
async function reloaded(retry: "safe" | "unsafe") {
  const clock = new ManualClock();
  const storage = memoryStorage({ now: clock.now });
  const house = await openHouse({ storage, schedule: clock.schedule, claimLeaseMs: 10_000 });
  await house.send("go");
  const tools = [{ name: "location", executor: "client", retry }];
  const attempt = await house.attempt({ tools });
  const call = proposal("c1", "location", "{}");
  await attempt.append({ type: "round.open" }, ...call, { type: "round.close" });
  await attempt.finish();
  const { claimId } = await house.ana.command(house.session, CLAIM);
  expect(claimId).toBeDefined();
  return { house, clock, claimId };
}

/** Two pages that come back claim at once; the codes they are refused with. */
async function claimTwice(house: House, force: object = {}) {
  const claims = [house.ana, house.bo].map((page) =>
    page.command(house.session, { ...CLAIM, ...force }),
  );
  return (await Promise.all(claims)).map(({ error }) => error?.code);
}

test("C78 a call whose page was reloaded before it answered is claimed again, by one page", async () => {
  const { house, clock } = await reloaded("safe");
  await using _ = house;
  // As long as the lost page may still be at it, nobody else is.
  expect(await claimTwice(house)).toEqual(["claim_held", "claim_held"]);
  await clock.advance(10_001);
  expect((await callOf(house, "c1")).status).toBe("open");
  expect((await claimTwice(house)).filter((code) => code !== undefined)).toEqual(["claim_held"]);
});

test("C78 one whose repetition may do harm waits for a person's word, and is then claimed by one page", async () => {
  const { house, clock } = await reloaded("unsafe");
  await using _ = house;
  await clock.advance(10_001);
  expect(await callOf(house, "c1")).toMatchObject({ status: "open", manual: true });
  expect(await claimTwice(house)).toEqual(["retry_unsafe", "retry_unsafe"]);
  expect((await claimTwice(house, { force: true })).filter((code) => code !== undefined)).toEqual([
    "claim_held",
  ]);
});
