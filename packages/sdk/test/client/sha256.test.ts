import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { sha256 } from "../../src/client/sha256.ts";

const expected = (text: string) => createHash("sha256").update(text).digest("hex");

it("is what others compute of any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      expect(sha256(text)).toBe(expected(text));
    }),
  );
});

it("pads every length of a block", () => {
  for (let length = 0; length <= 130; length += 1)
    expect(sha256("a".repeat(length))).toBe(expected("a".repeat(length)));
  expect(sha256("é".repeat(100_000))).toBe(expected("é".repeat(100_000)));
});
