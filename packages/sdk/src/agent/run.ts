import {
  isApproved,
  callsOf,
  toFrameworkId,
  type Call,
  type CallStatus,
  type Codec,
  type MessageNode,
  type Metadata,
  type RunFailure,
  type SessionState,
} from "@holdfast/protocol";
import type { Experimental_Steering as Steering, ToolSet } from "ai";
import type { Attempt } from "./attempt.ts";
import { createClaims } from "./claims.ts";
import { createExecutor } from "./execute.ts";
import { hold, letGo } from "./hand-back.ts";
import { keepLease } from "./lease.ts";
import { openLive, type Live } from "./live.ts";
import { createOutbox, type LastWord, type Refused } from "./outbox.ts";
import { whyOver } from "./over.ts";
import type { ToolPolicies } from "./policy.ts";
import { createProposals } from "./proposals.ts";
import { isLeft, isRunnable, resumeCalls } from "./resume.ts";
import { steeringOf } from "./steering.ts";
import { createSteers } from "./steers.ts";
import { createSteps, type Step } from "./step.ts";
import { wrapTools, type AgentTools } from "./tools.ts";
import { createWriter, type Writer } from "./writer.ts";

/** One attempt of a run, in the hands of its agent. */
export interface Run<
  Chunk = unknown,
  History = unknown,
  Tools extends ToolSet = ToolSet,
