import {
  type AuditAddition,
  type Commit,
  type Erasure,
  type Storage,
  StorageConflict,
  StorageError,
} from "./storage.ts";

/** A change of one session, as it waits for its group. */
export type Change =
  | { readonly type: "append"; readonly commit: Commit }
  | {
      readonly type: "audit";
      readonly session: string;
      readonly records: readonly AuditAddition[];
    }
  | { readonly type: "erase"; readonly session: string; readonly erasure: Erasure }
  | { readonly type: "delete"; readonly session: string };

/** What became of one change of a group that was written. */
export type Outcome =
  | { readonly type: "done" }
  | { readonly type: "conflict"; readonly head: string | null }
  | { readonly type: "failed"; readonly error: StorageError };

/** The writing half of a storage, and its end. */
export interface Group extends Pick<Storage, "append" | "delete" | "addAudit" | "erase"> {
  /** @throws StorageError `closed` once it is */
  readonly check: () => void;
  /** Takes nothing more, waits until all that was taken has settled, and ends the storage. Safe to repeat. */
  readonly close: () => Promise<void>;
}

/**
 * Group commit: all that is called until `soon` calls back is one group. Groups are written without waiting for each
 * other, but of one session nothing is on its way twice: what follows waits for the outcome, in the order it came.
 *
 * @param write makes one group durable and tells each change's outcome, in order. Groups may be durable together. Within
 *   one it owes what the contract says of order and independence ({@link Broken} helps). It rejects if the group as a
 *   whole failed.
 * @param end ends the storage, once, when nothing is being written any more
 * @param soon by default at the end of this turn of the event loop: with what every connection that is ready has sent
 */
export function groupChanges(
  write: (changes: readonly Change[]) => Promise<readonly Outcome[]>,
  end: () => void | Promise<void>,
  soon: (run: () => void) => void = setImmediate,
): Group {
  let waiting: Waiting[] = [];
  /** The sessions of which something is on its way. */
  const busy = new Set<string>();
  let planned = false;
  let closed: Promise<void> | undefined;
  let whenIdle: (() => void) | undefined;

  function add(change: Change): Promise<void> {
    if (closed) return Promise.reject(isClosed());
    return new Promise((resolve, reject) => {
      waiting.push({ change, resolve, reject });
      plan();
    });
  }

  function plan(): void {
    if (planned) return;
    planned = true;
    soon(() => {
      planned = false;
      const group = take();
      if (group.length > 0) void writeOne(group);
    });
  }

  /** All that need not wait for anything. */
  function take(): readonly Waiting[] {
    const group = busy.size === 0 ? waiting : waiting.filter((it) => !busy.has(sessionOf(it)));
    waiting =
      group.length === waiting.length ? [] : waiting.filter((it) => busy.has(sessionOf(it)));
    for (const entry of group) busy.add(sessionOf(entry));
    return group;
  }

  async function writeOne(group: readonly Waiting[]): Promise<void> {
    const broken = new Broken();
    try {
      const outcomes = await write(group.map((entry) => entry.change));
      group.forEach((entry, index) => settle(entry, outcomes[index] ?? lost, broken));
    } catch (cause) {
      const error = asFailure(cause);
      for (const entry of group) settle(entry, { type: "failed", error }, broken);
    }
    for (const entry of group) busy.delete(sessionOf(entry));
    if (broken.any) waiting = waiting.filter((entry) => !rejectBroken(entry, broken));
    if (waiting.length > 0) plan();
    else if (busy.size === 0) whenIdle?.();
  }

  async function finish(): Promise<void> {
    if (waiting.length > 0 || busy.size > 0) {
      await new Promise<void>((resolve) => (whenIdle = resolve));
    }
    await end();
  }

  return {
    append: (commit) => add({ type: "append", commit }),
    erase: (session, erasure) => add({ type: "erase", session, erasure }),
    delete: (session) => add({ type: "delete", session }),
    addAudit: (session, records) => add({ type: "audit", session, records }),
    check() {
      if (closed) throw isClosed();
    },
    close: () => (closed ??= finish()),
  };
}

