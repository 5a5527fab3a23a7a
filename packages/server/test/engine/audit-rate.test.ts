import { expect, test } from "vitest";
import { AUDIT_BURST, AUDIT_REFILL_MS, AuditRate } from "../../src/engine/audit-rate.ts";

const takeAll = (rate: AuditRate, session: string, actor: string, now = 0) => {
  let taken = 0;
  while (rate.take(session, actor, "refused", now)) taken += 1;
  return taken;
};

test("every session, actor and kind has a rate of its own", () => {
  const rate = new AuditRate();
  expect(takeAll(rate, "s", "a")).toBe(AUDIT_BURST);
  expect(takeAll(rate, "s", "b")).toBe(AUDIT_BURST);
  expect(takeAll(rate, "t", "a")).toBe(AUDIT_BURST);
  expect(rate.take("s", "a", "late", 0)).toBe(true);
  expect(rate.take("s", "a", "refused", 0)).toBe(false);
});

test("fills up one at a time, and no further than it was", () => {
  const rate = new AuditRate();
  takeAll(rate, "s", "a");
  expect(takeAll(rate, "s", "a", AUDIT_REFILL_MS - 1)).toBe(0);
  expect(takeAll(rate, "s", "a", AUDIT_REFILL_MS)).toBe(1);
  // What is over of a term counts for the next.
  expect(takeAll(rate, "s", "a", AUDIT_REFILL_MS * 3.5)).toBe(2);
  expect(takeAll(rate, "s", "a", AUDIT_REFILL_MS * 4)).toBe(1);
  expect(takeAll(rate, "s", "a", AUDIT_REFILL_MS * 1000)).toBe(AUDIT_BURST);
});

test("counts are taken once, as many as there is room for, and no more of anybody is kept then", () => {
  const rate = new AuditRate();
  for (const actor of ["a", "b"]) {
    rate.drop("s", actor, "refused", 1);
    rate.drop("s", actor, "refused", 2);
  }
  const count = { kind: "refused", count: 2, since: 1, at: 2 };
  expect(rate.sweep(3, 1)).toEqual([{ session: "s", dropped: { actor: "a", ...count } }]);
  expect(rate.empty).toBe(false);
  expect(rate.sweep(3, 9)).toEqual([{ session: "s", dropped: { actor: "b", ...count } }]);
  expect(rate.empty).toBe(true);
});

test("a session that is gone is forgotten", () => {
  const rate = new AuditRate();
  rate.drop("s", "a", "refused", 1);
  rate.forget("s");
  expect(rate.empty).toBe(true);
  expect(rate.sweep(2, 9)).toEqual([]);
});

test("no number of sessions and actors fills the memory", () => {
  const rate = new AuditRate();
  for (let n = 0; n < 10_000; n += 1) {
    rate.drop(`s${n}`, "a", "refused", 0);
    rate.drop("s", `a${n}`, "refused", 0);
  }
  const counted = rate.sweep(0, 1e9);
  expect(counted.filter(({ session }) => session === "s").length).toBeLessThanOrEqual(64);
  expect(counted.length).toBeLessThanOrEqual(4096 + 64);
});
