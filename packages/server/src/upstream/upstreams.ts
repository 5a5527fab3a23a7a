import type { Engine, Work } from "../engine/index.ts";
import type { Storage } from "../storage/storage.ts";
import { attend, type AttendContext } from "./attend.ts";
import { checkAgent, type AgentOptions, type AgentTerms } from "./options.ts";

export interface UpstreamsContext {
  readonly engine: Engine;
  readonly storage: Storage;
  readonly heartbeatMs: number;
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
}

export interface Upstreams {
  /** Takes no more runs; ends what is asked of agents, and hands those runs back. */
  close(): Promise<void>;
}

/** What was found to be sound of the operator's word. */
export type CheckedAgents = ReadonlyMap<string, AgentTerms>;

/** @throws RangeError naming what is wrong */
export function checkAgents(agents: Readonly<Record<string, AgentOptions>>): CheckedAgents {
  return new Map(
    Object.entries(agents).map(([name, options]) => [name, checkAgent(name, options)]),
  );
}

/**
 * Works on the runs of agents that are AG-UI endpoints, in this process: claims them like any worker, asks the endpoint, and
 * appends what it says. Nothing depends on clients: they may come and go.
 */
export function startUpstreams(agents: CheckedAgents, context: UpstreamsContext): Upstreams {
  const { engine, storage, schedule } = context;
  const stopping = new AbortController();
  const watched = new Map<string, Set<() => void>>();
  engine.onDue((session, changes) => {
    for (const { kind, id, at } of changes) {
      if (kind !== "lease" || at !== null) continue;
      for (const onOver of watched.get(keyOf(session, id)) ?? []) onOver();
    }
  });

  function watch({ session, runId }: Work, onOver: () => void): () => void {
    const key = keyOf(session, runId);
    const all = watched.get(key) ?? new Set();
    watched.set(key, all.add(onOver));
    return () => {
      all.delete(onOver);
      if (all.size === 0 && watched.get(key) === all) watched.delete(key);
    };
  }

  const shared = { ...context, now: () => storage.now(), stopping: stopping.signal, watch };
  const taking = [...agents].map(([agent, terms]) => take({ ...shared, agent, terms }, schedule));
  return {
    async close() {
      stopping.abort(new Error("The server stops."));
      await Promise.all(taking);
    },
  };
}

/** How long one wait for work lasts, and how long is waited after a failure, in milliseconds. */
const WAIT_MS = 60_000;
const AFTER_FAILURE_MS = 1_000;

/** Takes an agent's runs until the server stops; resolves when the last one has ended. */
async function take(
  context: Omit<AttendContext, "stopping"> & { readonly stopping: AbortSignal },
  schedule: AttendContext["schedule"],
): Promise<void> {
  const { engine, agent, terms, stopping, log } = context;
  const actor = { principal: `agent:${agent}` };
  const request = { agent, worker: "upstream", claims: false };
  const active = new Set<Promise<void>>();
  // The first one names no process: whatever an earlier server held is nobody's any more, and comes back at once. A storage
  // has one server at a time.
  let claim: object = { waitMs: 0 };
  let failures = 0;
  while (!stopping.aborted) {
    try {
      if (active.size >= terms.concurrency) await Promise.race(active);
      if (stopping.aborted) break;
      const work = await engine.claimWork({ ...request, ...claim }, actor, { signal: stopping });
      claim = { waitMs: WAIT_MS, instance: INSTANCE };
      failures = 0;
      if (!work) continue;
      const done: Promise<void> = attend(work, context).finally(() => active.delete(done));
      active.add(done);
    } catch (error) {
      if (stopping.aborted) break;
      failures += 1;
      if (failures === 1) log(`Runs of agent ${agent} could not be claimed`, error);
      await new Promise<void>((resolve) => {
        const stop = schedule(AFTER_FAILURE_MS, resolve);
        stopping.addEventListener("abort", () => (stop(), resolve()), { once: true });
      });
    }
  }
  await Promise.all(active);
}

const INSTANCE = crypto.randomUUID();

function keyOf(session: string, runId: string): string {
  return `${session}\n${runId}`;
}
