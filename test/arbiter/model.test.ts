import fc from "fast-check";
import { waitingFor } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { answerTo } from "../cases/support.ts";
import { ACTS, begin, commands, type Counts } from "./model/commands.ts";
import type { Reference } from "./model/reference.ts";
import { openSystem, type System } from "./model/system.ts";

const DAY = 86_400_000;
/** A seed may be given to look for what the usual one does not find. */
const SEED = Number(process.env["HOLDFAST_SEED"] ?? 20_270_101);
const NUMBER = Number(process.env["HOLDFAST_MODEL_RUNS"] ?? 100);

test(
  "whatever clients, agents, steps, clocks and crashes do, the tables hold",
  { timeout: 300_000 },
  async () => {
    const counts: Counts = new Map();
    const opening = fc.array(fc.nat(), { minLength: 7, maxLength: 7 });
    const property = fc.asyncProperty(opening, commands(counts), async (numbers, given) => {
      await using system = await openSystem();
      await fc.asyncModelRun(async () => {
        const now = system.clock.now();
        const model: Reference = { now, moment: 0, calls: new Map(), runs: new Map() };
        await begin(model, system, numbers);
        return { model, real: system };
      }, given);
      await system.agree();
      await leaveAlone(system);
      await actUntilAllEnded(system);
      await system.agree();
    });
    await fc.assert(property, { numRuns: NUMBER, seed: SEED });
    const missing = REACHED.filter((key) => !counts.has(key));
    expect(missing).toEqual([]);
  },
);

/** Nobody does anything any more: machines come to rest, and what is left waits for somebody who was there. */
async function leaveAlone(system: System): Promise<void> {
  for (let before = ""; before !== system.state.head;) {
    before = system.state.head;
    await system.clock.advance(DAY);
    await system.look();
  }
  for (const run of system.state.runs.values()) {
    if (run.status === "ended") continue;
    expect(["queued", "suspended"]).toContain(run.status);
    expect(["person", "client", "worker"]).toContain(waitingFor(system.state, run).kind);
  }
  for (const call of system.state.calls.values())
    expect(["gated", "open", "settled"]).toContain(call.status);
}

/** People act, and a worker takes up what is ready: everything ends. */
async function actUntilAllEnded(system: System): Promise<void> {
  const { house, state } = system;
  for (let rounds = 0; rounds < 20; rounds += 1) {
    if ([...state.runs.values()].every(({ status }) => status === "ended")) return;
    for (const { id: callId, status, executor, approval } of state.calls.values()) {
      if (status === "gated") {
        const named = { callId, approvalId: approval?.id ?? "" };
        await system.say(house.bo, { type: "call.decide", ...named, approved: rounds === 0 });
      } else if (status === "open" && executor === "client") {
        await system.say(house.ana, answerTo(callId));
      }
    }
    const held = await system.claimWork("last", true);
    if (held) {
      const { runId, attempt } = held.work;
      const fence = { runId, attempt, producer: "main", seq: 1 };
      await system.say(held.agent, { type: "run.finish", ...fence });
    }
    await system.look();
  }
  throw new Error("It does not end.");
}

/** What must have been met, so that a command that can no longer be given is noticed. */
const REACHED = [
  ...Object.keys(ACTS).map((kind) => `${kind}: applied`),
  ...["claim", "answer", "decide"].flatMap((kind) => [
    `${kind}: applied, failed before`,
    `${kind}: applied, failed after`,
  ]),
  ...["attempt_fenced", "run_ended"].flatMap((code) =>
    ["propose", "finish", "step"].map((kind) => `${kind}: ${code}`),
  ),
  "step: step_settled",
  "send: run_active",
  "work: nothing",
  ...["not_executor", "approval_required", "attempt_fenced", "claim_held", "call_settled"].flatMap(
    (code) => [`claim: ${code}`, `answer: ${code}`],
  ),
  "answer: already_answered",
  "decide: stale_decision",
  "decide: call_settled",
  "release: not_claimed",
  "cancel call: call_settled",
  "cancel run: run_ended",
];
