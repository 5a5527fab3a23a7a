import { readdirSync, readFileSync } from "node:fs";
import { COMMAND_TYPES, ERROR_CODES } from "@holdfast/protocol";
import { expect, it } from "vitest";

const spec = readFileSync(new URL("../SPEC.md", import.meta.url), "utf8");

it("9 lists every error code with its status", () => {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { status, retryable }]) => `| \`${code}\` | ${status} | ${retryable ? "yes" : "no"} |`,
  );
  const table = /## 9 Errors[\s\S]*?\n\|---\|---\|---\|\n([\s\S]*?)\n\n/.exec(spec)?.[1];
  expect(table?.split("\n")).toEqual(rows);
});

it("6.7 lists every command", () => {
  const clause = /- 6\.7 Types: `([\s\S]*?)`/.exec(spec)?.[1];
  expect(clause?.split(/\s+/)).toEqual([...COMMAND_TYPES]);
});

it("has every clause that the source and the tests cite", () => {
  const cited = new Set<string>();
  for (const folder of ["../src", ".", "../../sdk/src", "../../server/src"]) {
    const root = new URL(`${folder}/`, import.meta.url);
    for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
      if (!/\.tsx?$/.test(name) || name.includes("node_modules")) continue;
      const text = readFileSync(new URL(name, root), "utf8");
      for (const [, numbers] of text.matchAll(/SPEC ((?:\d+(?:\.\d+)*(?:, )?)+)/g))
        for (const number of numbers?.split(", ") ?? []) if (number) cited.add(number);
      for (const [, number] of text.matchAll(/(?:it|describe)\("(\d+(?:\.\d+)*) /g))
        if (number) cited.add(number);
    }
  }
  const clauses = new Set(
    [...spec.matchAll(/^(?:#+|-) (\d+(?:\.\d+)*) /gm)].map(([, number]) => number),
  );
  expect([...cited].filter((number) => !clauses.has(number))).toEqual([]);
  expect(cited.size).toBeGreaterThan(15);
});
