import {
  fromRows,
  reduceAll,
  toRows,
  type AgentItem,
  type Entry,
  type SessionState,
  type ToolDeclaration,
  type Verdict,
} from "@holdfast/protocol";
import { expect } from "vitest";
import { sorted } from "../../packages/server/test/support/engine.ts";
import { attemptOf, proposal, type Attempt, type House } from "../cases/support.ts";
import { devToken, type Wire } from "../support/wire.ts";

/** Races of one lane that run at once. */
const AT_ONCE = 10;
/** Races after which a lane's session is left for a new one, so that none grows long. */
const PER_SESSION = 50;

/** A session of its own with an agent of its own, whose log is read on as it grows. */
export interface Lane {
  readonly house: House;
  readonly session: string;
  /** The agent's token; {@link Lane.take} works with it. */
  readonly agent: Wire;
  /** What a reader of the log knows. */
  readonly state: SessionState;
  /** The agent takes a run that is ready. */
  take(): Promise<Attempt>;
  /** What was logged since this was last asked. */
  read(): Promise<Entry[]>;
  /** The server's state is what its log says. */
  agree(): Promise<void>;
}

let lanes = 0;

export async function openLane(house: House, tools: readonly ToolDeclaration[]): Promise<Lane> {
  const name = `lane-${(lanes += 1)}`;
  await house.ana.create(name, name);
  const agent = house.ana.as(await devToken(house.url, { agent: name }));
  const { offset, state: rows } = await house.ana.state(name);
  const state = fromRows(offset, rows);
  return {
    house,
    session: name,
    agent,
    state,
    async take() {
      const work = await agent.claimWork({ worker: "w1", agent: name, tools });
      if (!work) throw new Error("No work came.");
      return attemptOf(house.ana.as(work.token), work);
    },
    async read() {
      const path = `/v1/sessions/${name}/entries?limit=1000&after=${state.head}`;
      const { body } = await house.ana.call("GET", path);
      const { entries } = body as { entries: Entry[] };
      reduceAll(state, entries);
      return entries;
    },
    async agree() {
      const { offset: head, state: now } = await house.ana.state(name);
      expect(state.head).toBe(head);
      expect(sorted(toRows(state))).toEqual(sorted(now));
    },
  };
}

/** Ana says something in the lane's session. */
export async function say(lane: Lane): Promise<string> {
  const message = { type: "message.send", messageId: crypto.randomUUID(), content: "go" } as const;
  const { runId } = applied(await lane.house.ana.command(lane.session, message));
  return runId ?? "";
}

/** A run whose closed round has one call for each of the tools named. */
export async function propose(lane: Lane, tools: readonly string[]): Promise<string[]> {
  await say(lane);
  const attempt = await lane.take();
  const ids = tools.map((_, n) => `call-${n}`);
  const items: AgentItem[] = tools.flatMap((tool, n) => proposal(`call-${n}`, tool, `{"n":${n}}`));
  const round = [{ type: "round.open" }, ...items, { type: "round.close" }] as const;
  expect(applied(await attempt.append(...round)).skipped).toBeUndefined();
  await lane.read();
  return ids;
}

/**
 * Races over calls, ten at a time, a new session for every fifty. After every ten, the log since then is read: `judge`
 * sees what it says of each call; and at the end of a session the server's state is compared with its whole log.
 */
export async function overCalls<T>(
  house: House,
  options: {
    readonly rounds: number;
    readonly tools: readonly ToolDeclaration[];
    /** The tool of the n-th call. Default: the first. */
    readonly toolOf?: (n: number) => string;
    readonly race: (lane: Lane, callId: string, round: number) => Promise<T>;
    readonly judge: (raced: T, entries: readonly Entry[], lane: Lane, callId: string) => void;
  },
): Promise<void> {
  const { rounds, tools, toolOf = () => tools[0]?.name ?? "", race, judge } = options;
  for (let from = 0; from < rounds; from += PER_SESSION) {
    const lane = await openLane(house, tools);
    const count = Math.min(PER_SESSION, rounds - from);
    const ids = await propose(
      lane,
      Array.from({ length: count }, (_, n) => toolOf(n)),
    );
    for (let first = 0; first < count; first += AT_ONCE) {
      const some = ids.slice(first, first + AT_ONCE);
      const raced = await Promise.all(some.map((id, n) => race(lane, id, from + first + n)));
      const entries = await lane.read();
      for (const [n, id] of some.entries()) {
        const own = entries.filter(({ event }) => "callId" in event && event.callId === id);
        judge(raced[n] as T, own, lane, id);
      }
    }
    await lane.agree();
  }
}

/** Two contestants at once, in turns the one and the other first. */
export async function race<A, B>(
  round: number,
  one: () => Promise<A>,
  other: () => Promise<B>,
): Promise<[A, B]> {
  if (round % 2 === 0) return Promise.all([one(), other()]);
  const [second, first] = await Promise.all([other(), one()]);
  return [first, second];
}

/** The one that was applied, and the other's refusal. Anything else was no race. */
export function winnerOf(verdicts: readonly [Verdict, Verdict]) {
  expect(verdicts.map(({ status }) => status).toSorted()).toEqual(["applied", "rejected"]);
  const index = verdicts[0].status === "applied" ? 0 : 1;
  const lost = verdicts[1 - index]?.error;
  return { index, lost } as const;
}

export function applied(verdict: Verdict): Verdict {
  const refused = verdict.error ?? verdict.skipped?.[0]?.error;
  if (refused) throw new Error(`${refused.code}: ${refused.message}`);
  return verdict;
}
