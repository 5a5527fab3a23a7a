import type { Call, Rejection, Run, StateRows } from "@holdfast/protocol";
import { toRows } from "@holdfast/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { CALL_CELLS, type Status } from "../../packages/protocol/test/tables/call-cells.ts";
import { RUN_CELLS, type Phase } from "../../packages/protocol/test/tables/run-cells.ts";
import { ready } from "../../packages/protocol/test/tables/run-scene.ts";
import { RUN_TRIGGERS } from "../../packages/protocol/test/tables/run-triggers.ts";
import { answerAnew, arrangeAnew } from "../../packages/protocol/test/tables/anew-scene.ts";
import { ROUND_CELLS } from "../../packages/protocol/test/tables/round-cells.ts";
import { arrangeRound, ROUND_TRIGGERS } from "../../packages/protocol/test/tables/round-scene.ts";
import {
  ANEW_CELLS,
  STEP_CELLS,
  type StepStatus,
} from "../../packages/protocol/test/tables/step-cells.ts";
import { arrangeStep, STEP_TRIGGERS } from "../../packages/protocol/test/tables/step-scene.ts";
import { arrange, CALL } from "../../packages/protocol/test/tables/scene.ts";
import { SETTLE_CELLS } from "../../packages/protocol/test/tables/settle-cells.ts";
import { TRIGGERS } from "../../packages/protocol/test/tables/triggers.ts";
import type { Desk } from "../../packages/protocol/test/support/desk.ts";
import { NoWireForm, openMirror } from "./mirror.ts";

// Every cell is first played at the desk, as the tables' own tests do; then a real server is led through the same, and
// must say and be what the literal says, and log what the desk logged.

interface Cell {
  readonly trigger: string;
  readonly words: string;
  readonly expected: string;
}

const skipped: string[] = [];
/**
 * Without a form on the wire, and shown at the desk alone: a token of attempt 0, a worker that is gone
 * at the grant, and a timer of what nobody holds any more.
 */
const NO_WIRE_FORM = [
  "claim expires, claimed (agent, implicit): =",
  "claim expires, claimed (client, older claim): =",
  "lease expires, active (older attempt): =",
  ...cellsOf<Phase>(RUN_CELLS)
    .filter(({ trigger }) => trigger === "its worker was gone at the grant")
    .map(({ trigger, at, words, expected }) => `${trigger}, ${at} (${words}): ${expected}`),
  ...[
    "append",
    "fail",
    "finish",
    "heartbeat",
    "hold",
    "one repeat too many",
    "one round too many",
    "release",
    "step.start",
  ].flatMap((trigger) => [
    `${trigger}, held (): ! attempt_fenced`,
    `${trigger}, queued (): ! attempt_fenced`,
  ]),
];

function cellsOf<S extends string>(
  table: Readonly<Record<string, Readonly<Record<S, Readonly<Record<string, string>>>>>>,
): (Cell & { readonly at: S })[] {
  return Object.entries(table).flatMap(([trigger, row]) =>
    (Object.entries(row) as [S, Readonly<Record<string, string>>][]).flatMap(([at, cell]) =>
      Object.entries(cell).map(([words, expected]) => ({ trigger, at, words, expected })),
    ),
  );
}

describe("every cell of the call table, over HTTP", () => {
  it.each(cellsOf<Status>({ ...CALL_CELLS, ...SETTLE_CELLS }))(
    "$trigger, $at ($words): $expected",
    async (cell) => {
      const conditions = new Set(cell.words.split(", "));
      if (cell.trigger === "agent is given up") conditions.add("worn");
      if (cell.trigger === "step starts again") conditions.add("step");
      const scene = arrange(cell.at, conditions);
      const before = scene.desk.acts.length;
      TRIGGERS[cell.trigger]?.(scene);
      const state = await lead(scene.desk, before, cell);
      const call = state?.calls.find(({ id }) => id === CALL);
      if (call) expectCall(cell.expected, call);
    },
  );
});

describe("every cell of the run table, over HTTP", () => {
  it.each(cellsOf<Phase>(RUN_CELLS))("$trigger, $at ($words): $expected", async (cell) => {
    const conditions = new Set(cell.words === "" ? [] : cell.words.split(", "));
    const scene = ready(cell.at, conditions);
    const before = scene.desk.acts.length;
    RUN_TRIGGERS[cell.trigger]?.(scene);
    const state = await lead(scene.desk, before, cell);
    const index = [...scene.desk.state.runs.keys()].indexOf(scene.runId);
    const run = state?.runs[index];
    if (run) expectRun(cell.expected, run);
  });
});

describe("every cell of the step table, over HTTP", () => {
  it.each(cellsOf<StepStatus>(STEP_CELLS))("$trigger, $at ($words): $expected", async (cell) => {
    const scene = arrangeStep(cell.at, new Set(cell.words.split(", ")));
    const before = scene.desk.acts.length;
    STEP_TRIGGERS[cell.trigger]?.(scene);
    const state = await lead(scene.desk, before, cell);
    const step = state?.runs[0]?.steps?.find(({ id }) => id === "s");
    const [status, attempt] = cell.expected.split(" ");
    if (status === "open" || status === "ended")
      expect(step).toMatchObject({ status, attempt: Number(attempt) });
  });
});

