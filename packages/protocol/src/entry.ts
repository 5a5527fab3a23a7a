import type { Event } from "./events.ts";
import type { Offset } from "./offset.ts";

/** Where in a run an entry belongs; absent for entries about the session. */
export interface Scope {
  readonly runId?: string;
  readonly attempt?: number;
  readonly round?: number;
  readonly stepId?: string;
  readonly stepAttempt?: number;
}

/** One record of a session's log (SPEC 3.1). `at` is the server's Unix time in milliseconds; `actor` its verified principal. */
export interface Entry extends Scope {
  readonly offset: Offset;
  readonly at: number;
  readonly actor: string;
  readonly event: Event;
  /** Of an act: random, so that its digest tells nothing once what it says is erased (SPEC 6.14). Goes with that. */
  readonly salt?: string;
  /** What the event said is erased (SPEC 6.21): by whom and when, and of an act its digest, as the session's chain has it. */
  readonly erased?: Partial<ErasedMark> & { readonly digest?: string };
}

/** Who had something erased, and when, Unix milliseconds. */
export interface ErasedMark {
  readonly by: string;
  readonly at: number;
}

/**
 * Entries of one commit as they travel. `after` is the offset they follow, so that a reader sees a hole without
 * parsing offsets.
 */
export interface Frame {
  readonly after: Offset;
  readonly entries: readonly Entry[];
}
