import { expect, test } from "vitest";
import { within } from "../../src/engine/within.ts";

const why = (reason: string) => reason;

test("what takes too long, or too much stack, is cut off and says why", () => {
  const deep = (): string => deep() + deep();
  expect(within(20, () => "done", why)).toBe("done");
  expect(
    within(
      20,
      () => {
        for (;;);
      },
      why,
    ),
  ).toMatch("longer than 20 ms");
  expect(within(1000, deep, why)).toMatch("too deep");
});

const still = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);

test("what only stood still is begun again, with more time, until it was given its time", () => {
  let begun = 0;
  const slow = () => {
    begun += 1;
    still();
    return "done";
  };
  expect(within(20, slow, why)).toBe("done");
  expect(begun).toBeGreaterThanOrEqual(4); // 20, 40 and 80 ms are not enough
});

test("one long halt is no refusal, though it may look like work", () => {
  let begun = 0;
  const haltedAtFirst = () => {
    begun += 1;
    const end = performance.now() + (begun === 1 ? 200 : 0);
    while (performance.now() < end);
    return "done";
  };
  expect(within(50, haltedAtFirst, why)).toBe("done");
  expect(begun).toBe(2);
});
