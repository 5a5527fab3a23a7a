import type { Metadata, SessionRow } from "@holdfast/protocol";
import type { Storage } from "../storage/storage.ts";
import type { MayRead } from "./inbox.ts";
import { tagOf, tagOfMetadata } from "./tags.ts";

/** Which sessions are asked for: those for which all that is named holds. */
export interface SessionQuery {
  readonly agent?: string;
  /** The principal whose it is. */
  readonly owner?: string;
  /** Values of metadata, as text. Only short texts, numbers and booleans at its top are searched. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Only those that are closed. */
  readonly closed?: true;
  /** The `next` of an earlier page of the same query. */
  readonly after?: string;
  readonly newestFirst?: boolean;
  readonly limit: number;
}

/** A session as a list shows it. */
export interface ListedSession {
  readonly id: string;
  readonly agent: string;
  readonly owner?: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly metadata?: Metadata;
  readonly closed?: NonNullable<SessionRow["closed"]>;
}

/** The oldest first, unless the newest were asked for. */
export interface SessionPage {
  readonly sessions: readonly ListedSession[];
  /** Where to go on; absent once there is nothing more. A page may be short of its limit, or empty, and have one. */
  readonly next?: string;
}

/** One page. Sessions that may not be read are left out, so that pages may be short. */
export async function listSessions(
  storage: Storage,
  query: SessionQuery,
  mayRead: MayRead,
): Promise<SessionPage> {
  const { agent, owner, closed, metadata = {}, after, newestFirst, limit } = query;
  const tags = [
    ...Object.entries(metadata).map(([name, value]) => tagOfMetadata(name, value)),
    ...(owner === undefined ? [] : [tagOf("owner", owner)]),
    ...(closed ? [tagOf("closed", true)] : []),
    ...(agent === undefined ? [] : [tagOf("agent", agent)]),
  ];
  const { rows, next } = await storage.find({
    kind: "session",
    tags,
    limit,
    ...(after !== undefined && { after }),
    ...(newestFirst && { newestFirst }),
  });
  const sessions = rows
    .filter(({ session }) => mayRead(session))
    .map(({ session, value }) => listed(session, JSON.parse(value) as SessionRow));
  return { sessions, ...(next !== undefined && { next }) };
}

function listed(id: string, row: SessionRow): ListedSession {
  const { agent, owner, createdAt, metadata, closed } = row;
  return {
    id,
    agent,
    ...(owner !== undefined && { owner }),
    createdAt,
    ...(metadata && { metadata }),
    ...(closed && { closed }),
  };
}
