import type { Actor, Env } from "@holdfast/protocol";
import type { Commit, DueChange, Storage } from "../storage/storage.ts";
import type { SessionActor } from "./actor.ts";
import type { Audit } from "./audit.ts";
import type { Terms } from "./due.ts";
import type { Leases } from "./leases.ts";

/** What an actor needs of the engine around it. */
export interface ActorContext {
  readonly storage: Storage;
  readonly leases: Leases;
  readonly audit: Audit;
  readonly terms: Terms;
  /** How long a batch waits for company before it is sealed, in milliseconds; 0: only while a commit is in flight. */
  readonly coalesceMs: number;
  /** The most frame text that waits for one subscriber, in characters. */
  readonly subscriberBytes: number;
  readonly schedule: (ms: number, run: () => void) => () => void;
  env(actor: Actor): Env;
  /** Makes the salt of an act's entry. */
  readonly salt: () => string;
  /** Called after each commit that holds acts. */
  acted(session: string, acts: number): void;
  /** Called after each commit that changed what is found across sessions. */
  committed(session: string, commit: Pick<Commit, "rows" | "due" | "tags">): void;
  /** Called after a commit that failed, and yet may have written index rows. */
  unsure(session: string, due: readonly DueChange[]): void;
  /** Called once, when the actor must not be used any more. */
  dropped(actor: SessionActor): void;
}
