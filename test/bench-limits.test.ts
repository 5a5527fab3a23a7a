import { expect, test } from "vitest";
import { complaintOf, isKept, tableOf, type Limit } from "../bench/limits.ts";

const show = (value: number) => `${value} ms`;
const slow: Limit = { what: "timers", measured: 1_501, atMost: 1_500, show };
const fast: Limit = { what: "appends", measured: 8, atLeast: 8, show };

test("a limit holds at its bound, and is missed beyond it", () => {
  expect(isKept({ ...slow, measured: 1_500 })).toBe(true);
  expect(isKept(slow)).toBe(false);
  expect(isKept(fast)).toBe(true);
  expect(isKept({ ...fast, measured: 7.99 })).toBe(false);
});

test("what was not measured is missed", () => {
  expect(isKept({ ...slow, measured: Number.NaN })).toBe(false);
  expect(isKept({ ...fast, measured: Number.POSITIVE_INFINITY })).toBe(false);
});

test("measured and wanted stand side by side, and what was missed is said", () => {
  expect(tableOf([slow, fast]).split("\n").slice(2)).toEqual([
    "| timers | 1501 ms | at most 1500 ms | **missed** |",
    "| appends | 8 ms | at least 8 ms | kept |",
  ]);
  expect(complaintOf(slow)).toBe("Missed: timers: 1501 ms, where at most 1500 ms is wanted.");
});
