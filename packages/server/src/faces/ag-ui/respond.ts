import type { FrameText } from "../../engine/index.ts";
import type { Encoding } from "./encode.ts";
import type { Feed, Told } from "./feed.ts";

export interface RespondOptions {
  readonly feed: Feed;
  readonly frames: AsyncGenerator<readonly FrameText[], void, void>;
  readonly encoding: Encoding;
  /** Ends the frames. */
  readonly stop: AbortController;
  readonly heartbeatMs: number;
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
  /** Calls `over` when the reader may read no longer; the result takes it back. */
  readonly watch: (over: () => void) => () => void;
}

/**
 * A feed as a response: what there is at once, then each commit's events as they come, as fast as they are taken, and
 * closed behind the last. A stream that breaks off sooner says so as RUN_ERROR, since clients take an early end for a
 * success; the run goes on, and whoever goes away ends nothing.
 */
export function respond(options: RespondOptions): Response {
  const { feed, frames, encoding, stop, heartbeatMs, schedule, log, watch } = options;
  const { alive } = encoding;
  let stopBeating = () => {};
  let unwatch = () => {};
  let closed = false;
  const release = () => {
    closed = true;
    stopBeating();
    unwatch();
    stop.abort();
    // It may stand between two frames, where it hears of nothing.
    void frames.return();
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // The head of the response leaves with the first bytes.
      if (alive) controller.enqueue(alive);
      if (put(controller, feed.begin())) return;
      const beat = () => {
        if (alive && (controller.desiredSize ?? 0) > 0) controller.enqueue(alive);
        stopBeating = schedule(heartbeatMs, beat);
      };
      stopBeating = schedule(heartbeatMs, beat);
      unwatch = watch(() => breakOff(controller, "unauthenticated", "The token has ended."));
    },
    async pull(controller) {
      try {
        for (;;) {
          if (closed) return;
          const next = await frames.next();
          if (closed) return;
          if (next.done) return breakOff(controller, "closed", "The server ended the stream.");
          for (const frame of next.value) {
            const told = feed.take(frame);
            if (put(controller, told)) return;
          }
          if ((controller.desiredSize ?? 0) <= 0) return;
        }
      } catch (error) {
        log("An AG-UI stream failed", error);
        breakOff(controller, "internal", "The server failed.");
      }
    },
    cancel: release,
  });
  return new Response(body, { headers: { ...HEADERS, "content-type": encoding.type } });

  /** @returns whether that was all */
  function put(controller: Controller, { events, isOver, leftOut = [] }: Told): boolean {
    if (leftOut.length > 0 && encoding.comment) {
      const words = `Left out, since AG-UI does not describe it: ${leftOut.join(", ")}`;
      controller.enqueue(encoding.comment(words));
    }
    if (events.length > 0) controller.enqueue(encoding.encode(events));
    if (!isOver) return false;
    release();
    controller.close();
    return true;
  }

  function breakOff(controller: Controller, code: string, what: string): void {
    if (closed) return;
    const message = `${what} The run may go on without it: connect again.`;
    put(controller, { events: [{ event: { type: "RUN_ERROR", message, code } }], isOver: true });
  }
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

const HEADERS = { "cache-control": "no-store", "x-accel-buffering": "no" };
