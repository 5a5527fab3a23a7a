import { describe, expect, it } from "vitest";
import { ROUND_CELLS } from "./round-cells.ts";
import { arrangeRound, ROUND_TRIGGERS } from "./round-scene.ts";

const CELLS = Object.entries(ROUND_CELLS).flatMap(([trigger, row]) =>
  Object.entries(row).flatMap(([status, cell]) =>
    Object.entries(cell).map(([words, expected]) => ({ trigger, status, words, expected })),
  ),
);
const reached = new Set<string>();

describe("5.4 every cell of the round table", () => {
  for (const { trigger, status, words, expected } of CELLS) {
    it(`${trigger}, ${status} (${words}): ${expected}`, () => {
      const scene = arrangeRound(status, words, trigger === "its agent is given up" ? 3 : 0);
      const { desk, runId, round } = scene;
      const texts = () => [...desk.state.items.values()].filter((item) => item.round === round);
      const before = texts().length;
      const act = ROUND_TRIGGERS[trigger];
      if (!act) throw new Error(`Nothing drives ${trigger}`);
      const verdict = act(scene);
      const { code } = verdict?.error ?? verdict?.skipped?.[0]?.error ?? {};
      if (expected.startsWith("! ")) {
        expect(code).toBe(expected.slice(2));
        expect(desk.run(runId).openRounds).toEqual(status === "open" ? [round] : []);
      } else {
        expect(code).toBeUndefined();
        expect(desk.run(runId).openRounds.includes(round ?? 0)).toBe(expected === "open");
        expect(texts()).toHaveLength(expected === "superseded" ? 0 : before);
        const open = texts().filter((item) => "status" in item && item.status === "open");
        expect(open).toHaveLength(expected === "open" ? before : 0);
      }
      reached.add(`${trigger}|${status}|${words}`);
    });
  }

  it("was reached", () => expect(reached.size).toBe(CELLS.length));
});
