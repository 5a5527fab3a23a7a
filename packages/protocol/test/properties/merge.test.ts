import { emptyState, reduceAll, toOffset, toRows, type Entry } from "@holdfast/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { rowsOf } from "../support/photograph.ts";
import { createCoverage } from "./coverage.ts";
import { choices, settings, walk } from "./walk.ts";

it("3.4 whatever is merged into one batch, the log says the same", { timeout: 120_000 }, () => {
  const coverage = createCoverage();
  let [merged, apart] = [0, 0];
  const property = fc.property(
    choices(120),
    fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 40 }),
    (numbers, batches) => {
      let command = 0;
      const seals = () => batches[(command += 1) % batches.length] === 0;
      const batched = walk(numbers, { coverage, seals });
      const single = walk(numbers, { coverage });
      expect(read(batched.entries)).toEqual(rowsOf(batched.state));
      expect(withoutOffsets(batched.entries)).toEqual(withoutOffsets(single.entries));
      merged += batched.entries.length;
      apart += single.entries.length;
    },
  );
  fc.assert(property, settings(200));
  expect(coverage.missing()).toEqual([]);
  expect(merged).toBeLessThan(apart);
});

it(
  "3.4 a batch of one delta each reduces to the state of the merged ones",
  { timeout: 120_000 },
  () => {
    const property = fc.property(choices(120), (numbers) => {
      const { entries } = walk(numbers, { coverage: createCoverage() });
      expect(withoutOffsets(entries.flatMap(splitDelta))).toEqual(withoutOffsets(entries));
    });
    fc.assert(property, settings(60));
  },
);

function read(entries: readonly Entry[]) {
  const reader = emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
  reduceAll(reader, entries);
  return rowsOf(reader);
}

/** What the entries say, apart from where in the log they say it. */
function withoutOffsets(entries: readonly Entry[]): unknown {
  const reader = emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
  reduceAll(reader, entries);
  const hidden = ["offset", "upTo", "openedAt", "attemptOffset", "settledOffset"];
  const text = JSON.stringify(toRows(reader), (key: string, value: unknown) =>
    hidden.includes(key) || (typeof value === "string" && value.startsWith("event:"))
      ? undefined
      : value,
  );
  return JSON.parse(text);
}

/** The entry as a log without merging would have it: one character at a time, under offsets of their own. */
function splitDelta(entry: Entry): Entry[] {
  const { event, offset } = entry;
  if (event.type !== "TEXT_MESSAGE_CONTENT" && event.type !== "TOOL_CALL_ARGS") return [entry];
  const deltas = event.delta.length < 2 ? [event.delta] : event.delta.split("");
  return deltas.map((delta, at) => ({
    ...entry,
    offset: at === 0 ? offset : `${offset}.${at}`,
    event: { ...event, delta },
  }));
}
