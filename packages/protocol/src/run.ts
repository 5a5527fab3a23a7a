import type { ErasedMark } from "./entry.ts";
import type { MessageContent, RunFailure, RunOutcome } from "./events.ts";
import type { Json, Metadata } from "./json.ts";
import type { Offset } from "./offset.ts";
import type { ToolDeclaration } from "./tool.ts";

/** A run's life (SPEC 5.1). */
export type RunStatus = "queued" | "active" | "suspended" | "ended";

/** Work answering one input. On the AI SDK face it is one assistant message, with the run's id. */
export interface Run {
  readonly id: string;
  readonly parentId?: string;
  readonly offset: Offset;
  readonly agent: string;
  readonly status: RunStatus;
  readonly outcome?: RunOutcome;
  readonly reason?: string;
  readonly error?: RunFailure;
  /** Runs that must end before this one starts. */
  readonly behind: readonly string[];
  /** What a worker must name to start it; present while it may be started. */
  readonly wakeId?: string;
  readonly queuedAt: number;
  readonly endedAt?: number;
  /** The number of its latest attempt; 0 before the first. */
  readonly attempt: number;
  readonly attemptOffset?: Offset;
  /** The newest one; absent before the first attempt. */
  readonly activation?: Activation;
  /** What others call its activations by, oldest first; the newest {@link MAX_REQUESTS}. */
  readonly requests?: readonly RunRequest[];
  /** What the newest request that brought anything says to the agent. */
  readonly input?: RunInput;
  readonly worker?: string;
  /** The wake id its current attempt was started with. */
  readonly startedBy?: string;
  /** Up to when its attempt is held, with the calls it executes, though nothing is heard of it. Unix milliseconds. */
  readonly heldUntil?: number;
  /** False for an attempt that never claims: its calls count as claimed from END until it ends. */
  readonly claims: boolean;
  /** What the attempt declared, frozen at its start. */
  readonly tools: readonly ToolDeclaration[];
  /** What clients advertised when the attempt started, frozen likewise; absent where that was nothing. */
  readonly clientTools?: readonly ToolDeclaration[];
  /** `tools` names every tool there is; another name is unknown. */
  readonly toolsComplete: boolean;
  /** Attempts lost in a row. */
  readonly losses: number;
  /** Attempts handed back in a row without a round; absent for none. */
  readonly releases?: number;
  /** Something happened that the agent has not seen (SPEC 5.3). */
  readonly news: boolean;
  /** The number of its latest round; 0 before the first. */
  readonly round: number;
  readonly openRounds: readonly number[];
  readonly steps?: readonly Step[];
  /** Where its history was last read, by what: a step's rounds are its own, everything else counts for all. */
  readonly reads?: readonly { readonly stepId?: string; readonly offset: Offset }[];
  /** Messages sent to it while it was active, oldest first. */
  readonly steers?: readonly Steer[];
  /** What it said is erased, with all its calls and messages; who asked for it, and when. */
  readonly erased?: ErasedMark;
  readonly metadata?: Metadata;
}

/**
 * From an attempt's start to its finish, or to where its run ends or waits for others. An attempt that is lost or handed
 * back does not end it where another follows.
 */
export interface Activation {
  /** Its first attempt. */
  readonly attempt: number;
  /** Where that started. */
  readonly offset: Offset;
  readonly ended?: true;
}

/** An id that somebody outside gave to one activation of a run. */
export interface RunRequest {
  readonly id: string;
  /** The attempt with which the activation begins. */
  readonly activation: number;
  /** Of all that was asked under the id. */
  readonly digest: string;
  readonly by: string;
}

/** What a request says to the agent, as AG-UI has it. */
export interface RunInput {
  readonly state?: Json;
  readonly context?: readonly Json[];
  readonly forwardedProps?: Json;
  readonly parentRunId?: string;
  /** Messages of the asker's own that are no user's: its system and developer messages. */
  readonly instructions?: readonly Json[];
}

/** How many requests a run keeps; an older id may be used again. */
export const MAX_REQUESTS = 64;

/** A durable retry unit inside a run (SPEC 5.7). Starting it again takes back what its last attempt wrote. */
export interface Step {
  readonly id: string;
  /** From 1. */
  readonly attempt: number;
  readonly status: "open" | "ended";
  /** The batch that began it, by which its repeat is known. */
  readonly startedBy?: {
    readonly attempt: number;
    readonly producer: string;
    readonly seq: number;
  };
}

/** A message that an active run is to take up in its next round. */
export interface Steer {
  readonly messageId: string;
  readonly offset: Offset;
  /** Absent while it waits. False: the run ended, or its attempt finished, without having read it. */
  readonly consumed?: boolean;
}

/** A user's message. */
export interface MessageNode {
  /** The run it steers, where it is no input of its own. */
  readonly steers?: string;
  readonly id: string;
  readonly role: "user";
  readonly content: MessageContent;
  readonly parentId?: string;
  readonly offset: Offset;
  readonly by: string;
  readonly at: number;
  /** What it said is erased; who asked for it, and when. */
  readonly erased?: ErasedMark;
  readonly metadata?: Metadata;
}
