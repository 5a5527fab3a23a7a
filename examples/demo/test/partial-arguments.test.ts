import fc from "fast-check";
import { expect, test } from "vitest";
import { createArgumentScanner } from "../page/partial-arguments.ts";

test("keys appear as they complete and the open value grows", () => {
  const scanner = createArgumentScanner();
  const shown = (text: string) =>
    scanner.read(text).map(({ key, text: value, complete }) => [key, value, complete]);
  expect(shown('{"ci')).toEqual([]);
  expect(shown('{"city"')).toEqual([["city", "", false]]);
  expect(shown('{"city": "Os')).toEqual([["city", "Os", false]]);
  expect(shown('{"city": "Oslo", "n": {"a": [1')).toEqual([
    ["city", "Oslo", true],
    ["n", '{"a": [1', false],
  ]);
  expect(shown('{"city": "Oslo", "n": {"a": [1]}}')).toEqual([
    ["city", "Oslo", true],
    ["n", '{"a": [1]}', true],
  ]);
});

test("text that is replaced is read anew", () => {
  const scanner = createArgumentScanner();
  scanner.read('{"a": 1');
  expect(scanner.read('{"b": 2}').map(({ key }) => key)).toEqual(["b"]);
});

test("read in any pieces, an object's members are what JSON.parse finds", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      (value, sizes) => {
        const text = JSON.stringify(value);
        const scanner = createArgumentScanner();
        for (let at = 0; at < text.length; at += sizes.next().value ?? 1)
          scanner.read(text.slice(0, at));
        const members = scanner.read(text);
        expect(members.map(({ key }) => key)).toEqual(Object.keys(value));
        for (const { key, text: shown, complete, isString } of members) {
          expect(complete).toBe(true);
          expect(isString ? shown : JSON.parse(shown)).toEqual(
            JSON.parse(JSON.stringify(value[key])),
          );
        }
      },
    ),
  );
});
