import { HoldfastError, type Codec } from "@holdfast/protocol";
import type { ToolSet } from "ai";
import {
  createTransport,
  WORKER_BACKOFF,
  systemTiming,
  type Backoff,
  type Timing,
} from "../wire/index.ts";
import { createAttempt } from "./attempt.ts";
import { letGo } from "./hand-back.ts";
import type { Refused } from "./outbox.ts";
import { whyOver } from "./over.ts";
import type { ToolPolicies } from "./policy.ts";
import { openRun, type Run } from "./run.ts";

export interface AttachOptions<Chunk, History, Tools extends ToolSet> {
  /** Where the server is. */
  readonly url: string;
  /** The attempt's own token: `run.token` of whoever was given it. */
  readonly token: string;
  readonly session: string;
  readonly runId: string;
  readonly attempt: number;
  readonly codec: Codec<Chunk, History>;
  readonly tools?: Tools;
  readonly policies?: ToolPolicies<Tools>;
  readonly onRefused?: (refused: Refused) => void;
  /** Lets go of the attempt, as disposing of it. */
  readonly signal?: AbortSignal;
  /** How often the server hears of the attempt at least, milliseconds. Default 10 s. */
  readonly heartbeatMs?: number;
  /** How long to go on trying while the server is away, milliseconds. Default 5 minutes. */
  readonly patienceMs?: number;
  readonly backoff?: Backoff;
  readonly fetch?: typeof fetch;
  readonly timing?: Timing;
}

/** An attempt that another process was given. Letting go of it says nothing about it: it goes on where it was begun. */
export interface AttachedRun<Chunk, History, Tools extends ToolSet>
  extends Run<Chunk, History, Tools>, AsyncDisposable {}

/**
 * Acts for an attempt from a process beside the one that was given it: appends under a name of its own, and keeps the
 * lease as long as it is attached. What came before is in the state it reads, cancels included. Which process finishes
 * the attempt is for them to agree upon; calls that earlier attempts left are executed by the one that was given it.
 *
 * @throws {HoldfastError} `run_ended` or `attempt_fenced` where the attempt is over already; `unknown_run`
 */
export async function attachRun<Chunk, History, Tools extends ToolSet = Record<never, never>>(
  options: AttachOptions<Chunk, History, Tools>,
): Promise<AttachedRun<Chunk, History, Tools>> {
  const { url, token, session, runId, attempt: number, codec, onRefused, signal } = options;
  const { heartbeatMs = 10_000, patienceMs = 300_000 } = options;
  const transport = createTransport({
    url,
    token,
    timing: options.timing ?? systemTiming,
    backoff: options.backoff ?? WORKER_BACKOFF,
    ...(options.fetch && { fetch: options.fetch }),
  });
  const instance = crypto.randomUUID();
  const work = { session, runId, attempt: number, token, heartbeatMs, offset: "" };
  const attempt = createAttempt(work, transport, { instance, patienceMs });
  const leave = () => attempt.lapse(letGo("The run was let go of."));
  if (signal?.aborted) leave();
  else signal?.addEventListener("abort", leave, { once: true });
  attempt.signal.addEventListener("abort", () => signal?.removeEventListener("abort", leave));
  try {
    const { run } = await openRun({
      attempt,
      codec,
      tools: options.tools ?? ({} as Tools),
      policies: options.policies ?? {},
      producer: instance,
      attached: true,
      ...(onRefused && { onRefused }),
    });
    const over = run.state.runs.has(runId) ? whyOver(run.state, attempt) : unknownRun(runId);
    if (over) throw over;
    return Object.assign(run, {
      async [Symbol.asyncDispose]() {
        if (!attempt.signal.aborted) await run.flush();
        leave();
      },
    });
  } catch (error) {
    leave();
    throw error;
  }
}

function unknownRun(runId: string): HoldfastError {
  return new HoldfastError({
    code: "unknown_run",
    message: `This session has no run ${runId}: attach to one it has.`,
  });
}
