import {
  fromRows,
  reduceAll,
  toRows,
  waitingFor,
  waitingOf,
  type Command,
  type CommandBody,
  type Entry,
  type SessionState,
  type ToolDeclaration,
  type Verdict,
} from "@holdfast/protocol";
import { memoryStorage } from "holdfast";
import { expect } from "vitest";
import { openDesk } from "../../../packages/protocol/test/support/desk.ts";
import {
  machinesAct,
  openCalls,
  peopleAct,
  untilRest,
} from "../../../packages/protocol/test/support/rest.ts";
import { withHold } from "../../../packages/server/test/storage/hold.ts";
import { ManualClock } from "../../../packages/server/test/support/clock.ts";
import { openHouse } from "../../cases/support.ts";
import type { Wire, Work } from "../../support/wire.ts";
import { TERMS, TOOLS, type Reference } from "./reference.ts";

/** An attempt as its process knows it, however old. */
export interface Held {
  readonly work: Work;
  readonly agent: Wire;
  seq: number;
  last?: Command;
}

const DECLARED: ToolDeclaration[] = Object.entries(TOOLS).map(([name, tool]) => ({
  name,
  approvalMs: TERMS.approval,
  ...(tool.side === "client" && { executor: "client" }),
  ...("safe" in tool && { retry: "safe" }),
  ...("gate" in tool && { approval: "always" }),
  ...("timed" in tool && { deadlineMs: TERMS.deadline }),
}));

/** The real server, seen through its HTTP face alone. */
export type System = Awaited<ReturnType<typeof openSystem>>;

export async function openSystem() {
  const clock = new ManualClock();
  const held = withHold(memoryStorage({ now: clock.now }));
  const house = await openHouse({
    storage: held.storage,
    schedule: clock.schedule,
    leaseMs: TERMS.lease,
    claimLeaseMs: TERMS.claim,
    log: () => {}, // commits fail on purpose
  });
  const { offset, state: rows } = await house.ana.state(house.session);
  const state = fromRows(offset, rows);
  const seen = new Witness();
  const attempts: Held[] = [];

  const system = {
    clock,
    house,
    state,
    attempts,
    person: (name: string) => (name === "user:ana" ? house.ana : house.bo),
    async claimWork(worker: string, claims: boolean): Promise<Held | undefined> {
      let isAnswered = false;
      const asked = house.agent.claimWork({
        worker,
        instance: worker,
        claims,
        tools: DECLARED,
        waitMs: 0,
      });
      void asked.finally(() => (isAnswered = true));
      while (!isAnswered) await clock.advance(0); // that no work came is a timer's word
      const work = await asked;
      if (!work) return undefined;
      const attempt: Held = { work, agent: house.ana.as(work.token), seq: 0 };
      attempts.push(attempt);
      return attempt;
    },
    /** One command. A fault makes its first commit fail, before or after it is written; then it is sent again. */
    async say(by: Wire, body: CommandBody, fault?: "before" | "after"): Promise<Verdict> {
      const command = { id: crypto.randomUUID(), ...body };
      if (!fault) return by.command(house.session, command);
      held.hold(fault);
      const path = `/v1/sessions/${house.session}/commands`;
      const sent = by.call("POST", path, { commands: [command] });
      await held.held(1);
      held.fail(new Error("the disk is full"));
      expect((await sent).status).toBe(500);
      return by.command(house.session, command);
    },
    async crash(ms: number) {
      await house.restart(() => clock.advance(ms));
      await clock.advance(0);
      // The tokens hold on; where they are sent does not.
      for (const [index, attempt] of attempts.entries())
        attempts[index] = { ...attempt, agent: house.ana.as(attempt.work.token) };
    },
    /** Reads on, and checks what must always hold. */
    async look(): Promise<void> {
      const path = `/v1/sessions/${house.session}/entries?limit=1000&after=${state.head}`;
      const { entries } = (await house.ana.call("GET", path)).body as { entries: Entry[] };
      reduceAll(state, entries);
      seen.hear(entries, state);
    },
    /**
     * From the state that was just reached, by the rules alone: left alone, machines come to rest, what is left waits for
     * somebody who was there; and when people act, everything ends.
     */
    rest(): void {
      const from = { offset: state.head, rows: toRows(state), now: clock.now() };
      const desk = openDesk({ from, tools: DECLARED });
      untilRest(desk, () => machinesAct(desk, false));
      for (const id of desk.state.index.live) {
        expect(["queued", "suspended"]).toContain(desk.run(id).status);
        const { kind } = waitingFor(desk.state, desk.run(id));
        expect(["person", "client", "worker"]).toContain(kind);
      }
      for (const call of openCalls(desk)) expect(["gated", "open"]).toContain(call.status);
      untilRest(desk, () => {
        peopleAct(desk, desk.entries.length);
        machinesAct(desk, true);
      });
      expect([...desk.state.index.live]).toEqual([]);
      expect(openCalls(desk)).toEqual([]);
    },
    /** What the server keeps is what its log says. */
    async agree(): Promise<void> {
      const now = await house.ana.state(house.session);
      expect(now.offset).toBe(state.head);
      expect(toRows(fromRows(now.offset, now.state))).toEqual(
        toRows(fromRows(state.head, toRows(state))),
      );
    },
    [Symbol.asyncDispose]: () => house[Symbol.asyncDispose](),
  };
  return system;
}

