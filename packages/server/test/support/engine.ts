import type {
  AgentItem,
  Actor,
  Command,
  CommandBody,
  StateRows,
  Verdict,
} from "@holdfast/protocol";
import { auditKey } from "../../src/audit/key.ts";
import { DEFAULTS } from "../../src/config.ts";
import { Engine, randomId, type EngineOptions, type Work } from "../../src/engine/index.ts";
import { memoryStorage } from "../../src/storage/memory.ts";

export const ANA: Actor = { principal: "user:ana" };
export const DEMO: Actor = { principal: "agent:demo" };

/** What the audits of test engines are signed with. */
export const AUDIT_SECRET = new Uint8Array(32).fill(7);

export function startEngine(options: Partial<EngineOptions> = {}): Engine {
  return new Engine({
    ...DEFAULTS,
    storage: memoryStorage(),
    newId: randomId,
    auditKey: auditKey(AUDIT_SECRET),
    log: (message, error) => {
      throw new Error(message, { cause: error });
    },
    ...options,
  });
}

let commands = 0;

/** Sends one command under a new id, unless it has one. */
export async function send(
  engine: Engine,
  session: string,
  body: CommandBody & { id?: string },
  actor: Actor = ANA,
): Promise<Verdict> {
  const command = { id: `c${(commands += 1)}`, ...body } as Command;
  const [verdict] = await engine.submit(session, [command], actor);
  if (!verdict) throw new Error("No verdict.");
  return verdict;
}

/** One attempt, as its agent uses it. */
export interface Attempt {
  readonly work: Work;
  readonly actor: Actor;
  readonly append: (...items: AgentItem[]) => Promise<Verdict>;
  readonly finish: () => Promise<Verdict>;
}

/** A session with a message, and the attempt that answers it. */
export async function startAttempt(
  engine: Engine,
  session: string,
  claim: { worker?: string; claims?: boolean } = {},
): Promise<Attempt> {
  await engine.create(session, { agent: "demo" }, ANA);
  await send(engine, session, { type: "message.send", messageId: "m1", content: "hello" });
  return claimAttempt(engine, claim);
}

/** The next attempt of agent `demo` that is ready. */
export async function claimAttempt(
  engine: Engine,
  claim: { worker?: string; claims?: boolean } = {},
): Promise<Attempt> {
  const work = await engine.claimWork({ agent: "demo", worker: "w1", ...claim }, DEMO);
  if (!work) throw new Error("No work came.");
  return attemptOf(engine, work);
}

export function attemptOf(engine: Engine, work: Work, producer = "main"): Attempt {
  const { session, runId, attempt } = work;
  const actor: Actor = { ...DEMO, attempt: { runId, attempt } };
  let seq = 0;
  const fence = () => ({ runId, attempt, producer, seq: (seq += 1) });
  return {
    work,
    actor,
    append: (...items) => send(engine, session, { type: "run.append", ...fence(), items }, actor),
    finish: () => send(engine, session, { type: "run.finish", ...fence() }, actor),
  };
}

/** A session's state, as it travels. */
export async function stateOf(engine: Engine, session: string): Promise<StateRows> {
  return JSON.parse((await engine.state(session)).text) as StateRows;
}

/** The same state whatever order its rows are in. */
export function sorted(state: StateRows): StateRows {
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
  return {
    session: state.session,
    messages: state.messages.toSorted(byId),
    runs: state.runs.toSorted(byId),
    items: state.items.toSorted(byId),
    calls: state.calls.toSorted(byId),
  };
}
