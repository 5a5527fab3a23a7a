import { reduce, reduceAll } from "@holdfast/protocol";
import { createProjection, joinThread, resumesFrom, resumeThread } from "@holdfast/protocol/ag-ui";
import fc from "fast-check";
import { expect, it } from "vitest";
import { choices, settings } from "../properties/walk.ts";
import { emptyReader, optionsFor } from "./reader.ts";
import { sessionOf } from "./rich.ts";

it("11.4 whoever resumes is sent what it was not sent, as it was sent live", () => {
  let resumed = 0;
  const property = fc.property(
    choices(40),
    fc.boolean(),
    fc.infiniteStream(fc.nat()),
    (numbers, joining, random) => {
      const entries = sessionOf(numbers, { erasing: false });
      const [first = 0, ...heads] = [...random.take(7)];
      const from = joining ? first % entries.length : 0;
      const state = emptyReader();
      reduceAll(state, entries.slice(0, from));
      const options = optionsFor();
      const live = joining ? joinThread(state, options).projection : createProjection(options);
      const sent: { cursor: { offset: string; index: number }; event: unknown }[] = [];
      const checks = new Set(heads.map((head) => head % entries.length));
      entries.forEach((entry, at) => {
        if (at < from) return;
        reduce(state, entry);
        live.project(entry, state).forEach((event, index) => {
          sent.push({ cursor: { offset: entry.offset, index }, event });
        });
        const begins = resumesFrom(state, options);
        if (!checks.has(at) || begins === undefined) return;
        const again = entries.filter(({ offset }) => offset >= begins && offset <= state.head);
        // The last of what was sent is of interest, since only the activation at work can be resumed in.
        const recent = [...sent.entries()].slice(-40);
        for (const [place, { cursor }] of recent.filter((_, n) => (n + first) % 3 === 0)) {
          const got = resumeThread(state, again, cursor, options);
          if (got === "reset") continue;
          resumed += 1;
          expect(got.events).toEqual(sent.slice(place + 1));
          expect(got.projection.shown).toEqual(live.shown);
        }
      });
    },
  );
  fc.assert(property, settings(30));
  expect(resumed).toBeGreaterThan(100);
});
