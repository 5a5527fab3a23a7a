import { toOffset, type Entry, type Frame } from "@holdfast/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sequence } from "../../src/wire/sequence.ts";

describe("sequence", () => {
  it("delivers what follows, cuts what overlaps, skips what was seen, names what is missing", () => {
    expect(sequence(at(0), frame(0, 2))).toEqual({
      type: "deliver",
      frame: frame(0, 2),
      cursor: at(2),
    });
    expect(sequence(at(1), frame(0, 3))).toMatchObject({ type: "deliver", frame: frame(1, 3) });
    expect(sequence(at(3), frame(0, 3))).toEqual({ type: "skip" });
    expect(sequence(at(3), { after: at(3), entries: [] })).toEqual({ type: "skip" });
    expect(sequence(at(1), frame(3, 4))).toEqual({ type: "hole", after: at(1), until: at(3) });
  });

  it("gives every entry once and in order, however frames are cut, repeated, reordered and lost (property)", () => {
    const total = 60;
    const cuts = fc.array(fc.tuple(fc.nat(total - 1), fc.integer({ min: 1, max: 10 })));
    fc.assert(
      fc.property(cuts, (frames) => {
        const seen: string[] = [];
        let cursor = at(0);
        const deliver = (next: Frame): void => {
          const result = sequence(cursor, next);
          if (result.type === "skip") return;
          if (result.type === "deliver") {
            expect(result.frame.after).toBe(cursor);
            seen.push(...result.frame.entries.map(({ offset }) => offset));
            cursor = result.cursor;
            return;
          }
          // As a reader does: read the hole back, whose page may reach beyond it, then look again.
          const from = Number(result.after.slice(-11));
          deliver(frame(from, Math.min(from + 7, total)));
          deliver(next);
        };
        for (const [from, length] of frames) deliver(frame(from, Math.min(from + length, total)));
        deliver(frame(total - 1, total));
        expect(seen).toEqual(Array.from({ length: total }, (_, n) => at(n + 1)));
      }),
    );
  });
});

function at(n: number): string {
  return toOffset("e", n);
}

function frame(after: number, last: number): Frame {
  const entries: Entry[] = [];
  for (let n = after + 1; n <= last; n += 1)
    entries.push({ offset: at(n), at: 0, actor: "server", event: { type: "run.suspended" } });
  return { after: at(after), entries };
}
