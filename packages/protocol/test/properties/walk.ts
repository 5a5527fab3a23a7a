import type { Verdict } from "@holdfast/protocol";
import fc from "fast-check";
import { openDesk, type Desk, type DeskOptions } from "../support/desk.ts";
import { callMoves } from "./call-moves.ts";
import type { Coverage } from "./coverage.ts";
import { OPENINGS } from "./openings.ts";
import { runMoves, sessionMoves } from "./run-moves.ts";
import { newest, phaseOf, POLICY, TOOLS, type Move, type Moves } from "./world.ts";

export interface Walk extends DeskOptions {
  readonly coverage: Coverage;
  /** Hears of every command that was decided. */
  readonly onCommand?: Desk["onCommand"];
  /** Called after each step. */
  readonly onStep?: (desk: Desk, verdict: Verdict | undefined) => void;
}

/** A seed may be given to look for what the usual one does not find. */
const SEED = Number(process.env["HOLDFAST_SEED"] ?? 20_270_101);

/**
 * A way through a session: at each step a number picks one of the moves that its state offers, mostly one that carries
 * it forward. Shrinks to fewer steps.
 */
export const choices = (steps: number) =>
  fc.noBias(
    fc.array(fc.noShrink(fc.maxSafeNat()), { minLength: steps / 2, maxLength: steps, size: "max" }),
  );

export function settings(numRuns: number): fc.Parameters<unknown> {
  return { numRuns, seed: SEED };
}

export function walk(numbers: readonly number[], options: Walk): Desk {
  const { coverage, onStep, onCommand, ...rest } = options;
  const desk = openDesk({ tools: TOOLS, policy: POLICY, ...rest });
  desk.onCommand = onCommand;
  OPENINGS[(numbers[0] ?? 0) % OPENINGS.length]?.(desk);
  for (const number of numbers.slice(1)) {
    const move = pick(desk, number);
    coverage.count(move.pair);
    desk.tick(1);
    const entries = desk.entries.length;
    const verdict = move.act();
    for (const { event } of desk.entries.slice(entries))
      if (event.type === "run.ended" && event.reason === "budget_exceeded")
        coverage.count("run active / breach");
    onStep?.(desk, verdict);
  }
  desk.seal();
  return desk;
}

function pick(desk: Desk, number: number): Move {
  const digit = digitsOf(number);
  return (digit(2) === 0 && forward(desk, digit)) || sideways(desk, digit);
}

/** A move that carries the session on: of a run that goes on or of a call that is not settled. */
function forward(desk: Desk, digit: Digit): Move | undefined {
  const runs = [...desk.state.index.live].map((id) => desk.run(id));
  const calls = newest(desk.state.calls.values(), 8).filter((call) => call.status !== "settled");
  const moves = createMoves();
  if (runs.length === 0) sessionMoves(desk, moves);
  else if (digit(2) === 0 && calls.length > 0) callMoves(desk, among(calls, digit), moves);
  else runMoves(desk, among(runs, digit), moves);
  return moves.main.length > 0 ? among(moves.main, digit) : undefined;
}

/**
 * Any move at all. What a state offers most of must not crowd out the rest: first the state of what it meets is
 * chosen, then the command, then how it is given.
 */
function sideways(desk: Desk, digit: Digit): Move {
  const runs = newest(desk.state.runs.values(), 4);
  const calls = newest(desk.state.calls.values(), 8);
  const states = [
    "session",
    ...new Set(runs.map((run) => `run ${phaseOf(run)}`)),
    ...new Set(calls.map((call) => call.status)),
    ...new Set(calls.map((call) => call.status)),
  ];
  const state = among(states, digit);
  const moves = createMoves();
  const met = runs.filter((run) => state === `run ${phaseOf(run)}`);
  const calledFor = calls.filter((call) => call.status === state);
  if (state === "session") sessionMoves(desk, moves);
  else if (met.length > 0) runMoves(desk, among(met, digit), moves);
  else callMoves(desk, among(calledFor, digit), moves);
  const pairs = [...new Set(moves.all.map((move) => move.pair))];
  const pair = among([...pairs, ...repeated(pairs.filter(isRare), 3)], digit);
  return among(
    moves.all.filter((move) => move.pair === pair),
    digit,
  );
}

/** What only an attempt can do, while it is at work or after another took over: seldom possible, so taken more often. */
function isRare(pair: string): boolean {
  return /:older$|^step |answer:step|\/ (?:start|arguments|end|ask|invalidate|replace|annotate|annotate:other|answer:appended)$/.test(
    pair,
  );
}

function repeated<T>(items: readonly T[], times: number): T[] {
  return Array.from({ length: times }, () => items).flat();
}

function createMoves(): Moves {
  return { main: [], all: [] };
}

type Digit = (base: number) => number;

function among<T>(items: readonly T[], digit: Digit): T {
  const item = items[digit(items.length)];
  if (item === undefined) throw new Error("Nothing can happen");
  return item;
}

/** Draws one choice after another from a number. */
function digitsOf(number: number): Digit {
  let rest = number;
  return (base) => {
    const digit = rest % base;
    rest = Math.floor(rest / base);
    return digit;
  };
}
