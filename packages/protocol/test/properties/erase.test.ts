import {
  emptyState,
  eraseEntry,
  reduce,
  toOffset,
  type Entry,
  type ErasedMark,
  type ErasedTarget,
  type SessionState,
} from "@holdfast/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Desk } from "../support/desk.ts";
import { freezeRows, indexOf, rowsOf } from "../support/photograph.ts";
import { createCoverage } from "./coverage.ts";
import { choices, settings, walk } from "./walk.ts";

const empty = () => emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
const shown = (state: SessionState) => ({ ...rowsOf(state), index: indexOf(state) });

interface Erased {
  readonly target: ErasedTarget;
  readonly mark: ErasedMark;
}

/** Erases something that can be, now and then; whatever cannot be is refused. */
function eraser() {
  const done: Erased[] = [];
  let steps = 0;
  return {
    done,
    onStep: (desk: Desk) => {
      steps += 1;
      if (steps % 7 !== 0) return;
      const targets: ErasedTarget[] = [
        ...[...desk.state.calls.keys()].map((callId) => ({ callId })),
        ...[...desk.state.messages.keys()].map((messageId) => ({ messageId })),
        ...[...desk.state.items.values()].flatMap(({ kind, id }) =>
          kind === "text" || kind === "reasoning" ? [{ messageId: id }] : [],
        ),
      ];
      const target = targets[(steps * 31) % (targets.length || 1)];
      if (!target) return;
      const by = "user:dpo";
      const verdict = desk.decide(
        { id: `e${steps}`, type: "content.erase", ...target },
        desk.env(by),
      );
      if (!verdict.error && !verdict.repeated) done.push({ target, mark: { by, at: desk.now() } });
    },
  };
}

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
