import type { InboxNews } from "../engine/index.ts";
import { live } from "./live.ts";

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
  const stop = new AbortController();
  let slow = () => {};
  const { response, end } = live({
    source: watchCalls({ signal: stop.signal, onSlow: () => slow() }),
    stop,
    type: "text/event-stream",
    alive: HEARTBEAT,
    tell: (news) => ({ bytes: eventOf(news) }),
    name: "the inbox",
    heartbeatMs,
    schedule,
    log,
    watch,
  });
  slow = () => {
    end();
    destroy?.();
  };
  return response;
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
