import { emptyState, reduceAll, RUN_TABLE, toOffset, type Run } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { rowsOf } from "../support/photograph.ts";
import { RUN_CELLS, type Phase } from "./run-cells.ts";
import { phaseOf, ready, type RunScene } from "./run-scene.ts";
import { RUN_TRIGGERS, type Happened } from "./run-triggers.ts";

const CELLS = Object.entries(RUN_CELLS).flatMap(([trigger, row]) =>
  Object.entries(row).flatMap(([phase, cell]) =>
    Object.entries(cell).map(([words, expected]) => ({
      trigger,
      phase: phase as Phase,
      words,
      expected,
    })),
  ),
);
const reached = new Set<string>();

describe("5.1 every cell of the run table", () => {
  for (const { trigger, phase, words, expected } of CELLS) {
    it(`${trigger}, ${phase} (${words}): ${expected}`, () => {
      const scene = ready(phase, new Set(words === "" ? [] : words.split(", ")));
      const before = scene.desk.run(scene.runId);
      const entries = scene.desk.entries.length;
      const act = RUN_TRIGGERS[trigger];
      if (!act) throw new Error(`Nothing drives ${trigger}`);
      judge(expected, scene, before, entries, act(scene) ?? {});
      const reader = emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
      reduceAll(reader, JSON.parse(JSON.stringify(scene.desk.entries)));
      expect(rowsOf(reader)).toEqual(rowsOf(scene.desk.state));
      reached.add(`${trigger}|${phase}|${words}`);
    });
  }

  it("was reached, and the table has a cell for every phase", () => {
    expect(reached.size).toBe(CELLS.length);
    for (const row of Object.values(RUN_CELLS))
      expect(Object.keys(row)).toEqual(["held", "queued", "active", "suspended", "ended"]);
  });

  it("covers the triggers that the source knows; a new one needs its row", () => {
    expect(Object.keys(RUN_TABLE)).toEqual([
      "start",
      "append",
      "heartbeat",
      "finish",
      "fail",
      "release",
      "lease_expires",
      "barrier",
      "cancel",
      "message:queue",
      "message:refuse",
      "message:replace",
      "message:concurrent",
      "message:steer",
      "pending:queue",
      "pending:refuse",
      "pending:abandon",
    ]);
  });
});

const HOUR = 3_600_000;

function judge(expected: string, scene: RunScene, before: Run, entries: number, it: Happened) {
  const { desk, runId } = scene;
  const run = desk.run(runId);
  const since = desk.entries.slice(entries);
  if (expected.startsWith("! ")) {
    expect(it.error?.code).toBe(expected.slice(2));
    expect(since).toEqual([]);
    return;
  }
  expect(it.error).toBeUndefined();
  switch (expected) {
    case "=":
      if (scene.has("held for longer"))
        return expect(run).toEqual({ ...before, heldUntil: desk.now() + 20 * HOUR });
      expect(run).toBe(before);
      return expect(since.filter((entry) => entry.runId === runId)).toEqual([]);
    case "held up to then":
    case "held for a day": {
      const heldUntil = desk.now() + (expected === "held for a day" ? 24 : 10) * HOUR;
      return expect(run).toEqual({ ...before, heldUntil });
    }
    case "applied":
      expect(since.length).toBeGreaterThan(0);
      return expect(phaseOf(run)).toBe("active");
    case "news":
      expect(before.news).toBe(false);
      return expect(run).toEqual({ ...before, news: true });
    case "steered": {
      const steers = run.steers ?? [];
      expect(steers.at(-1)?.consumed).toBeUndefined();
      expect(desk.state.messages.get(steers.at(-1)?.messageId ?? "")?.steers).toBe(runId);
      expect(it.runId).toBe(runId);
      expect(desk.state.runs.size).toBe(scene.has("held") ? 3 : 2);
      return expect(run).toEqual({ ...before, news: true, steers });
    }
    case "not read":
      return expect(run.steers?.map(({ consumed }) => consumed)).toEqual([undefined]);
    case "read":
      expect(run.steers?.map(({ consumed }) => consumed)).toEqual([true]);
      return expect(desk.state.items.get("steer:s1")).toMatchObject({
        kind: "steer",
        round: run.round,
        message: { id: "s1" },
      });
    case "new run waits":
    case "new run starts": {
      expect(run).toBe(before);
      const made = desk.run(it.runId ?? "");
      const waits = expected === "new run waits";
      expect(made.behind.includes(runId)).toBe(waits);
      return expect(made.wakeId !== undefined).toBe(!waits);
    }
    case "queued again":
      expect(phaseOf(run)).toBe("queued");
      expect(run.wakeId).toMatch(/^wake/);
      expect([before.wakeId, before.startedBy]).not.toContain(run.wakeId);
      return expect(since.filter((entry) => entry.event.type === "run.queued")).toHaveLength(1);
    default: {
      const [phase, reason] = expected.split(", ");
      // Whoever went past a budget is told; nobody else ends a run by an item.
      expect(it.ended?.code).toBe(reason === "budget_exceeded" ? reason : undefined);
      if (!phase?.startsWith("ended")) return expect(phaseOf(run)).toBe(phase);
      expect(run).toMatchObject({ status: "ended", outcome: phase.slice(6), behind: [] });
      expect(run.reason).toBe(reason);
      expect(run.wakeId).toBeUndefined();
      expect(run.steers?.filter(({ consumed }) => consumed === undefined) ?? []).toEqual([]);
      const open = [...desk.state.calls.values()].filter(
        (call) => call.runId === runId && call.status !== "settled",
      );
      return expect(open).toEqual([]);
    }
  }
}
