import {
  callsOf,
  HoldfastError,
  type AgentItem,
  type Call,
  type CallStatus,
  type Codec,
  type Json,
  type Metadata,
  type RunFailure,
  type SessionState,
} from "@holdfast/protocol";
import type { ToolSet } from "ai";
import { command, type Attempt } from "./attempt.ts";
import { createClaims } from "./claims.ts";
import { createExecutor } from "./execute.ts";
import { openLive, type Live } from "./live.ts";
import { createOutbox, type Refused } from "./outbox.ts";
import { pipe, type Piped } from "./pipe.ts";
import type { ToolPolicies } from "./policy.ts";
import { createProposals } from "./proposals.ts";
import { isRunnable, resumeCalls } from "./resume.ts";
import { wrapTools, type AgentTools } from "./tools.ts";

/** One attempt of a run, in the hands of its agent. */
export interface Run<Chunk = unknown, History = unknown, Tools extends ToolSet = ToolSet> {
  readonly id: string;
  readonly session: string;
  /** From 1. */
  readonly attempt: number;
  /** The session, live: it changes in place as entries come, the agent's own included. */
  readonly state: SessionState;
  /**
   * Aborted once nothing the agent does for this run counts any more: the run was cancelled or ended (`run_ended`),
   * the attempt was given to another process (`attempt_fenced`), the worker stops or the attempt has been concluded
   * (`closed`). The reason is a {@link HoldfastError}.
   */
  readonly signal: AbortSignal;
  /** What the model is sent: everything before, with one result for every call. */
  history(): Promise<History>;
  /**
   * Appends what a framework's stream says, and reads it no faster than the log takes it. Resolves when the stream has
   * ended and all of it is durable. Streams of one attempt go one after the other.
   *
   * @throws what the stream throws; the signal's reason
   */
  pipe(stream: ReadableStream<Chunk> | AsyncIterable<Chunk>): Promise<Piped>;
  /**
   * Appends items as they are.
   *
   * @throws {HoldfastError} the first refusal; the others of the items stand
   */
  append(items: readonly AgentItem[]): Promise<void>;
  /**
   * Tools for `streamText({ ...run.tools() })`: each executes only once its call is durably in the log and claimed.
   * Without arguments the worker's. Other tools work too, but the server knows nothing of their schemas and policies;
   * policies given here are for this attempt, and must not be milder than the declared ones.
   */
  tools(): AgentTools<Tools>;
  tools<Others extends ToolSet>(tools: Others, policies?: ToolPolicies<Others>): AgentTools<Others>;
  /** The run's calls in log order; with `state`, those that are in one of these. */
  calls(filter?: { readonly state?: CallStatus | readonly CallStatus[] }): Call[];
  /** How far a call's execution is; replaces what was said before. */
  progress(callId: string, progress: Json, metadata?: Metadata): Promise<void>;
  /** Puts metadata on the run, owner by owner. */
  annotate(metadata: Metadata): Promise<void>;
  /** Resolves when everything so far is durable. */
  flush(): Promise<void>;
  /**
   * The agent is done for now; what becomes of the run the server decides. Sent by itself when the handler returns.
   * Nothing can be appended after it.
   */
  finish(): Promise<void>;
  /** The agent gives up: the run ends in this error. Sent by itself when the handler throws. */
  fail(error: RunFailure): Promise<void>;
}

export interface RunOptions<Chunk, History, Tools extends ToolSet> {
  readonly attempt: Attempt;
  readonly codec: Codec<Chunk, History>;
  readonly tools: Tools;
  readonly policies: ToolPolicies<Tools>;
  /** Names this process among the attempt's appenders. */
  readonly producer: string;
  readonly onRefused?: (refused: Refused) => void;
}

/** A run and what its worker needs to bring it to an end. */
export interface OpenRun<Chunk, History, Tools extends ToolSet> {
  readonly run: Run<Chunk, History, Tools>;
  /** Sends the last word if the handler did not: `finish`, or the error of a piped stream. */
  readonly conclude: () => Promise<void>;
}

/**
 * Opens an attempt: its session's state is there, calls that earlier attempts left are executed, and the lease is kept
 * until the attempt is over.
 *
 * @throws {HoldfastError} what keeps it from being opened; the attempt's reason when it lapsed meanwhile
 */
