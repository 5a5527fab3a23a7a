import type { Codec } from "@holdfast/protocol";
import type { ToolSet } from "ai";
import {
  backoffMs,
  createSocket,
  createTransport,
  WORKER_BACKOFF,
  isTransient,
  linkedController,
  systemTiming,
  type Backoff,
  type SocketLane,
  type SocketOptions,
  type Timing,
} from "../wire/index.ts";
import { attend } from "./attend.ts";
import { createAttempt, type Attempt } from "./attempt.ts";
import { declareTools } from "./declare.ts";
import { handBack, letGo } from "./hand-back.ts";
import type { Refused } from "./outbox.ts";
import type { ToolPolicies } from "./policy.ts";
import type { Run } from "./run.ts";
import { claimWork, type Work } from "./work.ts";

export interface WorkerOptions<Chunk, History, Tools extends ToolSet> {
  /** Where the server is. */
  readonly url: string;
  /** A bearer token that may act as the agent, or what gives a fresh one. */
  readonly token: string | (() => string | Promise<string>);
  /** The agent whose runs are worked on. */
  readonly agent: string;
  /**
   * Names the worker. One process at a time under one name: a process that starts under it takes the runs of the one
   * before over at once, instead of after their leases. Default: a name of its own for each process.
   */
  readonly name?: string;
  /** Between the agent's framework and the log. */
  readonly codec: Codec<Chunk, History>;
  /** How many runs at once. Default 4. */
  readonly concurrency?: number;
  /** The agent's tools, declared to the server and given by `run.tools()`. */
  readonly tools?: Tools;
  readonly policies?: ToolPolicies<Tools>;
  /** `tools` names every tool there is: calls of others settle as `unknown_tool`. Default false. */
  readonly complete?: boolean;
  /**
   * Tools are executed by way of `run.tools()`, which claims each call before. Without, they are the framework's own
   * affair: a call counts as claimed once its arguments are whole, and where its attempt is lost before the answer, it
   * ends as `executor_lost` and stays on the record. Default true.
   */
  readonly claims?: boolean;
  /** Works on one attempt. Returning finishes it, throwing fails its run. */
  readonly handler: (run: Run<Chunk, History, Tools>) => Promise<void>;
  /**
   * Hears of what nobody else does: a handler that threw, a run that went past its budget (`budget_exceeded`), a server that is away (once each time), what stopped the
   * worker. Default: the console.
   */
  readonly onError?: (error: unknown, run?: RunName) => void;
  /** Hears of every item the server did not take. */
  readonly onRefused?: (refused: Refused, run: RunName) => void;
  /** Stops the worker, as `stop` without grace. */
  readonly signal?: AbortSignal;
  /**
   * How long an attempt goes on trying while the server is away, milliseconds: a server that comes back gives every
   * lease a full term, so the attempt may still be there. Default 5 minutes.
   */
  readonly patienceMs?: number;
  /** How long one request for work waits, milliseconds. Default 25 s. */
  readonly waitMs?: number;
  readonly backoff?: Backoff;
  /**
   * How attempts speak with the server: each in requests of its own, or all of them over one WebSocket, which costs
   * less where there are many. Default `http`.
   */
  readonly transport?: "http" | "websocket";
  /** Default: the platform's `WebSocket`. */
  readonly webSocket?: SocketOptions["webSocket"];
  readonly fetch?: typeof fetch;
  readonly timing?: Timing;
}

/** Which run it is about. */
export interface RunName {
  readonly session: string;
  readonly runId: string;
}

/** A process's share in an agent's work. */
export interface Worker extends AsyncDisposable {
  readonly name: string;
  /** The attempts under way. */
  readonly active: number;
  /**
   * Takes no more work, lets running handlers finish for `graceMs` (default 10 s), then aborts their `run.signal` with
   * `closed` and hands their runs back, which go to others at once. Resolves when all handlers have returned.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  /** Settles when all handlers have returned; rejects with what made it stop by itself, such as `unauthenticated`. */
  readonly stopped: Promise<void>;
}

