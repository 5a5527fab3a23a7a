import { HoldfastError, reject } from "@holdfast/protocol";
import type { CallQuery } from "../../engine/index.ts";
import { canRead, mayList, seesData } from "../../auth/index.ts";
import { authenticate } from "../authenticate.ts";
import type { App, HttpOptions } from "../context.ts";
import { inboxStream } from "../inbox-stream.ts";
import { onceEach, pageOf } from "../params.ts";
import { json } from "../problem.ts";

const MOST_CALLS = 1000;

/** The inbox: calls of all sessions that wait for somebody. */
export function callRoutes(app: App, options: HttpOptions): void {
  const { engine, tokens, sseHeartbeatMs: heartbeatMs, schedule, log } = options;

  app.get("/v1/calls", async (c) => {
    const identity = await authenticate(c.req.raw, tokens);
    mayList(identity);
    const query = { ...pageOf(c.req, MOST_CALLS), ...callQuery(onceEach(c.req)) };
    const mayRead = (session: string) => canRead(identity, session);
    const sees = (session: string, tool: string) => seesData(identity, session, tool);
    const streams = c.req.header("accept")?.includes("text/event-stream");
    // A HEAD comes here too, and nobody would read its stream.
    if (streams && c.req.raw.method === "GET") {
      const { connection } = c.env ?? {};
      const { principal } = identity;
      return inboxStream({
        watchCalls: (watching) =>
          engine.watchCalls(query, mayRead, { ...watching, seesData: sees, principal }),
        heartbeatMs,
        schedule,
        log,
        watch: (over) => tokens.watch(identity, over),
        destroy: connection && (() => connection.destroy()),
      });
    }
    const page = await engine.calls(query, mayRead, sees);
    return json(JSON.stringify(page));
  });
}

/** What of the query says which calls. @throws HoldfastError `invalid_request` */
function callQuery(query: Readonly<Record<string, string>>): Omit<CallQuery, "limit"> {
  const { tool, owner, agent } = query;
  const status = oneOf("status", query["status"], STATUSES);
  const waitsFor = oneOf("waitsFor", query["waitsFor"], WAITS_FOR);
  const escalated = oneOf("escalated", query["escalated"], ["true"] as const);
  const waitingBefore = timeOf("waitingBefore", query["waitingBefore"]);
  return {
    ...(tool !== undefined && { tool }),
    ...(owner !== undefined && { owner }),
    ...(agent !== undefined && { agent }),
    ...(status && { status }),
    ...(waitsFor && { waitsFor }),
    ...(escalated && { escalated: true }),
    ...(waitingBefore !== undefined && { waitingBefore }),
  };
}

function timeOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new HoldfastError(
    reject("invalid_request", `${name}: must be a time in Unix milliseconds, or absent.`),
  );
}

const STATUSES = ["gated", "open", "claimed"] as const;
const WAITS_FOR = ["person", "client", "agent"] as const;

function oneOf<T extends string>(
  name: string,
  value: string | undefined,
  all: readonly T[],
): T | undefined {
  if (value === undefined) return undefined;
  const found = all.find((it) => it === value);
  if (found !== undefined) return found;
  throw new HoldfastError(reject("invalid_request", `${name}: must be one of ${all.join(", ")}.`));
}
