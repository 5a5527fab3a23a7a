import {
  HoldfastError,
  type AgentItem,
  type Answer,
  type Encoder,
  type Json,
  type Metadata,
} from "@holdfast/protocol";
import { answerOf } from "../wire/index.ts";
import type { Claims } from "./claims.ts";
import type { Outbox } from "./outbox.ts";
import { pipe, type Piped } from "./pipe.ts";
import type { Proposals } from "./proposals.ts";

export interface CallAnswerOptions {
  /** Default `ok`. */
  readonly outcome?: "ok" | "error";
  /** What the value is; never guessed from it. `text` wants a string, `parts` an array. Default `json`. */
  readonly as?: Answer["type"];
}

/** One appender of an attempt: everything it is given goes to the log in order. */
export interface Writer<Chunk> {
  /**
   * Appends what a framework's stream says, and reads it no faster than the log takes it. Resolves when the stream has
   * ended and all of it is durable. Streams of one writer go one after the other.
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
   * Answers a call that the agent executes; `undefined` counts as `null`.
   *
   * @throws {HoldfastError} `already_answered`, `approval_required`, `not_executor`, …
   */
  answer(callId: string, value: Json | undefined, options?: CallAnswerOptions): Promise<void>;
  /** How far a call's execution is; replaces what was said before. */
  progress(callId: string, progress: Json, metadata?: Metadata): Promise<void>;
  /** Resolves when everything so far is durable. */
  flush(): Promise<void>;
}

export interface WriterContext<Chunk> {
  readonly outbox: Outbox;
  readonly proposals: Proposals;
  readonly claims: Claims;
  readonly signal: AbortSignal;
  /** A fresh encoder for the writer's next stream. */
  readonly encoder: (stream: number) => Encoder<Chunk>;
  /** Changes an item of a piped stream on its way. */
  readonly amend?: (item: AgentItem) => AgentItem;
}

export function createWriter<Chunk>(context: WriterContext<Chunk>): Writer<Chunk> {
  const { outbox, claims, encoder } = context;
  let streams = 0;

  async function append(items: readonly AgentItem[]): Promise<void> {
    const [first] = await outbox.push(items);
    if (first) throw new HoldfastError(first.error);
  }

  /** Names the claim under which this process executes the call. */
  function held(callId: string): { readonly claimId?: string } {
    const claimId = claims.claimOf(callId);
    return claimId === undefined ? {} : { claimId };
  }

  return {
    pipe(stream) {
      streams += 1;
      return pipe(stream, encoder(streams - 1), context);
    },
    append,
    async answer(callId, value, { outcome = "ok", as = "json" } = {}) {
      const answer = answerOf(callId, as, value);
      await append([{ type: "call.answer", callId, ...held(callId), outcome, answer }]);
    },
    progress: (callId, progress, metadata) =>
      append([
        {
          type: "call.progress",
          callId,
          ...held(callId),
          progress,
          ...(metadata && { metadata }),
        },
      ]),
    flush: () => outbox.flush(),
  };
}
