import { expect, test } from "vitest";
import * as format from "../page/format.ts";

test.each([
  ["user:Ana Lind", "Ana Lind", "AL"],
  ["user:björn", "björn", "B"],
  ["agent:demo", "demo", "D"],
  ["server", "server", "S"],
  ["user:😀 x", "😀 x", "😀X"],
])("%s is %s, %s", (principal, name, initials) => {
  expect(format.nameOf(principal)).toBe(name);
  expect(format.initialsOf(name)).toBe(initials);
});

test.each([
  [0, "0 ms"],
  [1_234, "1.2 s"],
  [59_400, "59 s"],
  [61_000, "1 min 1 s"],
  [7_260_000, "2 h 1 min"],
])("%d ms reads %s", (ms, words) => {
  expect(format.duration(ms)).toBe(words);
});

test.each([
  ["temperatureC", "Temperature C"],
  ["home_address", "Home address"],
  ["__proto__", "Proto"],
  ["-", "-"],
])("the key %s is labelled %s", (key, label) => {
  expect(format.keyLabel(key)).toBe(label);
});

test("ids are cut in the middle, offsets to their number", () => {
  expect(format.shortId("run_0123456789abcdef", 14)).toBe("run_012…abcdef");
  expect(format.shortId("short")).toBe("short");
  expect(format.shortOffset("k3.00000000120")).toBe("120");
  expect(format.shortOffset("k3.00000000000")).toBe("0");
});
