import {
  CALL_TABLE,
  emptyState,
  reduceAll,
  toOffset,
  type Call,
  type Verdict,
} from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { rowsOf } from "../support/photograph.ts";
import { CALL_CELLS, type Status } from "./call-cells.ts";
import { arrange, CALL, type Scene } from "./scene.ts";
import { SETTLE_CELLS } from "./settle-cells.ts";
import { TRIGGERS } from "./triggers.ts";

const CELLS = Object.entries({ ...CALL_CELLS, ...SETTLE_CELLS }).flatMap(([trigger, row]) =>
  Object.entries(row).flatMap(([status, cell]) =>
    Object.entries(cell).map(([words, expected]) => ({
      trigger,
      status: status as Status,
      words,
      expected,
    })),
  ),
);
const STATUSES = ["streaming", "ended", "gated", "open", "claimed", "settled"];
const reached = new Set<string>();

describe("4.2 every cell of the call table", () => {
  for (const { trigger, status, words, expected } of CELLS) {
    it(`${trigger}, ${status} (${words}): ${expected}`, () => {
      const conditions = new Set(words.split(", "));
      if (trigger === "agent is given up") conditions.add("worn");
      if (trigger === "step starts again") conditions.add("step");
      const scene = arrange(status, conditions);
      const before = scene.desk.call(CALL);
      const entries = scene.desk.entries.length;
      const act = TRIGGERS[trigger];
      if (!act) throw new Error(`Nothing drives ${trigger}`);
      const verdict = act(scene);
      judge(expected, { scene, before, entries, verdict });
      expectReplay(scene);
      reached.add(`${trigger}|${status}|${words}`);
    });
  }

  it("was reached, and the table has a cell for every status", () => {
    expect(reached.size).toBe(CELLS.length);
    for (const row of Object.values({ ...CALL_CELLS, ...SETTLE_CELLS }))
      expect(Object.keys(row)).toEqual(STATUSES);
    const empty = Object.entries({ ...CALL_CELLS, ...SETTLE_CELLS }).flatMap(([trigger, row]) =>
      STATUSES.filter((status) => Object.keys(row[status as Status]).length === 0).map(
        (status) => `${trigger}, ${status}`,
      ),
    );
    expect(empty).toEqual([
      "withdraw, gated",
      "withdraw, open",
      "answer with the agent's claim, streaming",
      "answer with the agent's claim, gated",
      "run is abandoned, streaming",
      "run is abandoned, ended",
    ]);
  });

  it("covers the triggers that the source knows; a new one needs its row", () => {
    expect(Object.keys(CALL_TABLE)).toEqual([
      "start",
      "arguments",
      "end",
      "round_close",
      "withdraw",
      "claim:client",
      "claim:agent",
      "renew",
      "release",
      "progress",
      "answer:client",
      "answer:agent",
      "decide",
      "approval_expires",
      "deadline",
      "claim_expires",
      "attempt_finishes",
      "attempt_lost",
      "cancel",
      "run_ends",
    ]);
  });
});

interface Case {
  readonly scene: Scene;
  readonly before: Call;
  readonly entries: number;
  readonly verdict: Verdict | undefined;
}

function judge(expected: string, { scene, before, entries, verdict }: Case): void {
  const { desk } = scene;
  const refusal = verdict?.error ?? verdict?.skipped?.[0]?.error;
  const call = desk.call(CALL);
  if (expected.startsWith("! ")) {
    expect(refusal?.code).toBe(expected.slice(2));
    expect(desk.call(CALL)).toBe(before);
    const since = desk.entries.slice(entries).map((entry) => JSON.stringify(entry.event));
    expect(since.filter((event) => event.includes(`"${CALL}"`))).toEqual([]);
    return;
  }
  expect(refusal).toBeUndefined();
  switch (expected) {
    case "=":
      return expect(call).toBe(before);
    case "append":
      return expect(call).toMatchObject({
        status: before.status,
        arguments: `${before.arguments} `,
      });
    case "rev 2":
      expect(call.claim).toBeUndefined();
      return expect(call).toMatchObject({ status: "streaming", rev: before.rev + 1 });
    case "progress":
      return expect(call).toMatchObject({ status: before.status, progress: 50 });
    case "withdrawn":
      return expect(call).toMatchObject({ ...before, withdrawn: true });
    case "new call": {
      expect(call).toBe(before);
      const made = [...desk.state.calls.values()].find((it) => it.providerId === CALL);
      expect(made).toMatchObject({ status: "streaming", rev: 1, arguments: "" });
      return expect(made?.id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    }
    default:
      return expectStatus(expected, call);
  }
}

function expectStatus(expected: string, call: Call): void {
  const [first = "", second] = expected.split(", ");
  if (STATUSES.includes(first)) {
    expect(call.status).toBe(first);
    if (first === "open") expect(call.manual ?? false).toBe(second === "manual");
    return;
  }
  expect({ status: call.status, outcome: call.outcome, reason: call.reason }).toEqual({
    status: "settled",
    outcome: first,
    reason: second,
  });
  expect(call.claim).toBeUndefined();
  expect(call.withdrawn ?? false).toBe(first === "superseded");
}

function expectReplay({ desk }: Scene): void {
  const reader = emptyState(toOffset("test", 0), { id: "s1", createdAt: 0 });
  reduceAll(reader, JSON.parse(JSON.stringify(desk.entries)));
  expect(rowsOf(reader)).toEqual(rowsOf(desk.state));
}
