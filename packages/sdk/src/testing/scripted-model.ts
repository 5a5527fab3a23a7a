import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";

/** What a scripted model says. */
export type ScriptedPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | {
      readonly type: "tool-call";
      readonly toolName: string;
      /** Sent as JSON; a string is sent as it is, so that it may be broken. */
      readonly input: unknown;
      /** Default: an id of its own. */
      readonly toolCallId?: string;
    }
  | { readonly type: "error"; readonly error: unknown };

export interface ScriptedModelOptions {
  /** Called for every request; decides by what the model is sent. */
  readonly respond: (
    prompt: LanguageModelV4Prompt,
    options: LanguageModelV4CallOptions,
  ) => readonly ScriptedPart[] | Promise<readonly ScriptedPart[]>;
  /** Between two pieces, in milliseconds. Default 0. */
  readonly delayMs?: number;
  /** Rejects with the signal's reason once that is aborted. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly modelId?: string;
}

/**
 * A language model that follows a script: it streams text word by word and tool arguments in pieces, at a pace, and
 * stops when it is aborted, as a provider does. For use under the real `streamText`.
 */
export function scriptedModel(options: ScriptedModelOptions): LanguageModelV4 {
  const { respond, delayMs = 0, sleep = pause, modelId = "scripted" } = options;

  async function* stream(
    request: LanguageModelV4CallOptions,
  ): AsyncGenerator<LanguageModelV4StreamPart, void, undefined> {
    const { abortSignal } = request;
    yield { type: "stream-start", warnings: [] };
    const parts = await respond(request.prompt, request);
    let said = 0;
    for (const [index, part] of parts.entries()) {
      for (const piece of pieces(part, String(index))) {
        abortSignal?.throwIfAborted();
        if (delayMs > 0) await sleep(delayMs, abortSignal);
        said += 1;
        yield piece;
      }
    }
    const unified = parts.some(({ type }) => type === "error")
      ? "error"
      : parts.some(({ type }) => type === "tool-call")
        ? "tool-calls"
        : "stop";
    yield {
      type: "finish",
      finishReason: { unified, raw: unified },
      usage: {
        inputTokens: {
          total: request.prompt.length,
          noCache: undefined,
          cacheRead: undefined,
          cacheWrite: undefined,
        },
        outputTokens: { total: said, text: said, reasoning: undefined },
      },
    };
  }

  return {
    specificationVersion: "v4",
    provider: "scripted",
    modelId,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("A scripted model only streams.")),
    doStream: (request) => Promise.resolve({ stream: toReadable(stream(request)) }),
  };
}

function* pieces(part: ScriptedPart, id: string): Generator<LanguageModelV4StreamPart> {
  switch (part.type) {
    case "text":
    case "reasoning":
      yield { type: `${part.type}-start`, id };
      for (const delta of part.text.match(/\s*\S+\s*$|\s*\S+/g) ?? [part.text])
        yield { type: `${part.type}-delta`, id, delta };
      yield { type: `${part.type}-end`, id };
      return;
    case "tool-call": {
      const { toolName, toolCallId = `call_${crypto.randomUUID().replaceAll("-", "")}` } = part;
      const input = typeof part.input === "string" ? part.input : JSON.stringify(part.input);
      yield { type: "tool-input-start", id: toolCallId, toolName };
      for (const delta of input.match(/[^]{1,8}/g) ?? [])
        yield { type: "tool-input-delta", id: toolCallId, delta };
      yield { type: "tool-input-end", id: toolCallId };
      yield { type: "tool-call", toolCallId, toolName, input };
      return;
    }
    case "error":
      yield part;
  }
}

function toReadable<T>(iterable: AsyncGenerator<T, void, undefined>): ReadableStream<T> {
  return new ReadableStream<T>(
    {
      async pull(controller) {
        const { done, value } = await iterable.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterable.return();
      },
    },
    { highWaterMark: 0 },
  );
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}
