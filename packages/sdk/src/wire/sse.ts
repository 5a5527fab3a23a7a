import { createParser } from "eventsource-parser";
import { unreachable } from "./problem.ts";
import { deadline, linkedController } from "./timing.ts";
import type { Transport } from "./transport.ts";

/** What a stream of server-sent events says. `open` comes first, once the server accepted the request. */
export type StreamEvent =
  | { readonly type: "open" }
  | { readonly type: "comment" }
  | {
      readonly type: "event";
      readonly name: string;
      readonly data: string;
      /** Where the event itself has one. */
      readonly id?: string;
    };

export interface StreamOptions {
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** JSON text: posted, and what comes back is the stream. */
  readonly body?: string;
  /** The id of the last event that came; the server goes on behind it. */
  readonly lastEventId?: string;
  readonly signal?: AbortSignal;
  /** Silence of this many milliseconds, heartbeats included, means that the connection is dead. */
  readonly idleMs: number;
}

/**
 * Server-sent events over `fetch`: unlike `EventSource` it sends headers, works everywhere, and does not reconnect by
 * itself. Ends when the server ends the stream. Leaving the loop closes the connection; while the consumer does not
 * read, neither does this, and silence is not counted.
 *
 * @throws {HoldfastError} `unreachable` when the connection breaks or falls silent, or the server's refusal;
 * the signal's reason when aborted
 */
export async function* streamEvents(
  transport: Transport,
  path: string,
  { query, body: posted, lastEventId, signal, idleMs }: StreamOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  const { timing } = transport;
  const { controller, unlink } = linkedController(signal);
  const dead = (ms: number) => () =>
    controller.abort(unreachable(`The stream has been silent for ${ms} ms.`));
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let watching = true;
  // When the read at hand began; undefined while the consumer is at work.
  let readingSince: number | undefined;

  async function watch(): Promise<void> {
    let wait = idleMs;
    while (watching) {
      await timing.sleep(wait, controller.signal);
      const silent = readingSince === undefined ? 0 : timing.now() - readingSince;
      if (silent >= idleMs) return dead(idleMs)();
      wait = idleMs - silent;
    }
  }

  try {
    const opening = deadline(timing, transport.timeoutMs, dead(transport.timeoutMs));
    const response = await transport
      .stream(path, {
        accept: "text/event-stream",
        signal: controller.signal,
        ...(query && { query }),
        ...(posted !== undefined && { body: posted }),
        ...(lastEventId !== undefined && { headers: { "last-event-id": lastEventId } }),
      })
      .finally(() => opening.stop());
    if (!response.body || !response.headers.get("content-type")?.includes("text/event-stream"))
      throw unreachable(
        "The answer is no event stream: something between here and the server spoke.",
      );
    const body = response.body.getReader();
    reader = body;
    // Where aborting the request does not reach the body, as in one process, a read would wait on.
    controller.signal.addEventListener("abort", () => void body.cancel().catch(() => {}));
    const decoder = new TextDecoder();
    let ready: StreamEvent[] = [{ type: "open" }];
    const parser = createParser({
      onEvent: ({ event, data, id }) =>
        void ready.push({
          type: "event",
          name: event ?? "message",
          data,
          ...(id !== undefined && { id }),
        }),
      onComment: () => void ready.push({ type: "comment" }),
    });
    void watch().catch(() => {});
    for (;;) {
      for (const event of ready) yield event;
      ready = [];
      readingSince = timing.now();
      const { done, value } = await body.read().catch((error: unknown) => {
        throw unreachable("The stream broke off.", error);
      });
      readingSince = undefined;
      controller.signal.throwIfAborted();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
    }
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    watching = false;
    unlink();
    controller.abort();
    await reader?.cancel().catch(() => {});
  }
}