describe("every cell of the round table, over HTTP", () => {
  it.each(cellsOf(ROUND_CELLS))("$trigger, $at ($words): $expected", async (cell) => {
    const losses = cell.trigger === "its agent is given up" ? 3 : 0;
    const scene = arrangeRound(cell.at, cell.words, losses);
    const before = scene.desk.acts.length;
    ROUND_TRIGGERS[cell.trigger]?.(scene);
    const state = await lead(scene.desk, before, cell);
    const isOpen = state?.runs[0]?.openRounds.includes(scene.round ?? 0);
    if (state && !cell.expected.startsWith("! ")) expect(isOpen).toBe(cell.expected === "open");
  });
});

describe("every cell of answers given anew, over HTTP", () => {
  const cells = Object.entries(ANEW_CELLS).map(([words, expected]) => ({ words, expected }));
  it.each(cells)("$words: $expected", async ({ words, expected }) => {
    const scene = arrangeAnew(words.split(", "));
    const before = scene.desk.acts.length;
    if (words !== "nothing more") answerAnew(scene);
    const cell = { trigger: "answers anew", at: "settled", words, expected };
    const state = await lead(scene.desk, before, cell);
    const call = state?.calls.find(({ id }) => id === "k");
    expect(call?.status).toBe("settled");
    if (expected === "replaced") expect(call?.answer?.stepAttempt).toBeGreaterThan(1);
  });
});

afterAll(() => expect(skipped.toSorted()).toEqual(NO_WIRE_FORM.toSorted()));

/** Leads a server through what was done at the desk; what it has in the end, unless that cannot be done. */
async function lead(
  desk: Desk,
  before: number,
  cell: Cell & { readonly at: string },
): Promise<StateRows | undefined> {
  await using mirror = await openMirror(desk);
  try {
    for (const act of desk.acts.slice(0, before)) await mirror.repeat(act);
    const acts = desk.acts.slice(before);
    const last = acts.pop();
    for (const act of acts) await mirror.repeat(act);
    const photo = await mirror.photograph();
    let refusal: Pick<Rejection, "code"> | undefined;
    if (last) refusal = await mirror.repeat(last);
    const isRefused = cell.expected.startsWith("! ");
    expect(refusal?.code).toBe(isRefused ? cell.expected.slice(2) : undefined);
    const state = await mirror.state();
    const entries = await mirror.entries();
    expect(entries.map(({ event }) => event.type)).toEqual(
      desk.entries.map(({ event }) => event.type),
    );
    if (isRefused && desk.entriesAt(before + acts.length) === desk.entries.length)
      expect(await mirror.photograph()).toBe(photo);
    expect(outline(state)).toEqual(outline(toRows(desk.state)));
    return state;
  } catch (error) {
    if (!(error instanceof NoWireForm)) throw error;
    skipped.push(`${cell.trigger}, ${cell.at} (${cell.words}): ${cell.expected}`);
    return undefined;
  }
}

const STATUSES = ["streaming", "ended", "gated", "open", "claimed", "settled"];

/** What a literal says of its call, where it says how it stands. */
function expectCall(expected: string, call: Call): void {
  const [first = "", second] = expected.split(", ");
  if (STATUSES.includes(first)) expect(call.status).toBe(first);
  else if (second !== undefined) {
    const { status, outcome, reason } = call;
    expect([status, outcome, reason]).toEqual(["settled", first, second]);
  }
}

function expectRun(expected: string, run: Run): void {
  const [phase = "", reason] = expected.split(", ");
  if (phase.startsWith("ended ")) {
    expect([run.status, run.outcome, run.reason]).toEqual(["ended", phase.slice(6), reason]);
  } else if (["active", "suspended"].includes(phase)) expect(run.status).toBe(phase);
  else if (phase === "queued again")
    expect([run.status, typeof run.wakeId]).toEqual(["queued", "string"]);
}

const OF_RUN = ["status", "outcome", "reason", "attempt", "losses", "news", "round"] as const;
const OF_CALL = ["name", "status", "outcome", "reason", "manual", "rev", "arguments"] as const;

/** A state without what differs from one server to the next: its ids, its times and its words. */
function outline({ runs, calls, items, messages }: StateRows) {
  return {
    runs: runs.map((run) => [
      ...OF_RUN.map((key) => run[key]),
      run.openRounds,
      run.behind.length,
      run.wakeId !== undefined,
      run.steps?.map(({ id, attempt, status }) => [id, attempt, status]),
      run.steers?.map(({ consumed }) => consumed),
    ]),
    calls: calls.map((call) => [
      ...OF_CALL.map((key) => call[key]),
      [call.executor, call.withdrawn, call.round],
      [call.claim?.by, call.claim?.implicit],
      [call.answer?.by, call.answer?.answer],
      [call.approval !== undefined, call.approval?.decision?.approved],
      call.history.map(({ what, by }) => [what, by]),
    ]),
    items: items.map(({ kind, round, stepAttempt }) => [kind, round, stepAttempt]),
    messages: messages.map(({ id, content }) => [id, content]),
  };
}
