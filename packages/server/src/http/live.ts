/** What a live response is made of. */
export interface LiveOptions<T> {
  /** What there is to tell, until `stop` ends it. */
  readonly source: AsyncGenerator<T, void, void>;
  readonly stop: AbortController;
  /** The content type. */
  readonly type: string;
  /** Sent at once, so that the reader knows that it is connected; `isOver` where there is no more. */
  readonly first?: Told;
  /** Sent now and then while nothing else waits for the reader. */
  readonly alive?: Uint8Array;
  readonly tell: (piece: T) => Told;
  /**
   * What the reader hears where the stream ends before its source did or fails; without it the stream just ends, and
   * breaks off where it failed.
   */
  readonly farewell?: (why: Ending) => Uint8Array | undefined;
  /** What failed, for the log. */
  readonly name: string;
  readonly heartbeatMs: number;
  readonly schedule: (ms: number, run: () => void) => () => void;
  readonly log: (message: string, error: unknown) => void;
  /** Calls `over` when the reader may read no longer; the result takes it back. */
  readonly watch: (over: () => void) => () => void;
}

/** What is sent, and whether that was all. */
export interface Told {
  readonly bytes?: Uint8Array | undefined;
  readonly isOver?: boolean;
}

/** `token`: the reader may read no longer. */
export type Ending = "token" | "closed" | "failed";

export interface Live {
  readonly response: Response;
  /** Ends it now, without a farewell. */
  readonly end: () => void;
}

/**
 * A response that is told as things happen, as fast as its reader takes it, with a sign of life now and then. Whoever
 * goes away, and whose token ends, ends the source as well.
 */
export function live<T>(options: LiveOptions<T>): Live {
  const { source, stop, type, first, alive, tell, farewell, name, watch, log } = options;
  let stopBeating = () => {};
  let unwatch = () => {};
  let closed = false;
  let close = () => {};
  const release = () => {
    closed = true;
    stopBeating();
    unwatch();
    stop.abort();
  };

  function beatSoon(controller: Controller): void {
    stopBeating = options.schedule(options.heartbeatMs, () => {
      if (alive && (controller.desiredSize ?? 0) > 0) controller.enqueue(alive);
      beatSoon(controller);
    });
  }

  function put(controller: Controller, { bytes, isOver = false }: Told): void {
    if (bytes) controller.enqueue(bytes);
    if (!isOver) return;
    release();
    // It may stand between two pieces, where it hears of nothing.
    void source.return();
    controller.close();
  }

  function end(controller: Controller, why: Ending): void {
    if (!closed) put(controller, { bytes: farewell?.(why), isOver: true });
  }

  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      close = () => {
        if (!closed) put(controller, { isOver: true });
      };
      if (first) put(controller, first);
      if (closed) return;
      beatSoon(controller);
      unwatch = watch(() => end(controller, "token"));
    },
    async pull(controller) {
      try {
        for (;;) {
          const next = await source.next();
          if (closed) return;
          if (next.done) return end(controller, "closed");
          const told = tell(next.value);
          put(controller, told);
          // Who reads is not heard of again before it was given something.
          if (told.bytes || closed) return;
        }
      } catch (error) {
        log(`A stream of ${name} failed`, error);
        if (closed) return;
        if (farewell) return end(controller, "failed");
        release();
        controller.error(error);
      }
    },
    async cancel() {
      release();
      await source.return();
    },
  });
  const response = new Response(body, { headers: { ...HEADERS, "content-type": type } });
  return { response, end: () => close() };
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** Nobody on the way may keep or gather it. */
const HEADERS = { "cache-control": "no-store", "x-accel-buffering": "no" };