/** Watches the log for what must never be in it. */
class Witness {
  readonly #answered = new Set<string>();
  readonly #approved = new Set<string>();
  readonly #gated = new Set<string>();
  readonly #woken = new Set<string>();
  readonly #ended = new Map<string, string>();

  hear(entries: readonly Entry[], state: SessionState): void {
    for (const { event, runId = "" } of entries) {
      switch (event.type) {
        case "call.gated":
          this.#gated.add(event.callId);
          break;
        case "call.decided":
          if (event.approved) this.#approved.add(event.callId);
          break;
        case "call.claimed":
        case "call.opened":
          this.#expectDecided(event.callId);
          break;
        case "call.answered":
          expect(this.#answered.has(event.callId)).toBe(false);
          this.#answered.add(event.callId);
          if (event.outcome === "ok") this.#expectDecided(event.callId);
          break;
        case "call.answer_replaced":
          if (event.outcome === "ok") this.#expectDecided(event.callId);
          break;
        case "run.queued":
          // One wake-up, until somebody took it.
          expect(this.#woken.has(runId)).toBe(false);
          if (event.wakeId !== undefined) this.#woken.add(runId);
          break;
        case "attempt.started":
          expect(this.#woken.delete(runId)).toBe(true);
          break;
        default:
      }
    }
    this.#expectNamed(state);
    this.#expectEnded(state);
  }

  #expectDecided(callId: string): void {
    if (this.#gated.has(callId)) expect(this.#approved.has(callId)).toBe(true);
  }

  #expectNamed(state: SessionState): void {
    for (const call of state.calls.values()) {
      expect(waitingOf(call).kind === "nobody").toBe(call.status === "settled");
    }
    for (const run of state.runs.values()) {
      expect(waitingFor(state, run).kind === "nobody").toBe(run.status === "ended");
    }
  }

  #expectEnded(state: SessionState): void {
    for (const run of state.runs.values()) {
      if (run.status !== "ended") continue;
      const calls = [...state.calls.values()].filter(({ runId }) => runId === run.id);
      const items = [...state.items.values()].filter(({ runId }) => runId === run.id);
      const now = JSON.stringify([run, calls, items]);
      expect(this.#ended.get(run.id) ?? now).toBe(now);
      this.#ended.set(run.id, now);
    }
  }
}

/** What the reference says of calls and runs is so. */
export function expectSame({ state }: System, ref: Reference): void {
  const calls = [...state.calls.values()].map((call) => ({
    id: call.id,
    status: call.status,
    outcome: call.outcome,
    manual: call.manual,
    held: call.claim?.implicit ? "implicit" : call.claim?.id,
    answer: call.answer?.answer,
  }));
  expect(calls).toEqual(
    [...ref.calls.values()].map((call) => ({
      id: call.id,
      status: call.status,
      outcome: call.outcome,
      manual: call.manual,
      held: call.claim?.id,
      answer: call.answer && { type: "json", value: call.answer.value },
    })),
  );
  const runs = [...state.runs.values()].map((run) => ({
    id: run.id,
    status: run.status === "queued" && run.wakeId === undefined ? "held" : run.status,
    outcome: run.outcome,
    attempt: run.attempt,
    losses: run.losses,
  }));
  expect(runs).toEqual(
    [...ref.runs.values()].map(({ id, status, outcome, attempt, losses }) => ({
      id,
      status,
      outcome,
      attempt,
      losses,
    })),
  );
}
