import fc from "fast-check";
import { expect, it } from "vitest";
import { duplicateKey } from "../src/duplicate-key.ts";

it.each<[string, string | undefined]>([
  ["{}", undefined],
  ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}', undefined],
  ['{"a":"a","b":"a\\",\\"a"}', undefined],
  ['["a","a"]', undefined],
  ['"a"', undefined],
  ['{"a":1,"a":1}', "/a"],
  ['{"a":1,"\\u0061":2}', "/a"],
  ['{"__proto__":1,"constructor":2}', undefined],
  ['{"__proto__":1,"__proto__":2}', "/__proto__"],
  ['{"":1,"":2}', "/"],
  ['{"x":[0,{"a/b":{"~":1,"~":2}}]}', "/x/1/a~1b/~0"],
  ['{ "a" : [ ] , "b" : { } , "a" : 0 }', "/a"],
  ['{"a":"\\\\","a":2}', "/a"],
])("4.7.8 %s names %s twice", (text, pointer) => {
  expect(duplicateKey(text)).toBe(pointer);
});

it("4.7.8 text that was written from a value names nothing twice, and one member more is found (property)", () => {
  const members = fc.array(fc.tuple(fc.string(), fc.json()), { minLength: 1, maxLength: 6 });
  const property = fc.property(fc.jsonValue(), members, (value, pairs) => {
    expect(duplicateKey(JSON.stringify(value))).toBeUndefined();
    const unique = [...new Map(pairs)];
    const write = (list: readonly [string, string][]) =>
      `{${list.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
    const plain = unique.map(([name]) => [name, "0"] as [string, string]);
    expect(duplicateKey(write(plain))).toBeUndefined();
    const [again] = unique;
    if (again) expect(duplicateKey(write([...plain, [again[0], "1"]]))).toMatch(/^\//);
  });
  fc.assert(property, { numRuns: 500 });
});

it("takes time that grows with the text: deep and wide text alike", () => {
  const deep = (n: number) => "[".repeat(n) + "]".repeat(n);
  const wide = (n: number) =>
    `{${Array.from({ length: n }, (_, at) => `"k${at}":"${"\\n".repeat(5)}"`).join(",")}}`;
  for (const make of [deep, wide]) {
    const few = leastCost(make(10_000));
    const many = leastCost(make(160_000));
    // Sixteen times the text: what grew with its square would take 256 times as long.
    expect(many).toBeLessThan(64 * Math.max(few, 500));
  }
});

/** Processor time in microseconds, which other work on the machine changes little. */
function leastCost(text: string): number {
  const costs = Array.from({ length: 3 }, () => {
    const from = process.cpuUsage();
    expect(duplicateKey(text)).toBeUndefined();
    const { user, system } = process.cpuUsage(from);
    return user + system;
  });
  return Math.min(...costs);
}
