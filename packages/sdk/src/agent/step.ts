import {
  HoldfastError,
  type AgentItem,
  type Encoder,
  type Offset,
  type RunFailure,
  type SessionState,
} from "@holdfast/protocol";
import { linkedController } from "../wire/index.ts";
import { submit, type Attempt } from "./attempt.ts";
import { createOutbox, type Outbox, type Refused } from "./outbox.ts";
import { whyStepOver } from "./over.ts";
import { createWriter, type Writer, type WriterContext } from "./writer.ts";

/**
 * One attempt of a step: a part of a run that is tried again as a whole. Starting the step again, here or elsewhere,
 * takes back what it wrote.
 */
export interface Step<Chunk = unknown> extends Pick<
  Writer<Chunk>,
  "pipe" | "answer" | "progress" | "flush"
> {
  readonly id: string;
  /** From 1. */
  readonly attempt: number;
  /** Aborted once nothing this step attempt does counts any more; the reason is a {@link HoldfastError}. */
  readonly signal: AbortSignal;
  /**
   * Appends items as they are.
   *
   * @throws {HoldfastError} the first refusal; the others of the items stand
   */
  send(items: readonly AgentItem[]): Promise<void>;
  /** Ends the step, after everything so far. It may be started again until somebody else used what it wrote. */
  end(): Promise<void>;
}

/** The steps that one process works on, several at once where it likes. */
export interface Steps<Chunk> {
  /**
   * Opens a step, or starts it again: a new step attempt, and every handle of an older one is of no use any more.
   *
   * @throws {HoldfastError} `step_settled` once somebody else decided, claimed, answered or read anything in it
   */
  start(stepId: string): Promise<Step<Chunk>>;
  /** Starts a step, ends it when `work` is done, and leaves it open when that throws. */
  run<T>(stepId: string, work: (step: Step<Chunk>) => Promise<T>): Promise<T>;
  /** To be called with every new state: notices steps that were started again elsewhere. */
  readonly observe: (state: SessionState) => void;
  /** Settles when everything that steps were given is durable, or never will be. */
  flush(): Promise<void>;
  /** The session's head at the last verdict of any of them. */
  readonly offset: Offset | undefined;
  /** An error that a step's stream reported and no later attempt of the step made good. */
  readonly failure: RunFailure | undefined;
}

export interface StepsContext<Chunk> extends Omit<
  WriterContext<Chunk>,
  "outbox" | "signal" | "encoder"
> {
  readonly attempt: Attempt;
  readonly producer: string;
  /** Resolves when everything before the step is durable. */
  readonly before: () => Promise<void>;
  readonly encoder: (
    stream: number,
    step: { readonly id: string; readonly attempt: number },
  ) => Encoder<Chunk>;
  readonly onRefused?: (refused: Refused) => void;
}

/** The longest id of a step, in characters: the ids of its messages and producers are made of it. */
const MAX_STEP_ID = 100;

interface Open {
  readonly stepId: string;
  readonly stepAttempt: number;
  readonly outbox: Outbox;
  readonly lapse: (reason: HoldfastError) => void;
}

