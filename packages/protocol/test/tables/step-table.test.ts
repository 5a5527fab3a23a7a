import { emptyState, reduceAll, toOffset, type Step } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { rowsOf } from "../support/photograph.ts";
import { STEP_CELLS, type StepStatus } from "./step-cells.ts";
import { arrangeStep, STEP_TRIGGERS, type StepScene } from "./step-scene.ts";

const CELLS = Object.entries(STEP_CELLS).flatMap(([trigger, row]) =>
  Object.entries(row).flatMap(([status, cell]) =>
    Object.entries(cell).map(([words, expected]) => ({
      trigger,
      status: status as StepStatus,
      words,
      expected,
    })),
  ),
);
const reached = new Set<string>();

describe("5.7 every cell of the step table", () => {
  for (const { trigger, status, words, expected } of CELLS) {
    it(`${trigger}, ${status} (${words}): ${expected}`, () => {
      const scene = arrangeStep(status, new Set(words.split(", ")));
      const { desk, runId } = scene;
      const before = { step: stepOf(scene), run: desk.run(runId), entries: desk.entries.length };
      const act = STEP_TRIGGERS[trigger];
      if (!act) throw new Error(`Nothing drives ${trigger}`);
      const verdict = act(scene);
      const since = desk.entries.slice(before.entries);
      if (expected.startsWith("! ")) {
        expect(verdict?.error?.code).toBe(expected.slice(2));
        expect(since).toEqual([]);
      } else {
        expect(verdict?.error).toBeUndefined();
        if (expected === "=") {
          expect(verdict?.repeated).toBe(true);
          expect(since).toEqual([]);
          expect(desk.run(runId)).toBe(before.run);
        } else if (expected === "applied") {
          expect(stepOf(scene)).toEqual(before.step);
          expect(since.every((entry) => entry.stepId === "s")).toBe(true);
        } else {
          const [now, attempt] = expected.split(" ");
          expect(stepOf(scene)).toMatchObject({ status: now, attempt: Number(attempt) });
          if (trigger === "step.start") expect(verdict?.stepAttempt).toBe(Number(attempt));
        }
      }
      const reader = emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
      reduceAll(reader, JSON.parse(JSON.stringify(desk.entries)));
      expect(rowsOf(reader)).toEqual(rowsOf(desk.state));
      reached.add(`${trigger}|${status}|${words}`);
    });
  }

  it("was reached", () => expect(reached.size).toBe(CELLS.length));
});

function stepOf({ desk, runId }: StepScene): Step | undefined {
  return desk.run(runId).steps?.find(({ id }) => id === "s");
}
