import type { AgentItem, Encoder, RunFailure } from "@holdfast/protocol";
import type { UIMessageChunk } from "ai";
import { createCallEncoder } from "./encode-call.ts";
import { createTextEncoder } from "./encode-text.ts";
import { NAME, recordOf, rest, type Extras } from "./extras.ts";
import { mergeMessageMetadata } from "./merge-objects.ts";
import { createIds, streamKey, type AiSdkScope } from "./scope.ts";

type ChunkType = UIMessageChunk["type"];
type ChunkOf<T extends ChunkType> = Extract<UIMessageChunk, { type: T }>;
type DataType = Extract<ChunkType, `data-${string}`>;
type Handlers = {
  [T in Exclude<ChunkType, DataType>]: (chunk: ChunkOf<T>) => AgentItem[];
};

/** Turns a UI message stream into items (SPEC, AI SDK mapping). A chunk of an unknown type is kept whole, as CUSTOM. */
export function createEncoder(scope: AiSdkScope): Encoder<UIMessageChunk> {
  const ids = createIds(scope);
  const text = createTextEncoder("TEXT", ids);
  const reasoning = createTextEncoder("REASONING", ids);
  const calls = createCallEncoder(scope, ids);
  const stream = streamKey(scope);
  let inRound = false;
  let failure: RunFailure | undefined;
  /** What the message itself was told by this stream. */
  let message: Extras = {};
  /** Messages of the session that the stream took up; a round that is taken back leaves them to the next. */
  const steers: string[] = [];

  const opened = (): AgentItem => ({
    type: "round.open",
    ...(steers.length > 0 && { steers: [...steers] }),
  });

  function annotate(more: Extras): AgentItem[] {
    if (Object.keys(more).length === 0) return [];
    message = { ...message, ...more };
    return [{ type: "run.annotate", metadata: { [NAME]: { [stream]: message } } }];
  }

  function withMetadata(
    chunk: { readonly messageMetadata?: unknown },
    more: Extras = {},
  ): AgentItem[] {
    const { messageMetadata } = chunk;
    if (messageMetadata === undefined || messageMetadata === null) return annotate(more);
    const metadata = mergeMessageMetadata(message["metadata"], messageMetadata);
    return annotate({ ...more, metadata });
  }

  /** A step boundary has no place for fields of its own, should the library ever give it any. */
  const boundary = (chunk: UIMessageChunk): AgentItem[] => (rest(chunk, []) ? custom(chunk) : []);

  const handlers: Handlers = {
    start(chunk) {
      const start = rest(chunk, ["messageMetadata"]);
      return withMetadata(chunk, start && { start: { ...recordOf(message["start"]), ...start } });
    },
    "message-metadata"(chunk) {
      const update = rest(chunk, ["messageMetadata"]);
      return withMetadata(chunk, update && { update });
    },
    finish: (chunk) => withMetadata(chunk, { finish: rest(chunk, ["messageMetadata"]) ?? {} }),
    error(chunk) {
      failure = { code: "agent_error", message: chunk.errorText };
      return annotate({ error: rest(chunk, []) ?? {} });
    },
    abort: (chunk) => annotate({ abort: rest(chunk, []) ?? {} }),

    "start-step"(chunk) {
      ids.nextRound();
      inRound = true;
      return [opened(), ...boundary(chunk)];
    },
    "finish-step"(chunk) {
      if (!inRound) return boundary(chunk);
      inRound = false;
      // Kept in the round, to tell it from one that was cut off: see toModelMessages.
      return [...custom(chunk), { type: "round.close" }];
    },
    "reset-step"(chunk) {
      // Only an open round can be taken back; outside of one there is nothing to reset that others may not have used.
      if (!inRound) return custom(chunk);
      text.reset();
      reasoning.reset();
      calls.reset();
      ids.nextRound();
      return [{ type: "round.withdraw" }, opened(), ...boundary(chunk)];
    },

    "text-start": (chunk) => text.start(chunk),
    "text-delta": (chunk) => text.delta(chunk),
    "text-end": (chunk) => text.end(chunk),
    "reasoning-start": (chunk) => reasoning.start(chunk),
    "reasoning-delta": (chunk) => reasoning.delta(chunk),
    "reasoning-end": (chunk) => reasoning.end(chunk),

    "tool-input-start": (chunk) => calls.inputStart(chunk),
    "tool-input-delta": (chunk) => calls.inputDelta(chunk),
    "tool-input-available": (chunk) => calls.inputAvailable(chunk),
    "tool-input-error": (chunk) => calls.inputError(chunk),
    "tool-approval-request": (chunk) => calls.approvalRequest(chunk),
    "tool-approval-response": (chunk) => calls.approvalResponse(chunk),
    "tool-output-available": (chunk) => calls.outputAvailable(chunk),
    "tool-output-error": (chunk) => calls.outputError(chunk),
    "tool-output-denied": (chunk) => calls.outputDenied(chunk),

    custom,
    "source-url": custom,
    "source-document": custom,
    file: custom,
    "reasoning-file": custom,
    "steering-message"(chunk) {
      if (!scope.isSteer?.(chunk.id)) return custom(chunk);
      steers.push(chunk.id);
      return [];
    },
  };

  return {
    encode(chunk) {
      const handler = Object.hasOwn(handlers, chunk.type)
        ? (handlers as Record<string, (chunk: UIMessageChunk) => AgentItem[]>)[chunk.type]
        : undefined;
      return (handler ?? custom)(chunk);
    },
    get failure() {
      return failure;
    },
  };
}

/** A chunk kept whole, as an event of its own. */
function custom(chunk: UIMessageChunk): AgentItem[] {
  return [{ type: "CUSTOM", name: `${NAME}.${chunk.type}`, value: chunk }];
}
