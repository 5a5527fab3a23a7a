import { memoryStorage } from "../../src/storage/memory.ts";
import { StorageConflict, type Commit, type Storage } from "../../src/storage/storage.ts";

/** A storage whose commits a test can hold back, fail and weigh. */
export interface Gate {
  readonly storage: Storage;
  /** Every commit that storage took. */
  readonly commits: Commit[];
  /** From now on commits wait. */
  readonly hold: () => void;
  /** Those that wait go on, and later ones are not held. */
  readonly release: () => void;
  /** How many commits wait. */
  readonly waiting: () => number;
  /** The next commit is refused and nothing of it is written. */
  readonly failNext: (error?: Error) => void;
  /** Somebody else writes to the session, behind the engine's back. */
  readonly conflictNext: () => void;
}

export function gate(now: () => number = Date.now): Gate {
  const inner = memoryStorage({ now });
  const commits: Commit[] = [];
  let failure: ((commit: Commit) => Error) | undefined;
  let held: Promise<void> | undefined;
  let open = () => {};
  let waiting = 0;
  const storage: Storage = {
    ...inner,
    async append(commit) {
      if (failure) {
        const error = failure(commit);
        failure = undefined;
        throw error;
      }
      if (held) {
        waiting += 1;
        await held;
        waiting -= 1;
      }
      await inner.append(commit);
      commits.push(commit);
    },
    now: () => inner.now(),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
  return {
    storage,
    commits,
    hold: () => void (held = new Promise((resolve) => (open = resolve))),
    release() {
      open();
      held = undefined;
    },
    waiting: () => waiting,
    failNext: (error = new Error("the disk is full")) => void (failure = () => error),
    conflictNext: () =>
      void (failure = ({ session, expect }) => new StorageConflict(session, expect, "elsewhere")),
  };
}
