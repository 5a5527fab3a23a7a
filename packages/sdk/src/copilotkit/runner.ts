import { fromRows, HoldfastError, type SessionState, type StateRows } from "@holdfast/protocol";
import { Observable, type Subscriber } from "rxjs";
import {
  createTransport,
  isObject,
  unreachable,
  type Backoff,
  type Timing,
} from "../wire/index.ts";
import { workOn, type OwnAgentsOptions } from "./own-agents.ts";
import type { RuntimeAgent } from "./runtime-agent.ts";
import { threadEvents } from "./thread-events.ts";

/** Who asks, and for what: what a token may depend on. */
export interface RunnerRequest {
  readonly verb: "run" | "connect" | "stop" | "isRunning";
  readonly threadId: string;
  /** Where the runtime says it: not to stop. */
  readonly agentId?: string;
  /** Those of the browser's request that the runtime passes on, and the agent's; none to stop. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HoldfastRunnerOptions {
  /** Where the server is. */
  readonly url: string;
  /** A bearer token for what people ask, or what gives one for a request. */
  readonly token: string | ((request: RunnerRequest) => string | Promise<string>);
  /** The agents that this process runs itself. Those of other names are worked on by whoever claims their runs. */
  readonly own?: OwnAgents;
  /** How long a request goes on while the server is away, milliseconds. Default 60 s. */
  readonly patienceMs?: number;
  readonly backoff?: Backoff;
  readonly fetch?: typeof fetch;
  readonly timing?: Timing;
}

/** Agents in the runtime's process whose runs are kept by the server. */
export interface OwnAgents extends Pick<OwnAgentsOptions, "agents" | "name" | "onError"> {
  /** A bearer token that may act as the agent, or what gives one. */
  readonly token: string | ((agent: string) => string | Promise<string>);
  /** How many runs of each agent at once. Default 100. */
  readonly concurrency?: number;
}

export interface RunRequest {
  readonly threadId: string;
  readonly agent: RuntimeAgent & { readonly headers?: Readonly<Record<string, string>> };
  /** As it came from the browser. */
  readonly input: { readonly runId: string };
}

/** What CopilotKit's runtime takes as its `runner`. `Event` is its type for an event of AG-UI; `never` fits any of them. */
export interface HoldfastRunner<Event extends { readonly type: string }> extends AsyncDisposable {
  /**
   * Posts the input, and tells of the run that it began. That nobody listens any more stops nothing. What the server
   * refuses is a RUN_ERROR with its code.
   */
  run(request: RunRequest): Observable<Event>;
  /** Tells the thread as it is, and goes on until nothing is under way; of one that is not there, nothing. */
  connect(request: {
    readonly threadId: string;
    readonly agentId?: string;
    readonly headers?: Record<string, string>;
  }): Observable<Event>;
  /** @returns whether a run of the thread has work to do, in whatever process */
  isRunning(request: { readonly threadId: string }): Promise<boolean>;
  /**
   * Cancels the thread's runs, or the one that is named, in whatever process they are.
   *
   * @returns whether there was any
   */
  stop(request: {
    readonly threadId: string;
    readonly runId?: string;
  }): Promise<boolean | undefined>;
}

/**
 * A runner for CopilotKit's runtime whose threads are Holdfast sessions: what it tells, any runtime with such a runner
 * tells, in whatever process and after any restart. A thread belongs to the agent it was begun with.
 *
 * Disposing of it hands the runs of its own agents back, to go on elsewhere.
 *
 * @throws RangeError where an agent of its own is the server's: it would ask itself
 */
