import {
  emptyState,
  eraseEntry,
  reduce,
  toOffset,
  type Entry,
  type SessionState,
} from "@holdfast/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { freezeRows, indexOf, rowsOf } from "../support/photograph.ts";
import { createCoverage } from "./coverage.ts";
import { eraser } from "./eraser.ts";
import { choices, settings, walk } from "./walk.ts";

const empty = () => emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
const shown = (state: SessionState) => ({ ...rowsOf(state), index: indexOf(state) });

it(
  "6.21 a log that was erased gives the state of having watched, also to whoever had read a part of it",
  { timeout: 120_000 },
  () => {
    let erasures = 0;
    const property = fc.property(choices(160), fc.nat(), (numbers, cut) => {
      const { done, onStep } = eraser();
      const desk = walk(numbers, { coverage: createCoverage(), onStep });
      erasures += done.length;
      const decided = shown(desk.state);
      const entries = JSON.parse(JSON.stringify(desk.entries)) as Entry[];
      const erased = entries.map((entry) =>
        done.reduce(
          (next, { target, mark }) => eraseEntry(next, target, mark, () => "digest") ?? next,
          entry,
        ),
      );
      for (const [at, entry] of erased.entries()) {
        expect(entry.offset).toBe(entries[at]?.offset);
        expect(entry.event.type).toBe(entries[at]?.event.type);
      }
      for (const watched of [0, cut % (entries.length + 1)]) {
        const reader = empty();
        for (const entry of [...entries.slice(0, watched), ...erased.slice(watched)]) {
          reduce(reader, entry);
          freezeRows(reader);
        }
        expect(shown(reader)).toEqual(decided);
      }
    });
    fc.assert(property, settings(100));
    expect(erasures).toBeGreaterThan(300);
  },
);
