import { expect, test } from "vitest";
import { Rates } from "../../src/engine/rates.ts";
import { ManualClock } from "../support/clock.ts";

const rate = { burst: 3, perSecond: 2 };

function open() {
  const clock = new ManualClock();
  const rates = new Rates("things", rate, clock.now);
  const take = (key: string, count = 1) => rates.refuse(key, count)?.details;
  return { clock, take };
}

test("takes a burst at once, then as much as comes again", async () => {
  const { clock, take } = open();
  for (let n = 0; n < 3; n += 1) expect(take("a")).toBeUndefined();
  expect(take("a")).toEqual({ limit: 2, value: 1, retryAfterMs: 500 });
  await clock.advance(499);
  expect(take("a")).toMatchObject({ retryAfterMs: 1 });
  await clock.advance(1);
  expect(take("a")).toBeUndefined();
  expect(take("a")).toBeDefined();
});

test("counts each key for itself", () => {
  const { take } = open();
  for (let n = 0; n < 4; n += 1) take("a");
  expect(take("b")).toBeUndefined();
});

test("takes a batch that is larger than the burst, and has it paid for", async () => {
  const { clock, take } = open();
  expect(take("a", 10)).toBeUndefined();
  expect(take("a")).toEqual({ limit: 2, value: 1, retryAfterMs: 4_000 });
  await clock.advance(4_000);
  expect(take("a")).toBeUndefined();
});

test("never has more than a burst, however long nothing came", async () => {
  const { clock, take } = open();
  take("a");
  await clock.advance(1_000_000);
  for (let n = 0; n < 3; n += 1) expect(take("a")).toBeUndefined();
  expect(take("a")).toBeDefined();
});

test("a refusal takes nothing", async () => {
  const { clock, take } = open();
  for (let n = 0; n < 100; n += 1) take("a");
  await clock.advance(500);
  expect(take("a")).toBeUndefined();
});

test("of more names than anybody needs, those that came first are forgotten where all owe something", () => {
  const rates = new Rates("things", { burst: 1, perSecond: 0.001 }, () => 0);
  expect(rates.refuse("first", 1)).toBeUndefined();
  for (let n = 0; n < 9_999; n += 1) rates.refuse(`n${n}`, 1);
  expect(rates.refuse("first", 1)?.code).toBe("too_many_requests");
  rates.refuse("one more", 1);
  expect(rates.refuse("first", 1)).toBeUndefined();
  expect(rates.refuse("one more", 1)?.code).toBe("too_many_requests");
});

test("of more names than anybody needs, those that owe nothing are forgotten before any other", () => {
  let now = 0;
  const rates = new Rates("things", { burst: 1, perSecond: 1 }, () => now);
  expect(rates.refuse("first", 100)).toBeUndefined();
  for (let n = 0; n < 9_999; n += 1) rates.refuse(`n${n}`, 1);
  now = 2_000;
  expect(rates.refuse("one more", 1)).toBeUndefined();
  expect(rates.refuse("first", 1)?.code).toBe("too_many_requests");
});