export function createHoldfastRunner<Event extends { readonly type: string } = never>(
  options: HoldfastRunnerOptions,
): HoldfastRunner<Event> {
  const { url, token, own, patienceMs = 60_000 } = options;
  const passed = {
    url,
    ...(options.fetch && { fetch: options.fetch }),
    ...(options.timing && { timing: options.timing }),
    ...(options.backoff && { backoff: options.backoff }),
  };
  const closing = new AbortController();
  const atWork = own && workOn({ ...passed, ...ownAgents(own, url) });

  function transportFor(request: RunnerRequest) {
    const bearer = typeof token === "function" ? () => token(request) : token;
    return createTransport({ ...passed, token: bearer });
  }

  function told(request: RunnerRequest, body: object, keep?: () => () => void): Observable<Event> {
    const { verb, threadId, agentId } = request;
    const at = agentId === undefined ? "sessions" : "agents";
    const path = `/v1/${at}/${encodeURIComponent(agentId ?? threadId)}/ag-ui`;
    return new Observable((subscriber) => {
      const left = new AbortController();
      const letGo = keep?.();
      const events = threadEvents(transportFor(request), {
        path: verb === "connect" ? `${path}/connect` : path,
        body: JSON.stringify(body),
        signal: AbortSignal.any([left.signal, closing.signal]),
        patienceMs,
      });
      // The server's, and the runtime's own type for them.
      void tell(events as AsyncIterable<object> as AsyncIterable<Event>, subscriber, (error) =>
        closing.signal.aborted || (verb === "connect" && isMissing(error))
          ? undefined
          : (errorEvent(error) as { readonly type: string } as Event),
      ).finally(letGo);
      // Where this process works on it, it is followed to its end, so that the agent stays the one it asked for.
      return letGo ? undefined : () => left.abort();
    });
  }

  return {
    run({ threadId, agent, input }) {
      const { agentId, headers } = agent;
      const request = {
        verb: "run",
        threadId,
        ...(agentId !== undefined && { agentId }),
        ...(headers && { headers }),
      } as const;
      const isOwn = own && agentId !== undefined && Object.hasOwn(own.agents, agentId);
      const keep = isOwn && atWork ? () => atWork.prefer(threadId, input.runId, agent) : undefined;
      return told(request, { ...input, threadId }, keep);
    },
    connect: ({ threadId, ...who }) => told({ verb: "connect", threadId, ...who }, { threadId }),
    async isRunning({ threadId }) {
      const transport = transportFor({ verb: "isRunning", threadId });
      const path = `/v1/sessions/${encodeURIComponent(threadId)}/state`;
      const state = await orMissing(transport.json(path, { parse: parseState }));
      return state !== undefined && isAtWork(state);
    },
    async stop({ threadId, runId }) {
      const transport = transportFor({ verb: "stop", threadId });
      const path = `/v1/sessions/${encodeURIComponent(threadId)}/ag-ui/stop`;
      const body = JSON.stringify(runId === undefined ? {} : { runId });
      const stopped = await orMissing(
        transport.json(path, { method: "POST", body, parse: parseStopped }),
      );
      return stopped !== undefined && stopped > 0;
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await atWork?.[Symbol.asyncDispose]();
    },
  };
}

function ownAgents({ agents, token, concurrency = 100, ...rest }: OwnAgents, url: string) {
  for (const [name, agent] of Object.entries(agents)) {
    if (agent.url?.startsWith(`${url.replace(/\/+$/, "")}/`)) {
      throw new RangeError(
        `own.agents: ${name} is asked at ${agent.url}, which would ask it in turn. Leave it out: its runs are kept anyway.`,
      );
    }
  }
  const tokenOf = typeof token === "function" ? token : () => token;
  return { ...rest, agents, concurrency, token: tokenOf };
}

/** Passes events on to their end; `errorOf` says how a failure is told, undefined where it is none. */
async function tell<Event>(
  events: AsyncIterable<Event>,
  subscriber: Subscriber<Event>,
  errorOf: (error: unknown) => Event | undefined,
): Promise<void> {
  try {
    for await (const event of events) subscriber.next(event);
  } catch (error) {
    const event = errorOf(error);
    if (event) subscriber.next(event);
  }
  subscriber.complete();
}

/** The runtime drops what an observable throws: its browser would take the run for finished. */
function errorEvent(error: unknown) {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof HoldfastError ? error.code : "internal";
  return { type: "RUN_ERROR", message, code } as const;
}

function isMissing(error: unknown): boolean {
  if (!(error instanceof HoldfastError)) return false;
  return error.code === "unknown_session" || error.code === "unknown_run";
}

async function orMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isAtWork(state: SessionState): boolean {
  return [...state.index.live].some((id) => state.runs.get(id)?.status !== "suspended");
}

function parseState(value: unknown): SessionState {
  if (!isObject(value) || typeof value["offset"] !== "string" || !isObject(value["state"])) {
    throw unreachable("The server sent no state: is it a Holdfast server?");
  }
  return fromRows(value["offset"], value["state"] as unknown as StateRows);
}

function parseStopped(value: unknown): number {
  const stopped = isObject(value) ? value["stopped"] : undefined;
  if (!Array.isArray(stopped)) throw unreachable("The server did not say what it stopped.");
  return stopped.length;
}
