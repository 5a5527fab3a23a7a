import type { ErasedMark } from "./entry.ts";
import type { ContentEvent } from "./events.ts";
import type { Metadata } from "./json.ts";
import type { Offset } from "./offset.ts";
import type { MessageNode } from "./run.ts";

/** Ids that the reduction gives to rounds, kept events and messages that steer (SPEC 2.1.4). */
export const OWN_IDS = /^(?:round|event|steer):/;

interface ItemBase {
  readonly id: string;
  readonly runId: string;
  readonly round?: number;
  readonly stepId?: string;
  readonly stepAttempt?: number;
  /** Where it opened. Orders it among its run's items and calls. */
  readonly offset: Offset;
}

/** A text or reasoning message: grows while `open`. */
export interface TextItem extends ItemBase {
  readonly kind: "text" | "reasoning";
  readonly status: "open" | "closed";
  readonly text: string;
  /** The last delta folded into `text`. */
  readonly upTo: Offset;
  /** Of a text: as whom it is said. Absent: the assistant. */
  readonly role?: "developer" | "system" | "user";
  readonly name?: string;
  /** The subagent whose words they are; absent for the agent's own. */
  readonly subagentRunId?: string;
  /** What it said is erased; who asked for it, and when. */
  readonly erased?: ErasedMark;
  readonly metadata?: Metadata;
}

/** The beginning of a round. */
export interface RoundItem extends ItemBase {
  readonly kind: "round";
  readonly round: number;
  readonly status: "open" | "closed";
}

/** A content event kept whole: CUSTOM, RAW, state, activity, steps, subagents, reasoning spans. */
export interface EventItem extends ItemBase {
  readonly kind: "event";
  readonly event: ContentEvent;
}

/** Where a message that steers the run was read. */
export interface SteerItem extends ItemBase {
  readonly kind: "steer";
  readonly message: MessageNode;
}

/** What a run's content consists of beside its calls. */
export type Item = TextItem | RoundItem | EventItem | SteerItem;