/**
 * Starts working: asks the server for runs of the agent and has the handler work on them, several at once. Survives
 * a server that is away or restarts, and keeps its attempts meanwhile.
 */
export function worker<Chunk, History, Tools extends ToolSet = Record<never, never>>(
  options: WorkerOptions<Chunk, History, Tools>,
): Worker {
  const { url, agent, onError = console.error } = options;
  const { concurrency = 4, waitMs = 25_000, patienceMs = 300_000, complete, claims } = options;
  const timing = options.timing ?? systemTiming;
  const instance = crypto.randomUUID();
  const name = options.name ?? `${agent}-${instance.slice(0, 8)}`;
  const tools = options.tools ?? ({} as Tools);
  const policies = options.policies ?? {};
  const connection = {
    url,
    timing,
    backoff: options.backoff ?? WORKER_BACKOFF,
    ...(options.fetch && { fetch: options.fetch }),
  };
  const transport = createTransport({ ...connection, token: options.token });
  const socket =
    options.transport === "websocket"
      ? createSocket({
          url,
          timing,
          token: options.token,
          ...(options.webSocket && { webSocket: options.webSocket }),
        })
      : undefined;
  const { controller: taking, unlink } = linkedController(options.signal);
  const attempts = new Map<Attempt, Promise<void>>();

  async function take(): Promise<void> {
    const declared = await declareTools(tools, policies);
    const request = {
      agent,
      worker: name,
      instance,
      waitMs,
      ...(declared.length > 0 && { tools: declared }),
      ...(complete && { complete }),
      ...(claims !== undefined && { claims }),
    };
    let failures = 0;
    for (;;) {
      try {
        while (attempts.size >= concurrency) await Promise.race(attempts.values());
        taking.signal.throwIfAborted();
        const work = await claimWork(transport, request, { signal: taking.signal, socket });
        failures = 0;
        if (work && taking.signal.aborted) await handBack(attemptOf(work), instance);
        else if (work) begin(work);
      } catch (error) {
        if (taking.signal.aborted) return;
        if (!isTransient(error)) throw error;
        failures += 1;
        if (failures === 1) onError(error);
        await timing
          .sleep(backoffMs(timing, failures, transport.backoff), taking.signal)
          .catch(() => {});
      }
    }
  }

  function attemptOf(work: Work, lane?: SocketLane): Attempt {
    const own = createTransport({
      ...connection,
      token: work.token,
      ...(lane && { socket: lane }),
    });
    return createAttempt(work, own, { instance, patienceMs });
  }

  function begin(work: Work): void {
    const lane = socket?.lane(work);
    const attempt = attemptOf(work, lane);
    const done = attend(attempt, { ...options, producer: instance, onError }).finally(() => {
      attempts.delete(attempt);
      lane?.forget();
    });
    attempts.set(attempt, done);
  }

  const stopAtOnce = () => void stop({ graceMs: 0 });
  options.signal?.addEventListener("abort", stopAtOnce, { once: true });
  const running = take().finally(unlink);
  running.catch((error: unknown) => onError(error));

  async function stop({ graceMs = 10_000 } = {}): Promise<void> {
    taking.abort(letGo("The worker stops."));
    const patience = new AbortController();
    const handedBack = timing.sleep(graceMs, patience.signal).then(
      () =>
        Promise.all(
          [...attempts.keys()]
            .filter(({ signal }) => !signal.aborted)
            .map((attempt) => {
              attempt.lapse(letGo("The worker stops."));
              return handBack(attempt, instance);
            }),
        ),
      () => {},
    );
    await Promise.allSettled(attempts.values());
    patience.abort();
    await handedBack;
    await running.catch(() => {});
    socket?.close();
  }

  async function untilStopped(): Promise<void> {
    try {
      await running;
    } finally {
      await Promise.allSettled(attempts.values());
      socket?.close();
      options.signal?.removeEventListener("abort", stopAtOnce);
    }
  }

  const stopped = untilStopped();
  stopped.catch(() => {}); // `onError` heard it
  return {
    name,
    get active() {
      return attempts.size;
    },
    stop,
    stopped,
    [Symbol.asyncDispose]: () => stop(),
  };
}
