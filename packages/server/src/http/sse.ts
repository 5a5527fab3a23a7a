import { HoldfastError, type Offset } from "@holdfast/protocol";
import type { Engine, FrameText, SubscribeOptions } from "../engine/index.ts";

export interface SseOptions {
  readonly engine: Engine;
  readonly session: string;
  readonly after: Offset | undefined;
  /** Who reads; undefined for an attempt. */
  readonly principal: string | undefined;
  readonly heartbeatMs: number;
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
  /** Closes the connection under a reader that takes nothing. */
  readonly destroy: (() => void) | undefined;
}

/**
 * A session's frames as server-sent events. A cursor that the server cannot bridge gets a `reset` with the state
 * first, and goes on from there.
 *
 * @throws HoldfastError `unknown_session`, `invalid_offset`, `too_many_requests`
 */
export async function eventStream(options: SseOptions): Promise<Response> {
  const { engine, session, after, principal, heartbeatMs, schedule, log, destroy } = options;
  const over = new AbortController();
  const following = {
    signal: over.signal,
    onSlow: () => slow(),
    ...(principal !== undefined && { principal }),
  };
  const { first, frames } = await open(engine, session, after, following);
  let stopBeating = () => {};
  let slow = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(first);
      const beat = () => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(HEARTBEAT);
        stopBeating = schedule(heartbeatMs, beat);
      };
      stopBeating = schedule(heartbeatMs, beat);
      slow = () => {
        stopBeating();
        over.abort();
        // It may stand between two frames, where it hears of nothing.
        void frames.return();
        controller.close();
        destroy?.();
      };
    },
    async pull(controller) {
      try {
        const next = await frames.next();
        if (over.signal.aborted) return;
        if (next.done) {
          stopBeating();
          controller.close();
        } else {
          controller.enqueue(concat(next.value.map(eventOf)));
        }
      } catch (error) {
        stopBeating();
        log(`A stream of session ${session} failed`, error);
        controller.error(error);
      }
    },
    async cancel() {
      stopBeating();
      over.abort();
      await frames.return();
    },
  });
  return new Response(body, { headers: HEADERS });
}

async function open(
  engine: Engine,
  session: string,
  after: Offset | undefined,
  following: SubscribeOptions,
): Promise<{ first: Uint8Array; frames: AsyncGenerator<readonly FrameText[], void, void> }> {
  try {
    return { first: HELLO, frames: await engine.subscribe(session, after, following) };
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "reset") throw error;
    const { offset, text } = await engine.state(session);
    const state = `{"offset":${JSON.stringify(offset)},"state":${text}}`;
    const first = encoder.encode(`event: reset\nid: ${offset}\ndata: ${state}\n\n`);
    return { first, frames: await engine.subscribe(session, offset, following) };
  }
}

/** A frame's event, encoded once for all who read it. */
function eventOf(frame: FrameText): Uint8Array {
  let event = encoded.get(frame);
  if (!event) {
    event = encoder.encode(`id: ${frame.last}\ndata: ${frame.text}\n\n`);
    encoded.set(frame, event);
  }
  return event;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return only && parts.length === 1 ? only : Buffer.concat(parts);
}

const encoder = new TextEncoder();
const encoded = new WeakMap<FrameText, Uint8Array>();
/** Sent at once, so that the reader knows that it is connected. */
const HELLO = encoder.encode(": connected\n\n");
const HEARTBEAT = encoder.encode(": heartbeat\n\n");
const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};
