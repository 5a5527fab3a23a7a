import type { AgentItem, CommandBody, Verdict } from "@holdfast/protocol";
import fc from "fast-check";
import { expect } from "vitest";
import { proposal } from "../../cases/support.ts";
import * as move from "./moves.ts";
import {
  DONE,
  endRun,
  runOf,
  TOOLS,
  type RefCall,
  type Reference,
  type Said,
  type ToolName,
  type Who,
} from "./reference.ts";
import { expectSame, type Held, type System } from "./system.ts";
import { pass, pause } from "./time.ts";

/** How often each kind of command was given, and what was said to it. */
export type Counts = Map<string, number>;
type Fault = "before" | "after" | undefined;

/** One kind of command: what it is in the reference and on the wire, from a few numbers. */
type Act = (ref: Reference, system: System, pick: Pick) => Promise<Said | undefined>;
type Pick = <T>(from: readonly T[]) => T | undefined;

export function commands(
  counts: Counts,
): fc.Arbitrary<Iterable<fc.AsyncCommand<Reference, System>>> {
  const of = (kind: string, act: Act) =>
    fc
      .array(fc.nat(), { minLength: 8, maxLength: 8 })
      .map((numbers) => new Step(kind, act, numbers, counts));
  const all = Object.entries(ACTS).flatMap(([kind, act]) =>
    Array.from({ length: WEIGHTS[kind] ?? 1 }, () => of(kind, act)),
  );
  return fc.noBias(fc.commands(all, { maxCommands: 60, size: "max" }));
}

/** A run at work on a few calls, for the commands to begin with. */
export async function begin(ref: Reference, system: System, numbers: readonly number[]) {
  const counts: Counts = new Map();
  for (const kind of ["send", "work", "propose", "propose"]) {
    const act = ACTS[kind];
    if (act) await new Step(kind, act, [1, ...numbers], counts).run(ref, system);
  }
}

class Step implements fc.AsyncCommand<Reference, System> {
  readonly kind: string;
  readonly act: Act;
  readonly numbers: readonly number[];
  readonly counts: Counts;

  constructor(kind: string, act: Act, numbers: readonly number[], counts: Counts) {
    this.kind = kind;
    this.act = act;
    this.numbers = numbers;
    this.counts = counts;
  }

  check = () => true;

