import type { Metadata, Offset, SessionRow, SessionState } from "@holdfast/protocol";
import type { FrameText } from "./frame.ts";
import type { Snapshot } from "./visibility.ts";

/** What a session is apart from its content. */
export interface SessionView {
  readonly id: string;
  readonly agent: string;
  readonly offset: Offset;
  readonly createdAt: number;
  /** The principal whose it is. */
  readonly owner?: string;
  readonly metadata?: Metadata;
  readonly ttlMs?: number;
  readonly closed?: NonNullable<SessionRow["closed"]>;
}

/** What a reader gets. */
export interface Resumed {
  /** To begin with, where the reader had nothing that leads on. */
  readonly reset?: Snapshot;
  readonly frames: AsyncGenerator<readonly FrameText[], void, void>;
}

export function sessionView({ head, session }: SessionState): SessionView {
  const { id, agent, createdAt, owner, metadata, ttlMs, closed } = session;
  return {
    id,
    agent,
    offset: head,
    createdAt,
    ...(owner !== undefined && { owner }),
    ...(metadata && { metadata }),
    ...(ttlMs !== undefined && { ttlMs }),
    ...(closed && { closed }),
  };
}
