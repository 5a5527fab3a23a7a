import { backoffMs, isObject, isTransient, unreachable, type Transport } from "../wire/index.ts";
import { streamEvents } from "../wire/sse.ts";

/** An event of AG-UI, as the server sent it. */
export type ThreadEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface ThreadEventsOptions {
  /** Which of a thread's requests. */
  readonly path: string;
  /** JSON text. The same again is taken for the same. */
  readonly body: string;
  readonly signal: AbortSignal;
  /** How long to go on trying while the server is away, milliseconds. */
  readonly patienceMs: number;
}

/**
 * What the server tells of a thread, to its end. Where the connection breaks, or the server is restarted, the same is
 * asked again behind the last event that came, so that nothing is told twice and nothing is left out.
 *
 * @throws {HoldfastError} what the server refuses; `reset` where what is missing cannot be told any more; `unreachable`
 *   once the server was away for too long; the signal's reason
 */
export async function* threadEvents(
  transport: Transport,
  { path, body, signal, patienceMs }: ThreadEventsOptions,
): AsyncGenerator<ThreadEvent, void, undefined> {
  const { timing, backoff } = transport;
  let lastEventId: string | undefined;
  let isTold = false;
  // A run was told of, and not its end.
  let isOpen = false;
  let failures = 0;
  let heardAt = timing.now();
  for (;;) {
    try {
      const request = { body, signal, idleMs: IDLE_MS };
      const cursor = lastEventId !== undefined && { lastEventId };
      for await (const said of streamEvents(transport, path, { ...request, ...cursor })) {
        if (said.type === "open") continue;
        heardAt = timing.now();
        failures = 0;
        if (said.type === "comment") continue;
        const event = parseEvent(said.data);
        if (isBreak(event, said.id)) throw unreachable(String(event["message"]));
        lastEventId = said.id ?? lastEventId;
        isTold = true;
        isOpen = event.type !== "RUN_FINISHED" && event.type !== "RUN_ERROR";
        yield event;
      }
      if (!isOpen) return;
      throw unreachable("The stream ended before its run.");
    } catch (error) {
      // Without a place to go on from, what came would come again.
      const isLost = isTold && lastEventId === undefined;
      const isOver = timing.now() - heardAt >= patienceMs;
      if (signal.aborted || !isTransient(error) || isLost || isOver) throw error;
    }
    failures += 1;
    await timing.sleep(backoffMs(timing, failures, backoff), signal);
  }
}

/** Two beats of the server's heart and a half. */
const IDLE_MS = 37_500;

function parseEvent(data: string): ThreadEvent {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (error) {
    throw unreachable("The stream is broken: what came is not JSON.", error);
  }
  if (isObject(value) && typeof value["type"] === "string") return value as ThreadEvent;
  throw unreachable("The stream is broken: what came is no event.");
}

/** Whether it is of the stream and not of the run: the server closed or failed, or the token ended; the run goes on. */
function isBreak({ type, code }: ThreadEvent, id: string | undefined): boolean {
  return type === "RUN_ERROR" && id === undefined && BREAKS.has(code);
}

const BREAKS: ReadonlySet<unknown> = new Set(["closed", "internal", "unauthenticated"]);
