import { agUiAfterCut, type AgUiInput } from "@holdfast/protocol/ag-ui";
import { worker, type Run, type Worker, type WorkerOptions } from "../agent/index.ts";
import { agUi } from "../codec/ag-ui/index.ts";
import { agentEvents, type RuntimeAgent } from "./runtime-agent.ts";

type AgentWorkerOptions = WorkerOptions<unknown, AgUiInput, Record<never, never>>;

export interface OwnAgentsOptions extends Pick<
  AgentWorkerOptions,
  "url" | "fetch" | "timing" | "backoff" | "onError"
> {
  /** The agents by name. */
  readonly agents: Readonly<Record<string, RuntimeAgent>>;
  readonly token: (agent: string) => string | Promise<string>;
  /** What the process is called, where it is to have its own runs back after a restart. */
  readonly name?: string;
  readonly concurrency: number;
}

/** The agents that this process runs. */
export interface AgentsAtWork extends AsyncDisposable {
  /** Has an AG-UI run worked on by an agent made for it, should it come to this process; the result takes that back. */
  readonly prefer: (threadId: string, runId: string, agent: RuntimeAgent) => () => void;
}

/** Works on the runs of some agents, each by a clone of its agent, or by the one preferred for it. */
export function workOn({ agents, token, ...options }: OwnAgentsOptions): AgentsAtWork {
  const preferred = new Map<string, Preferred>();
  const workers: Worker[] = Object.entries(agents).map(([name, agent]) =>
    worker({
      ...options,
      ...(options.name !== undefined && { name: `${options.name}:${name}` }),
      agent: name,
      token: () => token(name),
      codec: agUi,
      // It executes its tools by itself.
      claims: false,
      async handler(run) {
        const state = run.state.runs.get(run.id);
        const left = state && agUiAfterCut(run.state, state);
        if (left) return endAs(run, left);
        const own = take(preferredFor(run)) ?? cloneOf(agent, name);
        await run.pipe(agentEvents(own, await run.history()));
      },
    }),
  );

  function preferredFor({ id, session, state }: Run): Preferred | undefined {
    const { requests = [], activation } = state.runs.get(id) ?? {};
    const asking = requests.filter((it) => it.activation === activation?.attempt);
    return asking.map((it) => preferred.get(keyOf(session, it.id))).find((it) => it !== undefined);
  }

  return {
    prefer(threadId, runId, agent) {
      const key = keyOf(threadId, runId);
      const entry = { agent, isTaken: false };
      preferred.set(key, entry);
      return () => void (preferred.get(key) === entry && preferred.delete(key));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map((each) => each.stop({ graceMs: 0 })));
    },
  };
}

/** The agent that a request made. It is for one run: whoever goes on after that has a clone. */
interface Preferred {
  readonly agent: RuntimeAgent;
  isTaken: boolean;
}

function take(preferred: Preferred | undefined): RuntimeAgent | undefined {
  if (!preferred?.isTaken) {
    if (preferred) preferred.isTaken = true;
    return preferred?.agent;
  }
  return cloneOf(preferred.agent, preferred.agent.agentId);
}

/** The process before was stopped behind its agent's last word, or where its agent must not be asked again. */
async function endAs(run: Run, left: NonNullable<ReturnType<typeof agUiAfterCut>>): Promise<void> {
  if (left.type === "finish") return;
  const stopped = { code: "cancelled", message: "The agent was stopped." };
  await run.fail(left.type === "fail" ? left.error : stopped);
}

function cloneOf(agent: RuntimeAgent, name: string | undefined): RuntimeAgent {
  const clone = agent.clone() as RuntimeAgent; // what it is, by its contract
  if (name !== undefined) clone.agentId = name;
  return clone;
}

function keyOf(threadId: string, runId: string): string {
  return JSON.stringify([threadId, runId]);
}