  async run(ref: Reference, system: System): Promise<void> {
    let at = 0;
    const pick: Pick = (from) => from[(this.numbers[(at += 1) - 1] ?? 0) % (from.length || 1)];
    await system.clock.advance(1);
    pass(ref, 1);
    const said = await this.act(ref, system, pick);
    if (said === undefined) return; // there was nothing to do it to
    const key = `${this.kind}: ${said}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    await system.look();
    expectSame(system, ref);
    system.rest();
  }

  toString = () => `${this.kind}(${this.numbers.map((n) => n % 210).join()})`;
}

export const ACTS: Readonly<Record<string, Act>> = {
  async send(ref, system, pick) {
    const isBusy = [...ref.runs.values()].some(({ status }) => status !== "ended");
    if (isBusy && pick([0, 1, 2, 3]) !== 0) return undefined;
    const whileActive = pick(["queue", "queue", "replace", "refuse"] as const) ?? "queue";
    const message = {
      type: "message.send",
      messageId: crypto.randomUUID(),
      content: "go",
    } as const;
    const verdict = await system.say(system.house.ana, { ...message, whileActive });
    return expectSaid(
      verdict,
      move.send(ref, () => verdict.runId ?? "", whileActive),
    );
  },
  async work(ref, system, pick) {
    const ready = [...ref.runs.values()].filter(({ status }) => status === "queued");
    if (ready.length === 0 && pick([0, 1, 2, 3]) !== 0) return undefined;
    const claims = pick([true, true, false]) ?? true;
    const held = await system.claimWork(pick(["w1", "w2"]) ?? "w1", claims);
    expect(held === undefined).toBe(ready.length === 0);
    if (!held) return "nothing";
    const run = ready.find(({ id }) => id === held.work.runId);
    expect(run).toBeDefined();
    if (run) move.start(ref, run, claims);
    expect(held.work.attempt).toBe(run?.attempt);
    return DONE;
  },
  async propose(ref, system, pick) {
    const held = pickAttempt(ref, system, pick);
    if (!held) return undefined;
    const who = whoIs(held);
    const count = pick([1, 2, 3]) ?? 1;
    const first = pick([0, 1, 2, 3, 4, 5, 6]) ?? 0;
    const step = stepOf(ref, who, pick);
    // Together, as a model proposes them: not the same tool twice.
    const calls = Array.from({ length: count }, (_, n) => ({
      id: `c${system.state.calls.size + 1 + n}`,
      name: Object.keys(TOOLS)[(first + n * 3) % Object.keys(TOOLS).length] as ToolName,
    }));
    const proposed = calls.flatMap(({ id, name }) => proposal(id, name, `{"id":"${id}"}`));
    const items: AgentItem[] = [{ type: "round.open" }, ...proposed, { type: "round.close" }];
    const said = await append(ref, system, held, { items, step });
    if (said === DONE) move.propose(ref, who, calls, step);
    return said;
  },
  async finish(ref, system, pick) {
    const held = pickAttempt(ref, system, pick);
    if (!held || pick([0, 1]) === 0) return undefined;
    const said = await batch(ref, system, held, { type: "run.finish" });
    if (said === DONE) move.finish(ref, whoIs(held));
    return said;
  },
  async fail(ref, system, pick) {
    const held = pickAttempt(ref, system, pick);
    if (!held || pick([0, 1, 2, 3]) !== 0) return undefined;
    const error = { code: "broken", message: "It broke." };
    const said = await batch(ref, system, held, { type: "run.fail", error });
    if (said === DONE) endRun(ref, runOf(ref, held.work.runId), "error");
    return said;
  },
  async repeat(ref, system, pick) {
    const held = pickAttempt(ref, system, pick);
    const last = held?.last;
    if (!held || !last) return undefined;
    move.renew(ref, whoIs(held));
    const verdict = await held.agent.command(system.house.session, last);
    expect(verdict.repeated).toBe(true);
    return expectSaid(verdict, DONE);
  },
  async step(ref, system, pick) {
    const held = pickAttempt(ref, system, pick);
    if (!held) return undefined;
    const fenced = move.fence(ref, whoIs(held));
    const expected = fenced === DONE ? move.startStep(ref, whoIs(held)) : fenced;
    return batch(ref, system, held, { type: "step.start", stepId: "s" }, expected);
  },
  async claim(ref, system, pick) {
    const call = pickCall(ref, pick);
    const by = pickWho(ref, system, call, pick);
    if (!call || !by) return undefined;
    const force = pick([false, false, true]) ?? false;
    const before = { ...call };
    const expected = move.claim(ref, call, by.who, force);
    const fault = pickFault(expected === DONE && before.status === "open", pick);
    const body = { type: "call.claim", callId: call.id, ...(force && { force }) } as const;
    const verdict = await system.say(by.wire, body, fault);
    if (call.claim?.id === "") call.claim.id = verdict.claimId ?? "";
    return expectSaid(verdict, expected, fault);
  },
  async release(ref, system, pick) {
    const call = pickCall(ref, pick);
    const by = pickWho(ref, system, call, pick);
    const claimId = call && pick([...claimsOf(call).toReversed(), "nobody's"]);
    if (!call || !by || claimId === undefined) return undefined;
    const expected = move.release(ref, call, by.who, claimId);
    const body = { type: "call.release", callId: call.id, claimId } as const;
    return expectSaid(await system.say(by.wire, body), expected);
  },
  async answer(ref, system, pick) {
    const call = pickCall(ref, pick);
    const by = pickWho(ref, system, call, pick);
    if (!call || !by) return undefined;
    const claimId = pick([call.claim?.id, undefined, ...claimsOf(call)]);
    const value = pick([0, 1]) ?? 0;
    const named = claimId !== undefined && claimId !== "implicit" && { claimId };
    const give = { type: "call.answer", callId: call.id, outcome: "ok", ...named } as const;
    const answer = { type: "json", value } as const;
    const step = by.held ? stepOf(ref, by.who, pick) : 0;
    if (by.held && step > 0) {
      const items = [{ ...give, answer }];
      const fenced = move.fence(ref, by.who);
      const given = { value, step, ...named };
      const expected = fenced === DONE ? move.answer(ref, call, by.who, given) : fenced;
      return append(ref, system, by.held, { items, step, expected });
    }
    const isOpen = call.status !== "settled";
    const expected = move.answer(ref, call, by.who, { value, ...named });
    const fault = pickFault(expected === DONE && isOpen, pick);
    return expectSaid(await system.say(by.wire, { ...give, answer }, fault), expected, fault);
  },
  async decide(ref, system, pick) {
    const call = pickCall(ref, pick);
    if (!call) return undefined;
    const isStale = pick([false, false, true]) ?? false;
    const approved = pick([true, true, false]) ?? true;
    const approvalId = system.state.calls.get(call.id)?.approval?.id ?? "none";
    const expected = move.decide(ref, call, approved, isStale);
    const fault = pickFault(expected === DONE, pick);
    const named = { callId: call.id, approvalId: isStale ? "stale" : approvalId };
    const body = { type: "call.decide", ...named, approved } as const;
    return expectSaid(await system.say(system.house.bo, body, fault), expected, fault);
  },
  async "cancel call"(ref, system, pick) {
    const call = pickCall(ref, pick);
    if (!call) return undefined;
    const expected = move.cancelCall(ref, call);
    const body = { type: "call.cancel", callId: call.id } as const;
    return expectSaid(await system.say(system.house.bo, body), expected);
  },
  async "cancel run"(ref, system, pick) {
    const run = pick([...ref.runs.values()].slice(-3));
    if (!run || pick([0, 1, 2]) !== 0) return undefined;
    const expected = move.cancelRun(ref, run);
    const body = { type: "run.cancel", runId: run.id } as const;
    return expectSaid(await system.say(system.house.bo, body), expected);
  },
  async clock(ref, system, pick) {
    const ms = pick([11_000, 11_000, 22_000, 44_000, 110_000]) ?? 0;
    await system.clock.advance(ms);
    pass(ref, ms);
    return DONE;
  },
  async crash(ref, system, pick) {
    const ms = pick([0, 0, 11_000, 66_000]) ?? 0;
    await system.crash(ms);
    pause(ref, ms);
    return DONE;
  },
};

const WEIGHTS: Readonly<Record<string, number>> = {
  send: 2,
  work: 5,
  propose: 8,
  finish: 3,
  step: 2,
  claim: 5,
  release: 2,
  answer: 6,
  decide: 3,
};

interface By {
  readonly who: Who;
  readonly wire: System["house"]["ana"];
  readonly held?: Held;
}

const whoIs = ({ work }: Held): Who => ({
  name: "agent:demo",
  run: work.runId,
  attempt: work.attempt,
});

const claimsOf = ({ claim, past }: RefCall): string[] =>
  [...past, claim?.id ?? ""].filter((id) => id !== "" && id !== "implicit");

/** Mostly the newest attempt, now and then one whose time is over. */
function pickAttempt(ref: Reference, { attempts }: System, pick: Pick): Held | undefined {
  const current = attempts.filter((it) => runOf(ref, it.work.runId).attempt === it.work.attempt);
  return pick([0, 1, 2, 3]) === 0 ? pick(attempts) : pick(current.slice(-2));
}

function pickCall(ref: Reference, pick: Pick): RefCall | undefined {
  const calls = [...ref.calls.values()];
  const left = calls.filter(({ status }) => status !== "settled");
  return pick([0, 1, 2, 3]) === 0 || left.length === 0 ? pick(calls.slice(-6)) : pick(left);
}

/** Mostly somebody of the side that executes the call. Whatever an attempt says, it is alive. */
function pickWho(ref: Reference, system: System, call: RefCall | undefined, pick: Pick) {
  const by = call && pickSide(system, call, pick);
  if (by) move.renew(ref, by.who);
  return by;
}

function pickSide(system: System, call: RefCall, pick: Pick) {
  const people: By[] = ["user:ana", "user:bo"].map((name) => ({
    who: { name },
    wire: system.person(name),
  }));
  const agents = system.attempts.map((held) => ({ who: whoIs(held), wire: held.agent, held }));
  const own = agents.filter(({ who }) => who.run === call.run).slice(-2);
  const isOther = pick([0, 1, 2, 3, 4, 5]) === 0;
  if (call.tool.side === "client") return isOther ? pick<By>(own) : pick(people);
  // A person names no claim of an agent: nobody tells them one.
  return isOther ? pick<By>(agents) : pick<By>(own);
}

function pickFault(commits: boolean, pick: Pick): Fault {
  const fault = pick([undefined, undefined, undefined, "before", "after"] as const);
  return commits ? fault : undefined;
}

/** The step attempt that the batch may be of: the run's, where this attempt began it. */
function stepOf(ref: Reference, who: Who, pick: Pick): number {
  const run = runOf(ref, who.run ?? "");
  const isOpen = run.step > 0 && run.stepIn === who.attempt && run.attempt === who.attempt;
  return isOpen && pick([0, 1]) === 0 ? run.step : 0;
}

function append(
  ref: Reference,
  system: System,
  held: Held,
  { items, step, expected }: { items: AgentItem[]; step: number; expected?: Said },
): Promise<Said> {
  const inStep = step > 0 && { stepId: "s", stepAttempt: step };
  return batch(ref, system, held, { type: "run.append", items, ...inStep }, expected);
}

type Batch =
  | { type: "run.append"; items: AgentItem[]; stepId?: string; stepAttempt?: number }
  | { type: "run.finish" }
  | { type: "run.fail"; error: { code: string; message: string } }
  | { type: "step.start"; stepId: string };

/** Sends an attempt's next batch. */
async function batch(
  ref: Reference,
  system: System,
  held: Held,
  body: Batch,
  expected = move.fence(ref, whoIs(held)),
): Promise<Said> {
  move.renew(ref, whoIs(held));
  const { runId, attempt } = held.work;
  const fence = { runId, attempt, producer: "main", seq: held.seq + 1 };
  const command = { id: crypto.randomUUID(), ...body, ...fence } as CommandBody & { id: string };
  const verdict = await held.agent.command(system.house.session, command);
  if (verdict.status === "applied") {
    held.seq += 1;
    held.last = command;
  }
  return expectSaid(verdict, expected);
}

function expectSaid(verdict: Verdict, expected: Said, fault?: Fault): Said {
  const refused = verdict.error ?? verdict.skipped?.[0]?.error;
  expect(refused?.code ?? DONE).toBe(expected);
  return fault ? `${expected}, failed ${fault}` : expected;
}
