import { createClient, createTransport, type Client } from "@holdfast/sdk/client";
import type { Entry } from "@holdfast/protocol";
import type { ReadEntries } from "./hooks/use-log-tail.ts";

const backoff = { baseMs: 500, maxMs: 4_000 };

/** How often the demo's server shows life on a silent stream; a silence of 2.5 times that is a lost connection. */
const heartbeatMs = 5_000;

/** The server this page came from, for the person the token names. */
export function openClient(token: string): Client {
  return createClient({ url: location.origin, token, backoff, heartbeatMs });
}

/** Reads pages of a session's log, beside its handle: what the rail shows. */
export function entriesReader(token: string, session: string): ReadEntries {
  const transport = createTransport({ url: location.origin, token, backoff });
  return (after) =>
    transport.json(`/v1/sessions/${encodeURIComponent(session)}/entries`, {
      tries: 1,
      query: { limit: "1000", ...(after !== "" && { after }) },
      parse: parsePage,
    });
}

function parsePage(value: unknown): { entries: readonly Entry[]; offset: string } {
  const page = value as { entries?: unknown; offset?: unknown } | undefined;
  if (!Array.isArray(page?.entries) || typeof page.offset !== "string")
    throw new TypeError("The server's answer is no page of entries.");
  return { entries: page.entries as Entry[], offset: page.offset };
}
