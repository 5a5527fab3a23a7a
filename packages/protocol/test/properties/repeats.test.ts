import {
  emptyState,
  reduce,
  toOffset,
  type Command,
  type Frame,
  type SessionState,
} from "@holdfast/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { isSame, photograph, rowsOf } from "../support/photograph.ts";
import { createCoverage } from "./coverage.ts";
import { choices, settings, walk } from "./walk.ts";

it(
  "11.2 a repeated batch changes nothing, at once or later, whatever became of its run",
  { timeout: 120_000 },
  () => {
    const coverage = createCoverage();
    let repeats = 0;
    const property = fc.property(choices(160), (numbers) => {
      const batches: { command: Command; attempt: number }[] = [];
      walk(numbers, {
        coverage,
        onCommand(command, actor, verdict) {
          const { attempt } = actor;
          if (attempt && "seq" in command && verdict.status === "applied" && !verdict.repeated)
            batches.push({ command, attempt: attempt.attempt });
        },
        onStep(desk) {
          const last = batches.at(-1);
          const earlier = batches[desk.entries.length % Math.max(batches.length, 1)];
          for (const batch of [last, earlier]) {
            if (!batch || !("runId" in batch.command)) continue;
            const { command, attempt } = batch;
            const before = photograph(desk.state);
            const actor = desk.env("agent:demo", { runId: batch.command.runId, attempt });
            const verdict = desk.repeat(command, actor);
            if (!verdict.repeated || !isSame(before, photograph(desk.state)))
              expect({ command, verdict }).toBe("a repeat that changes nothing");
            repeats += 1;
          }
        },
      });
    });
    fc.assert(property, settings(200));
    expect(coverage.missing()).toEqual([]);
    expect(repeats).toBeGreaterThan(10_000);
  },
);

it(
  "11.2 frames say enough to put duplicated and reordered deliveries right",
  { timeout: 120_000 },
  () => {
    const property = fc.property(
      choices(60),
      fc.array(fc.nat(), { minLength: 1, maxLength: 60 }),
      (numbers, shuffle) => {
        const desk = walk(numbers, { coverage: createCoverage() });
        const reader = emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
        const order = [...desk.frames, ...desk.frames.slice(0, 10)]
          .map((frame, at) => ({ frame, at: (shuffle[at % shuffle.length] ?? 0) % 1_000 }))
          .toSorted((a, b) => a.at - b.at);
        const early: Frame[] = [];
        for (const { frame } of order) deliver(reader, frame, early);
        expect(early).toEqual([]);
        expect(rowsOf(reader)).toEqual(rowsOf(desk.state));
      },
    );
    fc.assert(property, settings(60));
  },
);

/** What is known already is left out; what leaves a hole waits until the hole is filled. */
function deliver(reader: SessionState, frame: Frame, early: Frame[]): void {
  if (frame.after > reader.head) return void early.push(frame);
  for (const entry of frame.entries) if (entry.offset > reader.head) reduce(reader, entry);
  const next = early.findIndex((it) => it.after <= reader.head);
  const [found] = next < 0 ? [] : early.splice(next, 1);
  if (found) deliver(reader, found, early);
}
