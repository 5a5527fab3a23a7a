import type { AgentItem, Encoder, RunFailure } from "@holdfast/protocol";
import type { Claims } from "./claims.ts";
import type { Outbox } from "./outbox.ts";
import type { Proposals } from "./proposals.ts";

/** How a piped stream ended. */
export interface Piped {
  /** The framework's word for why it ended, where it gave one. */
  readonly finishReason?: string;
  /** The error it reported. The run ends in it, unless the handler finishes or fails it otherwise. */
  readonly failure?: RunFailure;
}

export interface PipeContext {
  readonly outbox: Outbox;
  readonly proposals: Proposals;
  readonly claims: Claims;
  readonly signal: AbortSignal;
  /** Changes an item on its way. */
  readonly amend?: (item: AgentItem) => AgentItem;
}

/**
 * Reads a framework's stream to its end and appends what it says. Reads no faster than the log takes it.
 *
 * @throws what the stream throws; the signal's reason once the attempt is over, with the stream cancelled
 */
export async function pipe<Chunk>(
  stream: ReadableStream<Chunk> | AsyncIterable<Chunk>,
  encoder: Encoder<Chunk>,
  { outbox, proposals, claims, signal, amend = asItIs }: PipeContext,
): Promise<Piped> {
  let finishReason: string | undefined;
  for await (const chunk of readUntil(stream, signal)) {
    finishReason = finishReasonOf(chunk) ?? finishReason;
    const said = encoder.encode(chunk).filter((item) => !isEchoOfRefusal(item, claims));
    const items = said.map(amend);
    if (items.length === 0) continue;
    const receipt = outbox.push(items);
    for (const item of items) {
      if (item.type === "TOOL_CALL_END") proposals.ended(item.toolCallId, receipt);
    }
    await outbox.room();
  }
  await outbox.flush();
  const { failure } = encoder;
  return { ...(finishReason !== undefined && { finishReason }), ...(failure && { failure }) };
}

const asItIs = (item: AgentItem): AgentItem => item;

/** A framework reports a refused execution as the call's result; the call itself is somebody else's, or ended. */
function isEchoOfRefusal(item: AgentItem, claims: Claims): boolean {
  return (
    (item.type === "call.answer" || item.type === "call.progress") && claims.isRefused(item.callId)
  );
}

/** Every framework that names a reason names it so, on its last chunk. */
function finishReasonOf(chunk: unknown): string | undefined {
  if (typeof chunk !== "object" || chunk === null || !("finishReason" in chunk)) return undefined;
  return typeof chunk.finishReason === "string" ? chunk.finishReason : undefined;
}

/** The stream's chunks; at an abort it is cancelled at once, even while a read is under way. */
async function* readUntil<Chunk>(
  stream: ReadableStream<Chunk> | AsyncIterable<Chunk>,
  signal: AbortSignal,
): AsyncGenerator<Chunk, void, undefined> {
  const source = open(stream);
  // One promise a read: a lasting one that each read is raced against would keep something of every chunk.
  let fail = (_reason: unknown): void => {};
  const stop = () => fail(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  let done = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await new Promise<Next<Chunk>>((resolve, reject) => {
        fail = reject;
        source.next().then(resolve, reject);
      });
      if (next.done) {
        done = true;
        return;
      }
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    if (!done) source.cancel(signal.reason);
  }
}

type Next<Chunk> = { readonly done: true } | { readonly done: false; readonly value: Chunk };

interface Source<Chunk> {
  next(): Promise<Next<Chunk>>;
  cancel(reason: unknown): void;
}

function open<Chunk>(stream: ReadableStream<Chunk> | AsyncIterable<Chunk>): Source<Chunk> {
  if ("getReader" in stream) {
    const reader = stream.getReader();
    return {
      next: async () => {
        const { done, value } = await reader.read();
        return done ? { done } : { done, value };
      },
      cancel: (reason) => void reader.cancel(reason).catch(() => {}),
    };
  }
  const iterator = stream[Symbol.asyncIterator]();
  return {
    next: async () => {
      const { done, value } = await iterator.next();
      return done ? { done: true } : { done: false, value: value as Chunk };
    },
    cancel: () => void iterator.return?.().catch(() => {}),
  };
}
