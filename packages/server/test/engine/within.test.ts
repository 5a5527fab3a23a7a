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

test("what only stood still meanwhile is begun again, a few times", () => {
  const still = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  let begun = 0;
  const slowAtFirst = () => {
    begun += 1;
    if (begun === 1) still();
    return "done";
  };
  expect(within(50, slowAtFirst, why)).toBe("done");
  expect(begun).toBe(2);
  begun = 0;
  const slow = () => {
    begun += 1;
    still();
    return "done";
  };
  expect(within(20, slow, why)).toMatch("longer than 20 ms");
  expect(begun).toBe(3);
});
