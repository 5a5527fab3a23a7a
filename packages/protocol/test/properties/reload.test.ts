import { emptyState, fromRows, reduce, toOffset, toRows, type Entry } from "@holdfast/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { freezeRows, indexOf, rowsOf } from "../support/photograph.ts";
import { createCoverage } from "./coverage.ts";
import { choices, settings, walk } from "./walk.ts";

const empty = () => emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });

it(
  "11.1 reloading at any cut gives the state that was decided, and no row changes in place",
  { timeout: 60_000 },
  () => {
    const coverage = createCoverage();
    const property = fc.property(
      choices(160),
      fc.array(fc.nat(), { maxLength: 2 }),
      (numbers, cuts) => {
        const desk = walk(numbers, { coverage });
        const decided = { ...rowsOf(desk.state), index: indexOf(desk.state) };
        const entries = JSON.parse(JSON.stringify(desk.entries)) as Entry[];
        const at = new Set([0, entries.length, ...cuts.map((cut) => cut % (entries.length + 1))]);
        for (const cut of at) {
          const reader = empty();
          for (const entry of entries.slice(0, cut)) {
            reduce(reader, entry);
            freezeRows(reader);
          }
          const rows = JSON.parse(JSON.stringify(toRows(reader)));
          const reloaded = fromRows(reader.head, rows);
          expect(indexOf(reloaded)).toEqual(indexOf(reader));
          for (const entry of entries.slice(cut)) reduce(reloaded, entry);
          expect({ ...rowsOf(reloaded), index: indexOf(reloaded) }).toEqual(decided);
        }
      },
    );
    fc.assert(property, settings(300));
    expect(coverage.missing()).toEqual([]);
  },
);
