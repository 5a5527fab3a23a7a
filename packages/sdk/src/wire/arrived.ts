import type { Frame } from "@holdfast/protocol";
import { parseFrame, parseStateAt, parseText, type StateAt } from "./messages.ts";
import { streamEvents } from "./sse.ts";
import type { Transport } from "./transport.ts";

/** What comes of a session that is followed, over whatever wire. */
export type Arrived =
  /** The server follows. */
  | { readonly type: "open" }
  /** It is still there. */
  | { readonly type: "alive" }
  | ({ readonly type: "reset" } & StateAt)
  | { readonly type: "frame"; readonly frame: Frame };

/** A session's entries after a cursor as server-sent events bring them; ends, and throws, as `streamEvents` does. */
export async function* arrivals(
  transport: Transport,
  path: string,
  after: string,
  { idleMs, signal }: { readonly idleMs: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<Arrived, void, undefined> {
  const events = streamEvents(transport, `${path}/entries`, {
    query: { after },
    idleMs,
    ...(signal && { signal }),
  });
  for await (const event of events) {
    if (event.type === "open") yield event;
    else if (event.type === "comment") yield { type: "alive" };
    else if (event.name === "reset")
      yield { type: "reset", ...parseText(event.data, parseStateAt) };
    else if (event.name === "message")
      yield { type: "frame", frame: parseText(event.data, parseFrame) };
    else yield { type: "alive" };
  }
}
