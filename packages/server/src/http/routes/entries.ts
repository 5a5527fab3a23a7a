import { mayRead, personIn, visibilityOf } from "../../auth/index.ts";
import { cursorOf } from "../../engine/index.ts";
import { authenticate } from "../authenticate.ts";
import type { App, HttpOptions } from "../context.ts";
import { limitOf, sessionId } from "../params.ts";
import { json } from "../problem.ts";
import { eventStream } from "../sse.ts";

const MOST_ENTRIES = 10_000;

export function entryRoutes(app: App, options: HttpOptions): void {
  const { engine, tokens, sseHeartbeatMs: heartbeatMs, schedule, log } = options;

  app.get("/v1/sessions/:id/entries", async (c) => {
    const session = sessionId(c.req);
    const identity = await authenticate(c.req.raw, tokens);
    mayRead(identity, session);
    const visibility = visibilityOf(identity, session);
    const after = cursorFrom(c.req.query("after"), c.req.query("visibility"));
    const streams = c.req.header("accept")?.includes("text/event-stream");
    // A HEAD comes here too, and nobody would read its stream.
    if (streams && c.req.raw.method === "GET") {
      const { connection } = c.env ?? {};
      const stream = await eventStream({
        engine,
        session,
        after: c.req.header("last-event-id") || after,
        person: personIn(identity, session),
        // An agent reads in each of its attempts, of which there are as many as it has work.
        principal: identity.attempt ? undefined : identity.principal,
        visibility,
        heartbeatMs,
        schedule,
        log,
        watch: (over) => tokens.watch(identity, over),
        destroy: connection && (() => connection.destroy()),
      });
      // Nobody will read the body.
      if (c.req.method === "HEAD") await stream.body?.cancel();
      return stream;
    }
    const limit = limitOf(c.req.query("limit"), MOST_ENTRIES);
    const page = await engine.page(session, after, limit, visibility);
    const { entries, ...rest } = page;
    return json(`${JSON.stringify(rest).slice(0, -1)},"entries":${entries}}`);
  });
}

/** The cursor in a query: an offset, and the key of the visibility it was read with, which may stand in it already. */
function cursorFrom(after: string | undefined, visibility: string | undefined): string | undefined {
  if (!after) return undefined;
  return visibility ? cursorOf(after, { key: visibility }) : after;
}