export async function openRun<Chunk, History, Tools extends ToolSet>(
  options: RunOptions<Chunk, History, Tools>,
): Promise<OpenRun<Chunk, History, Tools>> {
  const { attempt, codec, producer, tools, policies, onRefused } = options;
  const { work, signal, transport } = attempt;
  const { runId, session } = work;
  const outbox = createOutbox({ attempt, producer, ...(onRefused && { onRefused }) });
  const claims = createClaims(attempt, () => live, work.heartbeatMs);
  const live: Live = await openLive(transport, {
    session,
    signal,
    onError: attempt.lapse,
    onChange(state) {
      claims.observe(state);
      const over = isOver(state, attempt);
      // After the agent's own last word the run ends by itself; its verdict tells.
      if (over && !outbox.ended) attempt.lapse(over);
    },
  });
  await live.until(work.offset);
  void keepLease(attempt);

  const runnable = callsOf(live.state, runId).filter(isRunnable);
  const proposals = createProposals(runnable.map(({ id }) => id));
  const executor = createExecutor(attempt, proposals, claims);
  const approved = new Set(
    callsOf(live.state, runId)
      .filter(({ status, approval }) => status === "open" && approval?.decision?.approved)
      .map(({ id }) => id),
  );
  await resumeCalls(live.state, { runId, tools, executor, claims, outbox });

  let failure: RunFailure | undefined;
  let streams = 0;

  async function append(items: readonly AgentItem[]): Promise<void> {
    const [first] = await outbox.push(items);
    if (first) throw new HoldfastError(first.error);
  }

  const run: Run<Chunk, History, Tools> = {
    id: runId,
    session,
    attempt: work.attempt,
    get state() {
      return live.state;
    },
    signal,
    async history() {
      await outbox.flush();
      if (outbox.offset !== undefined) await live.until(outbox.offset);
      return codec.history(live.state, { runId, tools });
    },
    async pipe(stream) {
      const { claimOf } = claims;
      const scope = { runId, attempt: work.attempt, stream: streams, claimOf, approved };
      streams += 1;
      const context = { outbox, proposals, claims, signal };
      const piped = await pipe(stream, codec.encoder(scope), context);
      failure = piped.failure ?? failure;
      return piped;
    },
    append,
    tools: (<Others extends ToolSet>(others?: Others, more?: ToolPolicies<Others>) =>
      others
        ? wrapTools(others, { ...policies, ...more } as ToolPolicies<Others>, executor)
        : wrapTools(tools, policies, executor)) as Run<Chunk, History, Tools>["tools"],
    calls({ state } = {}) {
      const wanted = typeof state === "string" ? [state] : state;
      return callsOf(live.state, runId).filter(({ status }) => wanted?.includes(status) ?? true);
    },
    progress(callId, progress, metadata) {
      const claimId = claims.claimOf(callId);
      return append([
        {
          type: "call.progress",
          callId,
          ...(claimId !== undefined && { claimId }),
          progress,
          ...(metadata && { metadata }),
        },
      ]);
    },
    annotate: (metadata) => append([{ type: "run.annotate", metadata }]),
    flush: () => outbox.flush(),
    finish: () => outbox.end({ type: "run.finish" }),
    fail: (error) => outbox.end({ type: "run.fail", error }),
  };
  return {
    run,
    async conclude() {
      if (outbox.ended) return outbox.flush();
      await outbox.end(failure ? { type: "run.fail", error: failure } : { type: "run.finish" });
    },
  };
}

/** Why an attempt is over, by the state. */
function isOver(state: SessionState, { work }: Attempt): HoldfastError | undefined {
  const run = state.runs.get(work.runId);
  if (run?.status === "active" && run.attempt === work.attempt) return undefined;
  // An older state than the grant, from a server that is behind.
  if (!run || state.head < work.offset) return undefined;
  if (run.status === "ended") {
    return new HoldfastError({
      code: "run_ended",
      message: `Run ${run.id} ended ${run.outcome ?? ""}${run.reason ? ` (${run.reason})` : ""}: stop working on it.`,
      details: { outcome: run.outcome, reason: run.reason },
    });
  }
  return new HoldfastError({
    code: "attempt_fenced",
    message: `Attempt ${work.attempt} of run ${run.id} is over (it is ${run.status}, at ${run.attempt}).`,
    details: { attempt: run.attempt, status: run.status },
  });
}

/** Says that the agent is at work whenever nothing else did for a while. */
async function keepLease(attempt: Attempt): Promise<void> {
  const { work, signal, transport } = attempt;
  const { timing } = transport;
  try {
    for (;;) {
      const quiet = timing.now() - attempt.heardAt;
      if (quiet < work.heartbeatMs) {
        await timing.sleep(work.heartbeatMs - quiet, signal);
        continue;
      }
      const { runId, attempt: number } = work;
      const { error } = await command(attempt, { type: "run.heartbeat", runId, attempt: number });
      if (error) throw new HoldfastError(error);
      attempt.heardAt = Math.max(attempt.heardAt, timing.now());
    }
  } catch (error) {
    if (error instanceof HoldfastError) attempt.lapse(error);
  }
}
