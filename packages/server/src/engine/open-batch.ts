import type { Receipt } from "./receipts.ts";
import type { Refusal } from "./refusal.ts";
import type { Snapshot } from "./visibility.ts";

/** Somebody who hears of a batch once it is durable, or that it never will be. */
export interface Waiting {
  readonly done: () => void;
  readonly failed: (error: Error) => void;
}

/** What gathers of a session while its last commit is in flight, beside the draft. */
export interface OpenBatch {
  readonly waiting: Waiting[];
  readonly readers: Waiting[];
  /** In order; null for one that is forgotten. */
  readonly receipts: (readonly [id: string, receipt: Receipt | null])[];
  snapshot: Snapshot | undefined;
  refusals: readonly Refusal[] | undefined;
  /** How many acts it holds; known once it is sealed. */
  acts: number;
}

export function openBatch(): OpenBatch {
  return {
    waiting: [],
    readers: [],
    receipts: [],
    snapshot: undefined,
    refusals: undefined,
    acts: 0,
  };
}
