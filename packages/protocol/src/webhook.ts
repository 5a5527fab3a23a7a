import type { Waiting } from "./waiting.ts";

/** What the server tells a webhook. Small, and without content: who is told reads the rest with a token of its own. */
export type WebhookEvent = RunWake | CallNotice;

/** A run has work for its agent. Its wake id is the message's id, and starts the run's attempt, once. */
export interface RunWake {
  readonly type: "run.wake";
  readonly session: string;
  readonly runId: string;
  readonly wakeId: string;
  readonly agent: string;
  /** When the run was queued, Unix milliseconds. */
  readonly at: number;
}

/** A call waits for people. `call.waiting`: and nobody is connected. `call.escalate`: and has for too long. */
export interface CallNotice {
  readonly type: "call.waiting" | "call.escalate";
  readonly session: string;
  readonly runId: string;
  readonly callId: string;
  readonly agent: string;
  /** The tool's name. */
  readonly tool: string;
  /** Whom it waits for, since when, and until when at most. */
  readonly waiting: Waiting;
}