export function createSteps<Chunk>(context: StepsContext<Chunk>): Steps<Chunk> {
  const { attempt, producer, encoder, onRefused } = context;
  const { runId } = attempt.work;
  const open = new Set<Open>();
  const failures = new Map<string, RunFailure>();
  let starts = 0;
  let offset: Offset | undefined;

  function note(at: Offset | undefined): void {
    if (at !== undefined && (offset === undefined || at > offset)) offset = at;
  }

  async function begin(stepId: string): Promise<{ step: Step<Chunk>; leave: Open["lapse"] }> {
    if (stepId === "" || stepId.length > MAX_STEP_ID)
      throw new HoldfastError({
        code: "invalid_request",
        message: `A step's id has 1 to ${MAX_STEP_ID} characters, not ${stepId.length}.`,
      });
    await context.before();
    starts += 1;
    const own = `${producer}/${stepId}/${starts}`;
    const stepAttempt = await startAs(stepId, own);
    for (const other of open)
      if (other.stepId === stepId && other.stepAttempt < stepAttempt)
        other.lapse(fenced(stepId, stepAttempt));
    failures.delete(stepId);

    const { controller, unlink } = linkedController(attempt.signal);
    const { signal } = controller;
    const outbox = createOutbox({
      attempt: within(attempt, stepId, controller),
      producer: own,
      sent: 1,
      step: { stepId, stepAttempt },
      ...(onRefused && { onRefused }),
    });
    const leave: Open["lapse"] = (reason) => {
      note(outbox.offset);
      open.delete(it);
      unlink();
      controller.abort(reason);
    };
    const it: Open = { stepId, stepAttempt, outbox, lapse: leave };
    open.add(it);
    const writer = createWriter<Chunk>({
      ...context,
      outbox,
      signal,
      encoder: (stream) => encoder(stream, { id: stepId, attempt: stepAttempt }),
    });
    const step: Step<Chunk> = {
      id: stepId,
      attempt: stepAttempt,
      signal,
      async pipe(stream) {
        const piped = await writer.pipe(stream);
        if (piped.failure) failures.set(stepId, piped.failure);
        return piped;
      },
      send: (items) => writer.append(items),
      answer: (callId, value, options) => writer.answer(callId, value, options),
      progress: (callId, progress, metadata) => writer.progress(callId, progress, metadata),
      flush: () => writer.flush(),
      async end() {
        await outbox.end({ type: "step.end" });
        leave(closed(stepId));
      },
    };
    return { step, leave };
  }

  /** @returns the step attempt that is this producer's */
  async function startAs(stepId: string, own: string): Promise<number> {
    const { attempt: number } = attempt.work;
    const verdict = await submit(
      attempt,
      JSON.stringify({
        id: attempt.newId(),
        type: "step.start",
        runId,
        attempt: number,
        producer: own,
        seq: 1,
        stepId,
      }),
    );
    if (verdict.error) throw new HoldfastError(verdict.error);
    note(verdict.offset);
    // Its own repeat, and a newer attempt began in between.
    if (verdict.stepAttempt === undefined) throw fenced(stepId);
    return verdict.stepAttempt;
  }

  return {
    start: async (stepId) => (await begin(stepId)).step,
    async run(stepId, work) {
      const { step, leave } = await begin(stepId);
      try {
        const result = await work(step);
        await step.end();
        return result;
      } finally {
        leave(closed(stepId));
      }
    },
    observe(state) {
      for (const it of open) {
        const over = it.outbox.ended ? undefined : whyStepOver(state, runId, it);
        if (over) it.lapse(over);
      }
    },
    async flush() {
      await Promise.allSettled([...open].map(({ outbox }) => outbox.flush()));
      for (const { outbox } of open) note(outbox.offset);
    },
    get offset() {
      return offset;
    },
    get failure() {
      const [first] = failures.values();
      return first;
    },
  };
}

/** The attempt as a step has it: a fence that is about the step ends only that. */
function within(attempt: Attempt, stepId: string, controller: AbortController): Attempt {
  return {
    ...attempt,
    signal: controller.signal,
    get heardAt() {
      return attempt.heardAt;
    },
    set heardAt(at) {
      attempt.heardAt = at;
    },
    lapse(reason) {
      if (controller.signal.aborted) return;
      if (reason.code === "attempt_fenced" && reason.details?.["stepId"] === stepId)
        controller.abort(reason);
      else attempt.lapse(reason);
    },
  };
}

function fenced(stepId: string, stepAttempt?: number): HoldfastError {
  return new HoldfastError({
    code: "attempt_fenced",
    message: `Step ${stepId} was started again: what this attempt of it says is not taken any more.`,
    details: { stepId, ...(stepAttempt !== undefined && { stepAttempt }) },
  });
}

function closed(stepId: string): HoldfastError {
  return new HoldfastError({
    code: "closed",
    message: `This attempt of step ${stepId} is over for its agent.`,
    details: { stepId },
  });
}
