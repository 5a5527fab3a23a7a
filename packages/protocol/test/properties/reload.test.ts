import {
  appendDelta,
  emptyState,
  fromRows,
  reduce,
  toOffset,
  toRows,
  type Entry,
  type SessionRow,
} from "@holdfast/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { freezeRows, indexOf, rowsOf } from "../support/photograph.ts";
import { createCoverage } from "./coverage.ts";
import { choices, settings, walk } from "./walk.ts";

const empty = () => emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });

it(
  "11.1 reloading at any cut gives the state that was decided, and no row changes in place",
  { timeout: 120_000 },
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
    fc.assert(property, settings(200));
    expect(coverage.missing()).toEqual([]);
  },
);

it(
  "3.3.5 rows that were touched, and the deltas since, give the state",
  { timeout: 120_000 },
  () => {
    const coverage = createCoverage();
    const property = fc.property(choices(160), (numbers) => {
      const { state, stored, entries } = walk(numbers, { coverage, stores: true });
      const rowsOfKind = <T>(kind: string): T[] =>
        [...stored].filter(([key]) => key.startsWith(kind)).map(([, row]) => JSON.parse(row) as T);
      const [session] = rowsOfKind<SessionRow>("session ");
      if (!session) throw new Error("No session row");
      const loaded = fromRows(state.head, {
        session,
        messages: rowsOfKind("message "),
        runs: rowsOfKind("run "),
        items: rowsOfKind("item "),
        calls: rowsOfKind("call "),
      });
      const since = new Map(
        [...loaded.items.values(), ...loaded.calls.values()].map((row) => [
          row.id,
          "upTo" in row ? row.upTo : "",
        ]),
      );
      for (const entry of entries) {
        const { event } = entry;
        const id =
          "messageId" in event ? event.messageId : "toolCallId" in event ? event.toolCallId : "";
        if (entry.offset > (since.get(id) ?? entry.offset)) appendDelta(loaded, entry);
      }
      expect({ ...rowsOf(loaded), index: indexOf(loaded) }).toEqual({
        ...rowsOf(state),
        index: indexOf(state),
      });
    });
    fc.assert(property, settings(200));
    expect(coverage.missing()).toEqual([]);
  },
);
