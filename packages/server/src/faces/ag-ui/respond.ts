import type { FrameText } from "../../engine/index.ts";
import { live, type Ending } from "../../http/live.ts";
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
  const begun = written(feed.begin());
  const { response } = live({
    source: frames,
    stop,
    type: encoding.type,
    // The head of the response leaves with the first bytes.
    first: { ...begun, bytes: joined([alive, begun.bytes]) },
    ...(alive && { alive }),
    tell(batch) {
      const parts: (Uint8Array | undefined)[] = [];
      for (const frame of batch) {
        const { bytes, isOver } = written(feed.take(frame));
        parts.push(bytes);
        if (isOver) return { bytes: joined(parts), isOver };
      }
      return { bytes: joined(parts) };
    },
    farewell: (why) => written({ events: [{ event: brokenOff(why) }], isOver: true }).bytes,
    name: "an AG-UI run",
    heartbeatMs,
    schedule,
    log,
    watch,
  });
  return response;

  function written({ events, isOver, leftOut = [] }: Told) {
    const said =
      leftOut.length > 0 ? encoding.comment?.(`${LEFT_OUT} ${leftOut.join(", ")}`) : undefined;
    const bytes = joined([said, events.length > 0 ? encoding.encode(events) : undefined]);
    return { bytes, isOver };
  }
}

const LEFT_OUT = "Left out, since AG-UI does not describe it:";

const ENDINGS: Readonly<Record<Ending, { readonly code: string; readonly what: string }>> = {
  token: { code: "unauthenticated", what: "The token has ended." },
  closed: { code: "closed", what: "The server ended the stream." },
  failed: { code: "internal", what: "The server failed." },
};

function brokenOff(why: Ending) {
  const { code, what } = ENDINGS[why];
  const message = `${what} The run may go on without it: connect again.`;
  return { type: "RUN_ERROR" as const, message, code };
}

/** All there is of several; undefined for nothing. */
function joined(parts: readonly (Uint8Array | undefined)[]): Uint8Array | undefined {
  const there = parts.filter((part) => part !== undefined);
  return there.length > 1 ? Buffer.concat(there) : there[0];
}
