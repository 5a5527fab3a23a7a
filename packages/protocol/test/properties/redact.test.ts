import {
  emptyState,
  fromRows,
  reduceAll,
  redactEntry,
  redactRows,
  toOffset,
  toRows,
  type Entry,
  type SessionState,
} from "@holdfast/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { indexOf, rowsOf } from "../support/photograph.ts";
import { createCoverage } from "./coverage.ts";
import { eraser } from "./eraser.ts";
import { choices, settings, walk } from "./walk.ts";
import { TOOL_NAMES } from "./world.ts";

const empty = () => emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
const seen = (state: SessionState) => ({ ...rowsOf(state), index: indexOf(state) });

it(
  "11.1 whoever does not see every tool's data gets the same state live, on reload and from any cursor",
  { timeout: 120_000 },
  () => {
    const coverage = createCoverage();
    let erasures = 0;
    const property = fc.property(
      choices(160),
      fc.subarray(TOOL_NAMES),
      fc.array(fc.nat(), { maxLength: 3 }),
      fc.boolean(),
      (numbers, visible, cuts, erasing) => {
        const sees = (tool: string | undefined) => tool !== undefined && visible.includes(tool);
        const { done, onStep } = eraser();
        const desk = walk(numbers, { coverage, ...(erasing && { onStep }) });
        erasures += done.length;
        const entries = JSON.parse(JSON.stringify(desk.entries)) as Entry[];
        const redact = (some: readonly Entry[], known: SessionState) =>
          some.map((entry) => redactEntry(entry, sees, (id) => known.calls.get(id)?.name));
        const reload = (state: SessionState) =>
          fromRows(state.head, redactRows(toRows(state), sees));
        const end = seen(reload(desk.state));

        for (const cut of [0, entries.length, ...cuts.map((it) => it % (entries.length + 1))]) {
          const full = empty();
          reduceAll(full, entries.slice(0, cut));
          const live = empty();
          reduceAll(live, redact(entries.slice(0, cut), full));
          const reloaded = reload(full);
          expect(seen(live)).toEqual(seen(reloaded));
          reduceAll(reloaded, redact(entries.slice(cut), desk.state));
          expect(seen(reloaded)).toEqual(end);
        }
      },
    );
    fc.assert(property, settings(200));
    expect(coverage.missing()).toEqual([]);
    expect(erasures).toBeGreaterThan(100);
  },
);
