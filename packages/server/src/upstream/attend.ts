import {
  HoldfastError,
  type AgentItem,
  type Command,
  type Rejection,
  type RunFailure,
} from "@holdfast/protocol";
import { createAgUiEncoder, INTERRUPT_TOOL, type AgUiEncoder } from "@holdfast/protocol/ag-ui";
import type { Engine, Work } from "../engine/index.ts";
import { ask } from "./ask.ts";
import { UpstreamError } from "./failure.ts";
import type { AgentTerms } from "./options.ts";
import { Outbox } from "./outbox.ts";
import { planOf, type Plan } from "./plan.ts";
import { readFrames } from "./read-frames.ts";
import { Watchdog } from "./watchdog.ts";

export interface AttendContext {
  readonly engine: Engine;
  readonly agent: string;
  readonly terms: AgentTerms;
  readonly heartbeatMs: number;
  readonly now: () => number;
  readonly schedule: (ms: number, run: () => void) => () => void;
  /** The server stops: the attempt is handed back. */
  readonly stopping: AbortSignal;
  /** Calls back when the attempt counts no more, by anybody's doing; the result takes that back. */
  readonly watch: (work: Work, onOver: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
}

/** How long an agent may leave its answer open after its run's end, in milliseconds: a failure may follow. */
const CLOSING_MS = 5_000;

/** Works on one attempt, from its agent's answer to its end. Never rejects. */
export async function attend(work: Work, context: AttendContext): Promise<void> {
  const { engine, agent, terms, schedule, stopping, log } = context;
  const { session, runId, attempt } = work;
  const actor = { principal: `agent:${agent}`, attempt: { runId, attempt } };
  const over = new AbortController();
  const end = (reason: unknown) => over.abort(reason);
  const submit = async (command: Command) => {
    const [verdict] = await engine.submit(session, [command], actor);
    if (!verdict) throw new HoldfastError({ code: "internal", message: "There was no verdict." });
    return verdict;
  };
  const refused: string[] = [];
  let unasked: Rejection | undefined;
  const outbox = new Outbox({
    runId,
    attempt,
    submit,
    schedule,
    onOver: end,
    onRefused(item, error) {
      refused.push(`${item.type}: ${error.code}: ${error.message}`);
      if (asks(item)) unasked ??= error;
    },
  });
  const unwatch = context.watch(work, () => end(new Error("The attempt is over.")));
  const stopBeating = beat(context, async () => {
    const id = `${runId}.${attempt}.heartbeat.${crypto.randomUUID()}`;
    try {
      const { error } = await submit({ id, type: "run.heartbeat", runId, attempt });
      if (error) end(new HoldfastError(error));
    } catch (error) {
      // One that fails in passing is followed by another, before the lease ends.
      if (!(error instanceof HoldfastError && error.retryable)) end(error);
    }
  });
  const signal = AbortSignal.any([over.signal, stopping]);
  try {
    const plan = await engine.asServer(session, ({ state }) => planOf(state, work, terms.strict));
    if (!plan) return;
    const last = await carryOut(plan, { context, outbox, signal });
    if (over.signal.aborted) return;
    // What was refused last is known then.
    await outbox.flush();
    if (over.signal.aborted) return;
    if (refused.length > 0) await outbox.push([refusals(attempt, refused)], 0);
    if (last === undefined && unasked) await outbox.end({ type: "run.fail", error: lost(unasked) });
    else if (last === "cancelled") {
      await outbox.flush();
      const id = `${runId}.${attempt}.cancelled`;
      const reason = "The agent was stopped.";
      await engine.submit(session, [{ id, type: "run.cancel", runId, reason }], {
        principal: actor.principal,
      });
    } else if (last === "released") await outbox.end({ type: "run.release" });
    else await outbox.end(last ? { type: "run.fail", error: last } : { type: "run.finish" });
  } catch (error) {
    if (!over.signal.aborted)
      log(`Run ${runId} of session ${session} could not be attended`, error);
  } finally {
    end(new Error("The attempt has ended."));
    unwatch();
    stopBeating();
  }
}

interface Carrying {
  readonly context: AttendContext;
  readonly outbox: Outbox;
  readonly signal: AbortSignal;
}

/** @returns how the attempt ends: undefined where it finishes */
async function carryOut(
  plan: Plan,
  { context, outbox, signal }: Carrying,
): Promise<RunFailure | "cancelled" | "released" | undefined> {
  switch (plan.type) {
    case "finish":
      return undefined;
    case "cancel":
      return "cancelled";
    case "fail":
      return plan.error;
    case "ask":
      break;
  }
  const encoder = createAgUiEncoder(plan.scope);
  try {
    const body = await ask(plan.body, { ...context, signal });
    await relay(body, encoder, { context, outbox, signal });
  } catch (error) {
    if (context.stopping.aborted) return "released";
    if (signal.aborted) return undefined;
    // After its run's end, an agent may close its answer as it likes.
    const isEnded = encoder.outcome !== undefined || encoder.violation !== undefined;
    if (error instanceof UpstreamError && !isEnded) return error.failure;
    if (!isEnded) throw error;
  }
  if (context.stopping.aborted && encoder.outcome === undefined) return "released";
  return encoder.outcome === "cancelled" ? "cancelled" : encoder.failure;
}

/** Reads an answer to its end and appends what it says, as it comes. */
async function relay(
  body: ReadableStream<Uint8Array>,
  encoder: AgUiEncoder,
  { context, outbox, signal }: Carrying,
): Promise<void> {
  const { terms, now, schedule } = context;
  const cut = Promise.withResolvers<never>();
  cut.promise.catch(() => {});
  const give = () => cut.reject(signal.reason as Error);
  const silent = (words: string) => () => {
    cut.reject(new UpstreamError("agent_silent", words));
  };
  const dog = new Watchdog({
    ms: terms.silenceMs,
    bark: silent(`The agent was silent for ${terms.silenceMs} ms.`),
    now,
    schedule,
  });
  const stopLimit = schedule(terms.runMs, silent(`The run took longer than ${terms.runMs} ms.`));
  let stopClosing: (() => void) | undefined;
  signal.addEventListener("abort", give, { once: true });
  if (signal.aborted) give();
  const frames = readFrames(body, () => dog.feed());
  try {
    for (;;) {
      const next = await Promise.race([frames.next(), cut.promise]);
      if (next.done) return;
      const items: AgentItem[] = [];
      let size = 0;
      for (const frame of next.value) {
        size += frame.size;
        for (const item of encoder.encode(frame.event)) items.push(item);
      }
      await Promise.race([outbox.push(items, size), cut.promise]);
      if (encoder.violation) return;
      if (encoder.outcome !== undefined) stopClosing ??= schedule(CLOSING_MS, give);
    }
  } finally {
    signal.removeEventListener("abort", give);
    dog.stop();
    stopLimit();
    stopClosing?.();
    void frames.return().catch(() => {});
    // A generator that waits for a read is not ended by that.
    void body.cancel().catch(() => {});
  }
}

/** Says that the attempt is at work, as long as it is. */
function beat({ heartbeatMs, schedule }: AttendContext, say: () => Promise<void>): () => void {
  let stop = schedule(heartbeatMs, next);
  let isOver = false;
  function next(): void {
    void say().finally(() => {
      if (!isOver) stop = schedule(heartbeatMs, next);
    });
  }
  return () => {
    isOver = true;
    stop();
  };
}

/** Whether an item is what an agent's interrupt asks of people. */
function asks(item: AgentItem): boolean {
  if (item.type === "call.ask") return true;
  return item.type === "TOOL_CALL_START" && item.toolCallName === INTERRUPT_TOOL;
}

/** A run that asked somebody, and whom nobody was asked for, is no success. */
function lost({ code, message }: Rejection): RunFailure {
  return { code, message: `The agent's interrupt could not be taken: ${message}` };
}

/** How many of the items that the session did not take are named. */
const MOST_NAMED = 20;

function refusals(attempt: number, refused: readonly string[]): AgentItem {
  const named = { refused: refused.slice(0, MOST_NAMED), count: refused.length };
  return { type: "run.annotate", metadata: { "ag-ui": { [`${attempt} refused`]: named } } };
}
