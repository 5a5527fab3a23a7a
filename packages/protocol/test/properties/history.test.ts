import {
  argumentsForModel,
  pathTo,
  resultOf,
  type Call,
  type SessionState,
} from "@holdfast/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Desk } from "../support/desk.ts";
import { createCoverage } from "./coverage.ts";
import { choices, settings, walk } from "./walk.ts";

it(
  "11.6 the model history is valid whenever it is read: each call once, with one result",
  { timeout: 120_000 },
  () => {
    const coverage = createCoverage();
    const kinds = new Set<string>();
    const property = fc.property(choices(160), (numbers) => {
      let steps = 0;
      const desk = walk(numbers, {
        coverage,
        onStep(at) {
          if ((steps += 1) % 10 === 0) for (const kind of expectValid(at)) kinds.add(kind);
        },
      });
      for (const kind of expectValid(desk)) kinds.add(kind);
    });
    fc.assert(property, settings(200));
    expect(coverage.missing()).toEqual([]);
    expect([...kinds].toSorted()).toEqual(["answer", "approved", "denied", "note", "withdrawn"]);
  },
);

/** Checks the history of every run, and gives the kinds of results it met. */
function expectValid({ state }: Desk): string[] {
  const kinds: string[] = [];
  for (const run of state.runs.values()) {
    const path = pathTo(state, run.id);
    expect(path.at(-1)).toBe(run.id);
    const messages = path.filter((id) => state.messages.has(id));
    expect(messages.length).toBeGreaterThan(0);
    const told = new Set<string>();
    for (const call of path.flatMap((id) => callsIn(state, id))) {
      const { kind } = checkResult(call, run.id);
      kinds.push(kind);
      if (kind === "withdrawn") continue;
      expect(told.has(call.id)).toBe(false);
      told.add(call.id);
    }
  }
  return kinds;
}

function callsIn(state: SessionState, runId: string): Call[] {
  return [...state.calls.values()].filter((call) => call.runId === runId);
}

function checkResult(call: Call, forRun: string) {
  const result = resultOf(call, { forRun });
  const taken = call.withdrawn === true || call.outcome === "superseded";
  expect(result.kind === "withdrawn").toBe(taken);
  if (taken) return result;
  if (result.kind === "approved") {
    expect(call).toMatchObject({ runId: forRun, status: "open" });
    expect(call.executor).not.toBe("client");
    expect(call.approval?.decision?.approved).toBe(true);
  }
  if (result.kind === "note") {
    if (call.reason !== "executed_without_approval") expect(call.answer).toBeUndefined();
    expect(result.text).toMatch(/^[A-Z].+/s);
  }
  if (result.kind === "answer") expect(result.answer).toBe(call.answer?.answer);
  const input = argumentsForModel(call);
  expect(typeof input === "object" && input !== null && !Array.isArray(input)).toBe(true);
  return result;
}
