import type { Commit, Storage } from "../../src/storage/storage.ts";

/** A storage whose appends can be made to wait, or to fail, so that a test sees what happens meanwhile. */
export interface Held {
  /** What the code under test is given. Reads, deletes and the clock pass straight through. */
  readonly storage: Storage;
  /**
   * From now on appends wait: `before` they reach the storage, so that nothing of them is durable, or `after` they
   * are durable, so that only the answer is missing.
   */
  hold(where: "before" | "after"): void;
  /** The commits that wait, oldest first. */
  waiting(): readonly Commit[];
  /** Resolves once at least `count` commits wait. */
  held(count: number): Promise<void>;
  /** Lets all that wait go on, in order, and holds no more. */
  release(): void;
  /** Rejects all that wait and holds no more. What waited `before` is never written; what waited `after` is. */
  fail(error: Error): void;
}

/** Wraps a storage; until `hold` is called it behaves as the one it wraps. */
export function withHold(inner: Storage): Held {
  let holding: "before" | "after" | undefined;
  let waiting: Waiting[] = [];
  let watchers: { count: number; resolve: () => void }[] = [];

  /** Waits, then goes on with `next`, which is called within `release` so that the order stays. */
  function wait(commit: Commit, next: () => Promise<void>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push({ commit, go: () => void next().then(resolve, reject), reject });
    for (const watcher of watchers) if (waiting.length >= watcher.count) watcher.resolve();
    watchers = watchers.filter((watcher) => waiting.length < watcher.count);
    return promise;
  }

  function end(settle: (entry: Waiting) => void): void {
    const ended = waiting;
    waiting = [];
    holding = undefined;
    ended.forEach(settle);
  }

  const storage: Storage = {
    async append(commit) {
      if (holding === "before") return wait(commit, () => inner.append(commit));
      await inner.append(commit);
      if (holding === "after") await wait(commit, () => Promise.resolve());
    },
    rows: (session) => inner.rows(session),
    entries: (session, after, maxBytes) => inner.entries(session, after, maxBytes),
    due: (query) => inner.due(query),
    find: (query) => inner.find(query),
    sessions: (query) => inner.sessions(query),
    addAudit: (session, records) => inner.addAudit(session, records),
    audit: (session, query) => inner.audit(session, query),
    erase: (session, erasure) => inner.erase(session, erasure),
    delete: (session) => inner.delete(session),
    now: () => inner.now(),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };

  return {
    storage,
    hold: (where) => (holding = where),
    waiting: () => waiting.map((entry) => entry.commit),
    held: (count) =>
      new Promise((resolve) => {
        if (waiting.length >= count) resolve();
        else watchers.push({ count, resolve });
      }),
    release: () => end((entry) => entry.go()),
    fail: (error) => end((entry) => entry.reject(error)),
  };
}

interface Waiting {
  readonly commit: Commit;
  readonly go: () => void;
  readonly reject: (error: Error) => void;
}
