import { createParser, type ParseError } from "eventsource-parser";
import { UpstreamError } from "./failure.ts";

/** The longest frame that is taken, in characters: 10 Mi. */
const MAX_FRAME = 10 * 1024 * 1024;

/** One event of a stream, as it came. */
export interface Frame {
  readonly event: unknown;
  /** Its length, in characters. */
  readonly size: number;
}

/**
 * The events of an SSE body, as many as each piece of it completes. A frame at the end that no empty line follows counts,
 * unless it was cut. Leaving the loop closes the connection.
 *
 * @param onBytes called with every piece, comments included
 * @throws UpstreamError `agent_invalid` for what is no JSON, or too long; `agent_lost` where the body breaks off
 */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<readonly Frame[], void, undefined> {
  let ready: Frame[] = [];
  let count = 0;
  let bad: UpstreamError | undefined;
  let isOver = false;
  const parser = createParser({
    maxBufferSize: MAX_FRAME,
    onEvent({ data }) {
      if (bad) return;
      const event = data.length > MAX_FRAME ? undefined : parse(data);
      if (event) ready.push({ event: event.value, size: data.length });
      else if (data.length > MAX_FRAME) bad = tooLong();
      // What is left when the stream ends may be half of a frame.
      else if (!isOver) bad = invalid(`Frame ${count} of its stream is no JSON.`);
      count += 1;
    },
    onError({ type }: ParseError) {
      if (type === "max-buffer-size-exceeded") bad ??= tooLong();
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new UpstreamError("agent_lost", "The agent's answer broke off.", { cause });
      });
      isOver = done;
      onBytes();
      parser.feed(done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true }));
      // What came before it stands, in the same piece too.
      if (ready.length > 0) yield ready;
      ready = [];
      if (bad) throw bad;
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function tooLong(): UpstreamError {
  return invalid(`A frame of its stream has more than ${MAX_FRAME} characters.`);
}

function invalid(message: string): UpstreamError {
  return new UpstreamError("agent_invalid", `The agent does not speak AG-UI. ${message}`);
}