> extends Writer<Chunk> {
  readonly id: string;
  readonly session: string;
  /** From 1. */
  readonly attempt: number;
  /** The attempt's own token: with it, other processes act for the attempt too (see `attachRun`). */
  readonly token: string;
  /** The session, live: it changes in place as entries come, the agent's own included. */
  readonly state: SessionState;
  /**
   * Aborted once nothing the agent does for this run counts any more: the run was cancelled or ended (`run_ended`), or
   * went past its session's budget (`budget_exceeded`), the attempt was given to another process (`attempt_fenced`), the worker stops or the attempt has been concluded
   * (`closed`). The reason is a {@link HoldfastError}.
   */
  readonly signal: AbortSignal;
  /** What the model is sent: everything before, with one result for every call. */
  history(): Promise<History>;
  /**
   * Tools for `streamText({ ...run.tools() })`: each executes only once its call is durably in the log and claimed.
   * Without arguments the worker's. Other tools work too, but the server knows nothing of their schemas and policies;
   * policies given here are for this attempt, and must not be milder than the declared ones.
   */
  tools(): AgentTools<Tools>;
  tools<Others extends ToolSet>(tools: Others, policies?: ToolPolicies<Others>): AgentTools<Others>;
  /** The run's calls in log order; with `state`, those that are in one of these. */
  calls(filter?: { readonly state?: CallStatus | readonly CallStatus[] }): Call[];
  /** Whether somebody sent something to steer the run that no model request of this attempt holds yet. */
  hasInput(): boolean;
  /**
   * Hears of every message sent to steer the run, each one time; those that wait already at once.
   *
   * @returns takes the listener away
   */
  onSteer(listener: (message: MessageNode) => void): () => void;
  /**
   * The AI SDK's own steering for one `streamText({ experimental_steering: await run.steering() })`, made after
   * `run.history()`: what people send to steer the run is in the next model request, and a generation that would have
   * ended goes on for it. What it does not take up any more is left to the run's next attempt.
   */
  steering(): Promise<Steering>;
  /** Puts metadata on the run, owner by owner. */
  annotate(metadata: Metadata): Promise<void>;
  /**
   * Does a part of the run that is tried again as a whole: starts the step, and ends it when `work` is done. A throw is
   * passed on and leaves the step open; doing it again, in this attempt or a later one, takes back what it wrote.
   * Several steps may be under way at once.
   *
   * @throws what `work` throws; {HoldfastError} `step_settled` once somebody else decided, claimed, answered or read
   *   anything in it; `attempt_fenced` where it was started again meanwhile
   */
  step<T>(stepId: string, work: (step: Step<Chunk>) => Promise<T>): Promise<T>;
  /** Starts a step as `step` does, for those who end it themselves. */
  startStep(stepId: string): Promise<Step<Chunk>>;
  /**
   * The agent is done for now; what becomes of the run the server decides. Sent by itself when the handler returns.
   * Nothing can be appended after it.
   */
  finish(): Promise<void>;
  /**
   * Lets go of the attempt, and has the server hold it up to a time (Unix milliseconds or a date; a day at most): what
   * is to go on with it, in whatever process, attaches with its token (see `attachRun`). If nobody did anything by then,
   * the attempt is lost. The calls that it executes are held likewise: who attaches answers them. `signal` is aborted (`closed`), and that the
   * handler returns then says nothing.
   *
   * @returns up to when it is held
   */
  detach(until: number | Date): Promise<Date>;
  /**
   * Hands the attempt back: another attempt goes on, at once, and no loss is counted. `signal` is aborted (`closed`).
   * A run that is handed back more than 20 times in a row without a round ends in `released_too_often`.
   * Sent by itself when the worker stops before the handler has ended.
   */
  release(): Promise<void>;
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
  /** The process is not the one that the attempt was given to: what earlier attempts left is not its to execute. */
  readonly attached?: boolean;
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
  const { attempt, codec, producer, tools, policies, attached = false, onRefused } = options;
  const { work, signal, transport } = attempt;
  const { runId, session } = work;
  const outbox = createOutbox({ attempt, producer, ...(onRefused && { onRefused }) });
  const claims = createClaims(attempt, () => live, work.heartbeatMs);
  const steers = createSteers(runId, () => live.state);
  const observers = [claims.observe, steers.observe];
  const live: Live = await openLive(transport, {
    session,
    signal,
    onError: attempt.lapse,
    onChange(state) {
      for (const observe of observers) observe(state);
      const over = whyOver(state, attempt);
      // After the agent's own last word the run ends by itself; its verdict tells.
      if (over && !outbox.ended) attempt.lapse(over);
    },
  });
  await live.until(work.offset);
  void keepLease(attempt);

  const runnable = callsOf(live.state, runId).filter(isRunnable);
  const frameworkId = (call: Call) => toFrameworkId(live.state, call);
  const proposals = createProposals(
    runnable.map((call) => [isLeft(live.state, call) ? call.id : frameworkId(call), call]),
  );
  const executor = createExecutor(attempt, proposals, claims);
  const approved = new Map(
    callsOf(live.state, runId)
      .filter(isApproved)
      .map((call) => [frameworkId(call), call] as const),
  );
  if (!attached) await resumeCalls(live.state, { runId, tools, executor, claims, outbox });

  let failure: RunFailure | undefined;
  const scope = {
    runId,
    attempt: work.attempt,
    claimOf: claims.claimOf,
    approved,
    isSteer: steers.has,
    isUsed: (id: string, what: "message" | "call") =>
      what === "call"
        ? live.state.calls.has(id)
        : live.state.items.has(id) || live.state.messages.has(id),
    clientTools: (live.state.runs.get(runId)?.clientTools ?? []).map(({ name }) => name),
    ...(attached && { process: producer }),
  };
  const shared = { proposals, claims, amend: steers.amend };
  const writer = createWriter<Chunk>({
    ...shared,
    outbox,
    signal,
    encoder: (stream) => codec.encoder({ ...scope, stream }),
  });
  const steps = createSteps<Chunk>({
    ...shared,
    attempt,
    producer,
    before: () => outbox.flush(),
    encoder: (stream, step) => codec.encoder({ ...scope, stream, step }),
    ...(onRefused && { onRefused }),
  });
  observers.push(steps.observe);

  const run: Run<Chunk, History, Tools> = {
    id: runId,
    session,
    attempt: work.attempt,
    token: work.token,
    get state() {
      return live.state;
    },
    signal,
    async history() {
      await outbox.flush();
      await steps.flush();
      for (const { offset } of [outbox, steps]) if (offset !== undefined) await live.until(offset);
      // A call to execute first keeps them out of the history, and waiting (SPEC 8.7).
      if (!callsOf(live.state, runId).some(isRunnable)) steers.tell();
      return codec.history(live.state, { runId, tools });
    },
    ...writer,
    async pipe(stream) {
      const piped = await writer.pipe(stream);
      failure = piped.failure ?? failure;
      return piped;
    },
    step: (stepId, part) => steps.run(stepId, part),
    startStep: (stepId) => steps.start(stepId),
    tools: (<Others extends ToolSet>(others?: Others, more?: ToolPolicies<Others>) =>
      others
        ? wrapTools(others, { ...policies, ...more } as ToolPolicies<Others>, executor)
        : wrapTools(tools, policies, executor)) as Run<Chunk, History, Tools>["tools"],
    calls({ state } = {}) {
      const wanted = typeof state === "string" ? [state] : state;
      return callsOf(live.state, runId).filter(({ status }) => wanted?.includes(status) ?? true);
    },
    hasInput: () => steers.pending().some(({ id }) => !steers.isTold(id)),
    onSteer: (listener) => steers.on(listener),
    steering: () => steeringOf(steers, signal),
    annotate: (metadata) => writer.append([{ type: "run.annotate", metadata }]),
    async detach(until) {
      await outbox.flush();
      await steps.flush();
      const held = await hold(attempt, Number(until));
      attempt.lapse(letGo("The attempt was detached: attach to it to go on."));
      return new Date(held);
    },
    async release() {
      await end({ type: "run.release" });
      attempt.lapse(letGo("The attempt was handed back."));
    },
    finish: () => end({ type: "run.finish" }),
    fail: (error) => end({ type: "run.fail", error }),
  };

  /** What steps were given comes before the last word. */
  function end(word: LastWord): Promise<void> {
    return outbox.end(word, steps.flush());
  }

  return {
    run,
    async conclude() {
      if (outbox.ended) return outbox.flush();
      const error = failure ?? steps.failure;
      await end(error ? { type: "run.fail", error } : { type: "run.finish" });
    },
  };
}
