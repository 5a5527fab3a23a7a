import type { Offset } from "@holdfast/protocol";

/**
 * What the engine needs of a database. Implementations promise:
 *
 * - `append` of one session is all or nothing, durable before it resolves, and refused with {@link StorageConflict}
 *   when the session's head is not `expect`. Commits of different sessions that travel in one group are independent:
 *   a conflict of one writes nothing of it and all of the others; when the group itself fails, each rejects.
 * - Appends and deletes of one session are applied in the order they were called. When one rejects, the appends of
 *   its session that were called before it rejected, and build on it, reject too: by their `expect`, or, where a
 *   failed commit changed rows alone and so moved no head, with the same error.
 * - Reads see every append that resolved before they were called, and no half of one.
 * - What was appended is returned exactly; storage looks inside no `json` and no `value`. Strings are well-formed
 *   Unicode: a commit with a lone surrogate in an id or a text is refused with `failed`.
 * - Closing waits for what was called before it; what is called later rejects with `closed`.
 */
export interface Storage extends AsyncDisposable {
  append(commit: Commit): Promise<void>;
  /**
   * Everything materialised of a session, in no particular order, and the head it holds for, or undefined for an
   * unknown session.
   */
  rows(
    session: string,
  ): Promise<{ readonly head: Offset; readonly rows: readonly Row[] } | undefined>;
  /**
   * Batches whose last entry is after `after`, oldest first, whole ones only: the first may begin at or before
   * `after`. The batch with which `maxBytes` (UTF-8 bytes of JSON) are reached is the last one returned, so there is
   * at least one if there is any. Empty for an unknown session.
   */
  entries(session: string, after: Offset, maxBytes: number): Promise<readonly Batch[]>;
  /** Index rows that are due at `before` or earlier, soonest first; ties in no particular order. */
  due(query: DueQuery): Promise<readonly Due[]>;
  /** Rows by what they are tagged with, over all sessions. */
  find(query: FindQuery): Promise<FoundRows>;
  /** Sessions whose id is above `after`, ascending by code point (which is not JavaScript's string order). */
  sessions(query: {
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly SessionHead[]>;
  /**
   * Adds records to a session's audit, in order, and forgets those that {@link AUDIT_KEPT} says are too many. All or
   * none, durable before it resolves. It takes its turn among the session's appends and deletes, and shares their fate
   * in nothing: it looks at no head and moves none, and neither fails because the other did. Of an unknown session
   * nothing is kept.
   */
  addAudit(session: string, records: readonly AuditAddition[]): Promise<void>;
  /** What is kept of a session's audit above the number `after`, ascending. Empty for an unknown session. */
  audit(session: string, query: AuditQuery): Promise<readonly AuditRow[]>;
  /**
   * Takes content out of what is stored of a session: each batch takes the place of the stored one with its `last`, whose
   * offsets it has, and the audit's records of `late` lose their content. All or none, durable before it resolves, and
   * then nothing of what was replaced, by this or by an append before it, is in the storage's files. It takes its turn among
   * the session's appends and deletes, looks at no head and moves none. A batch that is not there is left out; unknown
   * sessions are fine.
   */
  erase(session: string, erasure: Erasure): Promise<void>;
  /** Removes a session and all that belongs to it; unknown sessions are fine. Durable before it resolves. */
  delete(session: string): Promise<void>;
  /** The storage's clock, Unix milliseconds: the one every deadline is measured on. */
  now(): number;
}

/**
 * One change of one session. Who makes it sees to it that a batch ends at `head`, and that every head is above the
 * one before; a batch that does not end at `head`, or not above `expect`, is refused with `failed`.
 */
export interface Commit {
  readonly session: string;
  /** The head this commit follows; null creates the session and conflicts where it exists. */
  readonly expect: Offset | null;
  readonly head: Offset;
  /** Stored as one row. Absent where the commit changes rows alone; then `head` equals `expect`. */
  readonly batch?: Batch;
  readonly rows: readonly RowChange[];
  readonly due: readonly DueChange[];
  /** Absent where nothing changes. */
  readonly tags?: readonly TagChange[];
}

/** Entries of one commit: the JSON text of an array, with what a reader needs to find them. */
export interface Batch {
  readonly after: Offset;
  readonly last: Offset;
  readonly count: number;
  readonly json: string;
}

/** What takes the place of stored content. */
export interface Erasure {
  readonly batches: readonly Batch[];
  /** A call, by the group of its late answers. */
  readonly late?: string;
}

/** A materialised row: its key is (session, kind, id). */
export interface Row {
  readonly kind: string;
  readonly id: string;
  readonly value: string;
}

/** A row to write, or to remove where `value` is null. */
export type RowChange = Omit<Row, "value"> & { readonly value: string | null };

/** A timer or a piece of work: its key is (session, kind, id). Firing and claiming are commands, so this is a hint. */
export interface Due {
  readonly session: string;
  readonly kind: string;
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** What to search by beside the kind, such as an agent's name. */
  readonly group: string;
}

/** An index row to write, or to remove where `at` is null. */
export type DueChange = Omit<Due, "session" | "at"> & { readonly at: number | null };

export interface DueQuery {
  readonly kinds: readonly string[];
  readonly group?: string;
  readonly before: number;
  readonly limit: number;
}

/**
 * What a row can be found by across sessions: takes the place of all tags that the row with this key had, and of its
 * time. Null removes them; a row without tags is not found. Removing the row itself leaves them as they are.
 */
export interface TagChange {
  readonly kind: string;
  readonly id: string;
  /** What found rows are ordered by. Unix milliseconds. */
  readonly at: number;
  readonly tags: readonly string[] | null;
}

/** Rows of a kind that have all of `tags`; without any, all of the kind that are tagged. */
export interface FindQuery {
  readonly kind: string;
  /** The first is searched by, the others are looked at: the rarest comes first. */
  readonly tags: readonly string[];
  /** Only those whose time is earlier than this. */
  readonly before?: number;
  /** The `next` of an earlier answer to the same query. One that is none of ours finds nothing. */
  readonly after?: string;
  readonly newestFirst?: boolean;
  readonly limit: number;
}

/** By their time; those of one time in an order that stays. */
export interface FoundRows {
  readonly rows: readonly FoundRow[];
  /**
   * Where to go on. Absent once there is nothing more; there may be one after fewer rows than were asked for, or none
   * at all, for a search ends early rather than keep others waiting.
   */
  readonly next?: string;
}

/** With how many characters of values a search ends, so that no list takes the memory of all that it lists. */
export const MOST_FOUND = 4 << 20;

export interface FoundRow {
  readonly session: string;
  readonly id: string;
  readonly at: number;
  /** The row itself. Rows that were tagged and do not exist are not found. */
  readonly value: string;
}

/**
 * What is kept of one refusal, beside the log, or of the chain that holds all of them. Its parts are apart so that `content` can be erased one day while `json`,
 * which holds a digest of it, stays as it was.
 */
export interface AuditRow {
  /** Counts what was written to the session's audit, from 1. Numbers of what was forgotten are missing. */
  readonly seq: number;
  readonly kind: AuditKind;
  /** What it is counted with: of a late answer its call, of any other refusal its actor; empty for the chain's own. */
  readonly group: string;
  /** What happened; never changes. */
  readonly json: string;
  /** What somebody sent with it, as far as that is kept. */
  readonly content: string | null;
}

export interface AuditQuery {
  /** The number of the last record that is not wanted. */
  readonly after: number;
  readonly limit: number;
  /** Default: all. */
  readonly kinds?: readonly AuditKind[];
}

/** A record to write; storage numbers it. */
export type AuditAddition = Omit<AuditRow, "seq">;

export type AuditKind = keyof typeof AUDIT_KEPT;

export type RefusalKind = "late" | "refused";

/** How many records of a kind are kept, the newest ones: of each group of a session, and of the session as a whole. */
export const AUDIT_KEPT = {
  late: { ofGroup: 8, ofSession: 1024 },
  refused: { ofGroup: 256, ofSession: 1024 },
  checkpoint: { ofGroup: 1024, ofSession: 1024 },
  /** Which refusals were kept at the newest checkpoint. */
  list: { ofGroup: 1, ofSession: 1 },
} as const;

export interface SessionHead {
  readonly session: string;
  readonly head: Offset;
}

/**
 * Where a server keeps what belongs to no session, in rows alone. It stands before every session: a session's id has no
 * control character.
 */
export const SERVER_ROWS = "\u0001server";

/** The session's head is not what the commit expected; nothing of it was written. */
export class StorageConflict extends Error {
  readonly session: string;
  /** Null where the session does not exist. */
  readonly head: Offset | null;

  constructor(session: string, expected: Offset | null, head: Offset | null) {
    super(
      `Session ${session} is at ${head ?? "nothing"}, not at ${expected ?? "nothing"}: read it again and decide again.`,
    );
    this.name = "StorageConflict";
    this.session = session;
    this.head = head;
  }
}

/**
 * The storage cannot do what was asked; `reason` says which kind, the message what to do.
 *
 * - `in_use`, `other_version`, `damaged` while opening: nothing on disk was touched. `damaged` may come from a later
 *   call too.
 * - `closed`: the call came after closing began; it changed nothing.
 * - `failed`: this call could not be done. An append may have become durable all the same if the storage failed as a
 *   whole (its disk or its process); then every later call fails, and who opens it again reads what holds.
 */
export class StorageError extends Error {
  readonly reason: "in_use" | "other_version" | "damaged" | "closed" | "failed";

  constructor(reason: StorageError["reason"], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "StorageError";
    this.reason = reason;
  }
}
