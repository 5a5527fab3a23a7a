import type { InboxNews } from "../engine/index.ts";

export interface InboxStreamOptions {
  /** What is told, until the signal ends it; `onSlow` hears that the reader fell behind. */
  readonly watchCalls: (watching: {
    readonly signal: AbortSignal;
    readonly onSlow: () => void;
  }) => AsyncGenerator<InboxNews, void, void>;
  readonly heartbeatMs: number;
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
  /** Calls `over` when the reader may read no longer; the result takes it back. */
  readonly watch: (over: () => void) => () => void;
  /** Closes the connection under a reader that takes nothing. */
  readonly destroy: (() => void) | undefined;
}

/**
 * The inbox as server-sent events, `page`, `call` and `gone`, with a comment now and then. It has no cursor: whoever
 * comes back gets the page anew. Ends when its token does, and where its reader is too slow.
 *
 * @throws HoldfastError `too_many_requests`
 */
export function inboxStream(options: InboxStreamOptions): Response {
  const { watchCalls, heartbeatMs, schedule, log, watch, destroy } = options;
  const over = new AbortController();
  let slow = () => {};
  const news = watchCalls({ signal: over.signal, onSlow: () => slow() });
  let stopBeating = () => {};
  let unwatch = () => {};
  const release = () => {
    stopBeating();
    unwatch();
    over.abort();
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const beat = () => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(HEARTBEAT);
        stopBeating = schedule(heartbeatMs, beat);
      };
      stopBeating = schedule(heartbeatMs, beat);
      const end = () => {
        if (over.signal.aborted) return;
        release();
        controller.close();
      };
      slow = () => {
        end();
        destroy?.();
      };
      unwatch = watch(end);
    },
    async pull(controller) {
      try {
        const next = await news.next();
        if (over.signal.aborted) return;
        if (!next.done) return controller.enqueue(eventOf(next.value));
        release();
        controller.close();
      } catch (error) {
        release();
        log("A stream of the inbox failed", error);
        controller.error(error);
      }
    },
    async cancel() {
      release();
      await news.return();
    },
  });
  return new Response(body, { headers: HEADERS });
}

function eventOf(news: InboxNews): Uint8Array {
  const { type } = news;
  const value = type === "page" ? news.page : type === "call" ? news.call : told(news);
  return encoder.encode(`event: ${type}\ndata: ${JSON.stringify(value)}\n\n`);
}

function told({ session, id }: Extract<InboxNews, { type: "gone" }>) {
  return { session, ...(id !== undefined && { id }) };
}

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(": heartbeat\n\n");
const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};
