import type { Answer } from "./call.ts";
import type { ErasedTarget } from "./erase.ts";
import type { ContentEvent, InvalidArguments, MessageContent, RunFailure } from "./events.ts";
import type { Rejection } from "./errors.ts";
import type { Json, Metadata } from "./json.ts";
import type { Offset } from "./offset.ts";
import type { Policy } from "./policy.ts";
import type { RunInput } from "./run.ts";
import type { ToolDeclaration } from "./tool.ts";

/** A request to change a session (SPEC 6). `id` is the idempotency key, kept 24 hours with its verdict. */
export type Command = { readonly id: string } & CommandBody;

export type CommandBody = ClientCommand | AgentCommand;

/** What people and applications ask. */
export type ClientCommand =
  | MessageSend
  | RunRequestCommand
  | { readonly type: "run.cancel"; readonly runId: string; readonly reason?: string }
  | { readonly type: "tools.advertise"; readonly tools: readonly ToolDeclaration[] }
  | { readonly type: "policy.set"; readonly policy: Partial<Policy> }
  | SessionUpdate
  /** Ends what the session has under way, and takes nothing more: for good. */
  | { readonly type: "session.close"; readonly reason?: string }
  | ContentErase
  | CallDecide
  /** Takes an `always` back: the tool asks again. */
  | { readonly type: "approval.revoke"; readonly tool: string }
  | { readonly type: "call.cancel"; readonly callId: string; readonly reason?: string }
  | CallCommand;

/** Commands of a call's executor, on either side. */
export type CallCommand =
  | {
      readonly type: "call.claim";
      readonly callId: string;
      readonly force?: boolean;
      /** The digest of the tool's schema that the claimer executes: another than the call's is `not_executor`. */
      readonly toolDigest?: string;
    }
  | { readonly type: "call.renew"; readonly callId: string; readonly claimId: string }
  | { readonly type: "call.release"; readonly callId: string; readonly claimId: string }
  | CallProgress
  | CallAnswerCommand;

export interface MessageSend {
  readonly type: "message.send";
  /** Given by the sender; a message id is used once in a session. */
  readonly messageId: string;
  readonly content: MessageContent;
  /** Default: the tip of the path. */
  readonly parentId?: string;
  /** Overrides the session's policy for this message. */
  readonly whileActive?: Policy["whileActive"];
  readonly whilePending?: Policy["whilePending"];
  readonly metadata?: Metadata;
}

/** Calls a run's activation by an id of the sender's own, as AG-UI clients do (SPEC 12.1). */
export interface RunRequestCommand {
  readonly type: "run.request";
  readonly requestId: string;
  /** Of all that was asked under the id: the same again is a repeat, another is `key_reused`. */
  readonly digest: string;
  /** Whose run: the one that answers a message, that has a call, or itself. */
  readonly of:
    | { readonly messageId: string }
    | { readonly callId: string }
    | { readonly runId: string };
  readonly input?: RunInput;
}

/** Erases what one call, one message or one whole run says, from state, log and audit. */
export type ContentErase = ErasedTarget & {
  readonly type: "content.erase";
  readonly reason?: string;
};

/** Changes what a session is told apart by. What is not named stays. */
export interface SessionUpdate {
  readonly type: "session.update";
  /** Member by member: null takes one away. */
  readonly metadata?: Metadata;
  /** How long after the last accepted act the session is deleted, in milliseconds; null: never. */
  readonly ttlMs?: number | null;
}

export interface CallDecide {
  readonly type: "call.decide";
  readonly callId: string;
  /** What is decided upon: the approval's id, or the digest of the arguments that were shown. One is required. */
  readonly approvalId?: string;
  readonly digest?: string;
  readonly approved: boolean;
  readonly reason?: string;
  /** Edit-then-approve: the arguments to run with instead. */
  readonly arguments?: string;
  /** Approve this tool for the rest of the session too. */
  readonly always?: boolean;
  /** What the decider sent, word for word, for an agent that reads more than yes and no. */
  readonly payload?: Json;
}

export interface CallProgress {
  readonly type: "call.progress";
  readonly callId: string;
  readonly claimId?: string;
  readonly progress: Json;
  readonly metadata?: Metadata;
}

export interface CallAnswerCommand {
  readonly type: "call.answer";
  readonly callId: string;
  readonly claimId?: string;
  readonly outcome: "ok" | "error";
  readonly answer: Answer;
  /** Declining is an error the person chose; the model is told so. */
  readonly declined?: boolean;
  /** The id of the tool message it becomes; minted where absent. */
  readonly messageId?: string;
  readonly metadata?: Metadata;
}

/** What an attempt asks, with its token. */
export type AgentCommand =
  | RunAppend
  | RunHeartbeat
  | (Fence & { readonly type: "run.finish" })
  | (Fence & { readonly type: "run.fail"; readonly error: RunFailure })
  /** Hands the attempt back: the run goes to another as after a loss, and no loss is counted. */
  | (Fence & { readonly type: "run.release" })
  /** Opens a step, or starts it again: what its last attempt wrote leaves the history. `step_settled` once others used it. */
  | (Fence & { readonly type: "step.start"; readonly stepId: string })
  /** Ends the step the batch belongs to. */
  | (Fence & { readonly type: "step.end"; readonly stepId: string; readonly stepAttempt: number });