/** The sessions of which an append failed, so that those behind it fail as well. */
export class Broken {
  readonly #errors = new Map<string, StorageError>();

  get any(): boolean {
    return this.#errors.size > 0;
  }

  /**
   * The error a change must be refused with, if any. A delete builds on nothing, and heals its session; audit records
   * and erasures build on nothing either.
   */
  refusal(change: Change): StorageError | undefined {
    if (this.#errors.size === 0) return undefined;
    if (change.type === "append") return this.#errors.get(change.commit.session);
    this.heal(change);
    return undefined;
  }

  /** Takes note that a change was made: where it was a delete, nothing that failed before it is left to build on. */
  heal(change: Change): void {
    if (change.type === "delete") this.#errors.delete(change.session);
  }

  /** Takes note that a change failed. */
  add(change: Change, error: StorageError): void {
    if (change.type === "append") this.#errors.set(change.commit.session, error);
  }
}

/** The error as one of storage's own; any other becomes the cause of one. */
export function asFailure(cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StorageError("failed", `The storage failed: ${message}`, { cause });
}

/**
 * What is wrong with a commit, or undefined: a batch must lie behind all others of its session, and text be well-formed
 * Unicode, for no storage could keep it exactly.
 */
export function malformed(commit: Commit): StorageError | undefined {
  return misplaced(commit) ?? illFormed(commit);
}

function misplaced({ session, expect, head, batch }: Commit): StorageError | undefined {
  if (!batch || (batch.last === head && (expect === null || head > expect))) return undefined;
  return new StorageError(
    "failed",
    `A commit of session ${session} from ${expect ?? "nothing"} to ${head} brings a batch up to ${batch.last}.`,
  );
}

function illFormed(commit: Commit): StorageError | undefined {
  const { session, expect, head, batch, rows, due, tags = [] } = commit;
  const good =
    session.isWellFormed() &&
    head.isWellFormed() &&
    (expect?.isWellFormed() ?? true) &&
    (batch === undefined ||
      (batch.json.isWellFormed() && batch.after.isWellFormed() && batch.last.isWellFormed())) &&
    rows.every(
      (row) =>
        row.kind.isWellFormed() && row.id.isWellFormed() && (row.value?.isWellFormed() ?? true),
    ) &&
    due.every(
      (row) => row.kind.isWellFormed() && row.id.isWellFormed() && row.group.isWellFormed(),
    ) &&
    tags.every(
      (row) =>
        row.kind.isWellFormed() &&
        row.id.isWellFormed() &&
        (row.tags ?? []).every((tag) => tag.isWellFormed()),
    );
  if (good) return undefined;
  return new StorageError(
    "failed",
    `A commit of session ${session} holds a lone surrogate; storage keeps well-formed Unicode only.`,
  );
}

interface Waiting {
  readonly change: Change;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const lost: Outcome = {
  type: "failed",
  error: new StorageError("failed", "The storage gave no outcome for an append."),
};

function sessionOf({ change }: Waiting): string {
  return change.type === "append" ? change.commit.session : change.session;
}

function isClosed(): StorageError {
  return new StorageError("closed", "The storage is closed.");
}

function settle(entry: Waiting, outcome: Outcome, broken: Broken): void {
  switch (outcome.type) {
    case "done":
      broken.heal(entry.change);
      return entry.resolve();
    case "conflict":
      return entry.reject(conflictOf(entry.change, outcome.head));
    case "failed":
      broken.add(entry.change, outcome.error);
      return entry.reject(outcome.error);
  }
}

function rejectBroken(entry: Waiting, broken: Broken): boolean {
  const error = broken.refusal(entry.change);
  if (error !== undefined) entry.reject(error);
  return error !== undefined;
}

function conflictOf(change: Change, head: string | null): StorageConflict {
  return change.type === "append"
    ? new StorageConflict(change.commit.session, change.commit.expect, head)
    : new StorageConflict(change.session, null, head);
}
