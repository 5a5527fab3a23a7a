import type { Call } from "./call.ts";
import type { AgentItem } from "./command.ts";
import type { RunFailure } from "./events.ts";
import type { SessionState } from "./state.ts";

/**
 * Pure functions between one agent framework and the log. `Chunk` is what the framework streams, `History` what it
 * sends a model. Framework material that the protocol has no word for rides in `metadata` under the codec's `name`.
 */
export interface Codec<Chunk, History> {
  readonly name: string;
  /** A fresh encoder for one stream of one attempt. */
  encoder(scope: EncoderScope): Encoder<Chunk>;
  /**
   * The model history for the next attempt of a run: valid for every provider, whatever happened before; each call
   * has one result (see {@link resultOf}).
   */
  history(state: SessionState, options: HistoryOptions): Promise<History>;
}

export interface HistoryOptions {
  readonly runId: string;
  /** The framework's own tools, for those that render their output for the model. */
  readonly tools?: object;
}

export interface EncoderScope {
  readonly runId: string;
  readonly attempt: number;
  /** Which stream of the attempt it is, from 0: ids that an encoder mints must differ between them. */
  readonly stream?: number;
  /** Names the process, where it is not the one that the attempt was given to: ids differ between processes too. */
  readonly process?: string;
  /** The step that the stream is part of: ids differ between steps and their attempts too. */
  readonly step?: { readonly id: string; readonly attempt: number };
  /** The claim under which this attempt executes a call; what it answers then carries the claim. */
  readonly claimOf?: (callId: string) => string | undefined;
  /**
   * Whether an id is that of a message sent to steer the run. A framework that says it took one up means the message
   * that is in the session already: the round that follows names it.
   */
  readonly isSteer?: (messageId: string) => boolean;
  /**
   * Calls of earlier attempts that were approved and open when this one started, as they were approved, by the ids their
   * framework executes them under (SPEC 8.8). One that announces such a call again before its first round, or once a
   * provider has executed it, means that call, not a new one.
   */
  readonly approved?: ReadonlyMap<string, Pick<Call, "name" | "arguments">>;
  /** Whether a message, or a call, of the session had the id before this stream. */
  readonly isUsed?: (id: string, what: "message" | "call") => boolean;
  /** Names of the tools that clients execute, as of the attempt's start. */
  readonly clientTools?: readonly string[];
}

/** Turns one stream into items to append, chunk by chunk, in order. Keeps state; has no effects; never throws. */
export interface Encoder<Chunk> {
  encode(chunk: Chunk): AgentItem[];
  /** The error the stream reported, if it did: the run ends in it unless the agent does otherwise. */
  readonly failure: RunFailure | undefined;
}