/** The attempt is at work: its lease begins anew. */
export interface RunHeartbeat {
  readonly type: "run.heartbeat";
  readonly runId: string;
  readonly attempt: number;
  /**
   * Unix milliseconds up to which the attempt, with the calls it executes now, is held though nothing is heard of it, by
   * no process or several; the server bounds it, and outlives restarts with it. Never shortens what was given.
   */
  readonly until?: number;
}

/**
 * Says whether an append is still allowed (SPEC 5.2). `seq` counts one producer's batches in an attempt from 1;
 * a repeat changes nothing, a hole is `sequence_gap`, an older attempt is `attempt_fenced`.
 */
export interface Fence {
  readonly runId: string;
  readonly attempt: number;
  readonly producer: string;
  readonly seq: number;
  /** The step the batch belongs to, with the attempt that `step.start` gave; an older one is `attempt_fenced`. */
  readonly stepId?: string;
  readonly stepAttempt?: number;
}

/** Items in order; one that is refused is skipped and named in the verdict, the others stand. */
export interface RunAppend extends Fence {
  readonly type: "run.append";
  readonly items: readonly AgentItem[];
  /** Never sent: how many items, as they were sent, each of `items` stands for, where that is not one each. */
  readonly joined?: readonly number[];
}

/** What an attempt may append. */
export type AgentItem =
  | ContentEvent
  /** `steers` names the steering messages that the round's model request holds. Absent: all that wait. */
  | { readonly type: "round.open"; readonly steers?: readonly string[] }
  | { readonly type: "round.close" }
  /** Takes the open round back: its content and calls leave the history. */
  | { readonly type: "round.withdraw"; readonly reason?: string }
  | { readonly type: "run.annotate"; readonly metadata: Metadata }
  | { readonly type: "call.annotate"; readonly callId: string; readonly metadata: Metadata }
  /** The call's final arguments, where they differ from its deltas. Only before END. */
  | { readonly type: "call.replace_arguments"; readonly callId: string; readonly arguments: string }
  /** The framework found the arguments invalid. Only before its round closes. */
  | { readonly type: "call.invalidate"; readonly callId: string; readonly error: InvalidArguments }
  | CallAsk
  | CallProgress
  | CallAnswerCommand;

/** The agent wants a decision before the call runs. */
export interface CallAsk {
  readonly type: "call.ask";
  readonly callId: string;
  /** The framework's or provider's own id where it minted one. */
  readonly approvalId?: string;
  readonly reason?: string;
  /** The request is signed, so its arguments cannot be edited. */
  readonly signed?: boolean;
  /** Asks once more of a call that was approved and is not executed: it waits for a decision anew. */
  readonly again?: boolean;
  /** Unix milliseconds after which no decision is wanted any more; the sooner of this and what the tool says holds. */
  readonly expiresAt?: number;
  readonly metadata?: Metadata;
}

/** The server's word on a command. `offset` is the session's head once it holds; nothing before it is still to come. */
export interface Verdict {
  readonly id: string;
  readonly status: "applied" | "rejected";
  readonly offset: Offset;
  readonly error?: Rejection;
  /** The command's repeat changed nothing. */
  readonly repeated?: boolean;
  /** Items of an append that were refused; the rest of it stands. */
  readonly skipped?: readonly { readonly index: number; readonly error: Rejection }[];
  /** The batch went past a budget and so ended its run, in this error. Items after that one are skipped, `run_ended`. */
  readonly ended?: RunFailure;
  /** What the command made: the run of a message, the claim of a call. */
  readonly runId?: string;
  /** Of a request: the attempt with which the activation begins that it asked for. */
  readonly activation?: number;
  readonly claimId?: string;
  /** The session's id for the call that was claimed. */
  readonly callId?: string;
  /** What the claimed call is to be executed with, where the claimer does not see its tool's data otherwise. */
  readonly arguments?: string;
  /** Up to when an attempt is held, Unix milliseconds, where that was asked for. */
  readonly heldUntil?: number;
  /** The attempt of the step that was started. */
  readonly stepAttempt?: number;
  /** Of an answer: it was larger than it may be, in bytes, and its call settled as error: result_too_large. */
  readonly resultTooLarge?: { readonly limit: number; readonly value: number };
}

/** Every command's type, for edges that must tell an unknown one from a malformed one. */
export const COMMAND_TYPES = [
  "message.send",
  "run.request",
  "run.cancel",
  "tools.advertise",
  "policy.set",
  "session.update",
  "session.close",
  "content.erase",
  "call.decide",
  "approval.revoke",
  "call.cancel",
  "call.claim",
  "call.renew",
  "call.release",
  "call.progress",
  "call.answer",
  "run.append",
  "run.heartbeat",
  "run.finish",
  "run.fail",
  "run.release",
  "step.start",
  "step.end",
] as const satisfies readonly CommandBody["type"][];
