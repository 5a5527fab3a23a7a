import fc from "fast-check";
import { expect, test } from "vitest";
import type { Delivery } from "../../src/engine/index.ts";
import { WEBHOOK_DEFAULTS } from "../../src/webhooks/options.ts";
import type { Outcome } from "../../src/webhooks/post.ts";
import { afterTry } from "../../src/webhooks/retry.ts";

const NOW = 1_700_000_000_000;
const terms = WEBHOOK_DEFAULTS;
const failed: Outcome = { type: "failed", error: "answered 500" };
const delivery = (more: Partial<Delivery> = {}): Delivery => ({
  kind: "wake",
  about: "r1",
  id: "wake1",
  status: "pending",
  tries: 0,
  since: NOW,
  ...more,
});
const after = (of: Delivery, outcome: Outcome, random = 1, now = NOW) =>
  afterTry(of, outcome, { now, random, terms });

test("waits double from one second to an hour, and chance takes any part of one", () => {
  const waits = [0, 1, 2, 10, 11, 12, 30].map(
    (tries) => (after(delivery({ tries }), failed).nextAt ?? 0) - NOW,
  );
  expect(waits).toEqual([1e3, 2e3, 4e3, 1024e3, 2048e3, 3600e3, 3600e3]);
  expect(after(delivery({ tries: 5 }), failed, 0).nextAt).toBe(NOW);
  expect(after(delivery({ tries: 5 }), failed, 0.25).nextAt).toBe(NOW + 8e3);
});

test("a receiver that names a time is not tried before, and not later than the last try", () => {
  const asked = (retryAfterMs: number) => after(delivery(), { ...failed, retryAfterMs }).nextAt;
  expect(asked(30_000)).toBe(NOW + 30_000);
  expect(asked(10)).toBe(NOW + 1_000);
  expect(asked(9e14)).toBe(NOW + terms.maxAgeMs);
});

test("what no try can change is dead at once, as is what had all its tries or its time", () => {
  const dead = { status: "dead", at: NOW, error: "answered 500" };
  expect(after(delivery(), { ...failed, final: true })).toMatchObject({ ...dead, tries: 1 });
  expect(after(delivery({ tries: 39 }), failed)).toMatchObject({ ...dead, tries: 40 });
  expect(after(delivery({ since: NOW - terms.maxAgeMs }), failed)).toMatchObject(dead);
  expect(after(delivery({ tries: 38 }), failed).status).toBe("pending");
});

test("a wake-up that was accepted is looked after, a notice is done", () => {
  const accepted = after(delivery({ error: "answered 500" }), { type: "accepted" });
  expect(accepted).toMatchObject({ status: "accepted", at: NOW, nextAt: NOW + 60_000 });
  const notice = after(delivery({ kind: "waiting" }), { type: "accepted" });
  expect(notice).toMatchObject({ status: "accepted", tries: 1 });
  expect(notice.nextAt).toBeUndefined();
});

test("whatever comes, a delivery ends: dead within its tries and its time", () => {
  const outcome = fc.record({
    random: fc.double({ min: 0, max: 0.999, noNaN: true }),
    retryAfterMs: fc.nat(1e9),
  });
  fc.assert(
    fc.property(fc.array(outcome, { minLength: 40, maxLength: 40 }), (outcomes) => {
      let now = NOW;
      let last = delivery();
      for (const { random, retryAfterMs } of outcomes) {
        last = after(last, { ...failed, retryAfterMs }, random, now);
        if (last.nextAt === undefined) break;
        expect(last.nextAt).toBeGreaterThanOrEqual(now);
        now = last.nextAt;
      }
      expect(last.status).toBe("dead");
      expect(now).toBeLessThanOrEqual(NOW + terms.maxAgeMs);
    }),
  );
});
