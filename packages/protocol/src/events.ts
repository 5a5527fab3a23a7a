import type * as agui from "@ag-ui/core";
import type { Answer, CallOutcome, SettleReason } from "./call.ts";
import type { Json, Metadata } from "./json.ts";
import type { Policy } from "./policy.ts";
import type { RunInput } from "./run.ts";
import type { ToolDeclaration } from "./tool.ts";

/** An AG-UI event with its `type` as a plain string literal instead of an enum member. */
export type Plain<E extends { type: string }> = E extends unknown
  ? Omit<E, "type"> & { type: `${E["type"]}` }
  : never;

/**
 * AG-UI 1.0 content events, stored as they are (SPEC 2.1). Chunks are expanded before they get here;
 * run lifecycle and TOOL_CALL_RESULT are projections of session events and are never stored.
 */
export type ContentEvent = Plain<
  | agui.TextMessageStartEvent
  | agui.TextMessageContentEvent
  | agui.TextMessageEndEvent
  | agui.ReasoningStartEvent
  | agui.ReasoningMessageStartEvent
  | agui.ReasoningMessageContentEvent
  | agui.ReasoningMessageEndEvent
  | agui.ReasoningEndEvent
  | agui.ReasoningEncryptedValueEvent
  | (agui.ToolCallStartEvent & Redacted)
  | agui.ToolCallArgsEvent
  | agui.ToolCallEndEvent
  | agui.StateSnapshotEvent
  | agui.StateDeltaEvent
  | agui.ActivitySnapshotEvent
  | agui.ActivityDeltaEvent
  | agui.SubagentStartedEvent
  | agui.SubagentFinishedEvent
  | agui.SubagentErrorEvent
  | agui.StepStartedEvent
  | agui.StepFinishedEvent
  | agui.CustomEvent
  | agui.RawEvent
>;

/** On what a reader gets of a call whose tool's data it may not see; never stored. */
interface Redacted {
  redacted?: true;
}

/** What a user's message holds: AG-UI text, or AG-UI content parts. */
export type MessageContent = string | agui.ContentPart[];

/**
 * What the protocol itself reads from `metadata.holdfast` of a TOOL_CALL_START (SPEC 2.3).
 * Everything else in `metadata` belongs to the codec whose name is its key.
 */
export interface CallHints {
  /** `provider`: the model's provider executes the call. `client`: the agent has no way to execute it. */
  readonly executor?: "client" | "provider";
  /** `text`: the arguments are plain text, never parsed. Default `json`. */
  readonly argumentsEncoding?: "json" | "text";
  /** The id the provider used, where it differs from the session's. */
  readonly providerCallId?: string;
  /** The call's own deadline, Unix milliseconds; the sooner of this and what its tool says holds. */
  readonly deadlineAt?: number;
}

/** Session events about nodes and runs (SPEC 2.2). Run-scoped ones name their run in the entry. */
export type RunEvent =
  | {
      type: "message.added";
      messageId: string;
      role: "user";
      content: MessageContent;
      parentId?: string;
      /** The active run it steers; then no run of its own answers it. */
      steers?: string;
      metadata?: Metadata;
    }
  | { type: "run.added"; parentId?: string; agent: string }
  | {
      type: "run.queued";
      reason: "added" | "freed" | "barrier" | "news" | "lost" | "released";
      wakeId?: string;
      behind?: string[];
    }
  | { type: "run.suspended" }
  | {
      type: "run.requested";
      requestId: string;
      /** The attempt with which the activation begins. */
      activation: number;
      digest: string;
      input?: RunInput;
    }
  | { type: "run.annotated"; metadata: Metadata }
  | { type: "run.ended"; outcome: RunOutcome; reason?: string; error?: RunFailure }
  | {
      type: "attempt.started";
      worker: string;
      wakeId: string;
      claims: boolean;
      tools?: ToolDeclaration[];
      complete?: boolean;
    }
  | { type: "attempt.finished" }
  | { type: "attempt.lost"; reason: string }
  | { type: "attempt.released"; reason?: string }
  | { type: "attempt.held"; until: number }
  | { type: "round.opened"; round: number }
  | { type: "round.closed"; round: number }
  | { type: "round.superseded"; round: number; reason: string }
  | {
      type: "step.started";
      stepId: string;
      stepAttempt: number;
      /** The batch it came with. */
      producer?: string;
      seq?: number;
    }
  | { type: "step.ended"; stepId: string; stepAttempt: number }
  | { type: "step.superseded"; stepId: string; stepAttempt: number }
  | { type: "run.steered"; messageId: string }
  | { type: "run.steer_settled"; messageId: string; consumed: boolean };

export type RunOutcome = "complete" | "cancelled" | "error";

/** Why a run failed: a code of the agent's own or of the protocol, and words for people. */
export interface RunFailure {
  readonly code: string;
  readonly message: string;
}

/** Session events about calls (SPEC 2.2, 4). */
export type CallEvent =
  | { type: "call.arguments_replaced"; callId: string; arguments: string }
  | { type: "call.annotated"; callId: string; metadata: Metadata }
  | { type: "call.replayed"; callId: string; of: string }
  | { type: "call.invalid"; callId: string; error: InvalidArguments }
  | {
      type: "call.approval_requested";
      callId: string;
      approvalId: string;
      by: "agent" | "policy";
      digest: string;
      reason?: string;
      signed?: boolean;
      /** What its agent asked for; how long it waits in the end, `call.gated` says. */
      expiresAt?: number;
      metadata?: Metadata;
    }
  | { type: "call.gated"; callId: string; expiresAt?: number; escalateAt?: number }
  | { type: "call.opened"; callId: string; deadlineAt?: number; escalateAt?: number }
  | {
      type: "call.decided";
      callId: string;
      approvalId: string;
      approved: boolean;
      digest: string;
      reason?: string;
      automatic?: boolean;
      /** Of an automatic one: whose word it rests on. */
      onBehalfOf?: string;
      arguments?: string;
      /** What the decider sent. */
      payload?: Json;
    }
  | { type: "call.claimed"; callId: string; claimId: string; implicit?: boolean; forced?: boolean }
  | {
      type: "call.released";
      callId: string;
      claimId: string;
      reason: "released" | "expired" | "lost";
      status: "open" | "ended";
      manual?: boolean;
    }
  | { type: "call.progressed"; callId: string; progress: Json; metadata?: Metadata }
  | {
      type: "call.answered";
      callId: string;
      messageId: string;
      outcome: "ok" | "error";
      answer: Answer;
      reason?: SettleReason;
      metadata?: Metadata;
    }
  | {
      type: "call.answer_replaced";
      callId: string;
      messageId: string;
      outcome: "ok" | "error";
      answer: Answer;
      reason?: SettleReason;
      metadata?: Metadata;
    }
  | { type: "call.escalated"; callId: string }
  | {
      type: "call.settled";
      callId: string;
      outcome: Exclude<CallOutcome, "ok" | "denied">;
      reason: SettleReason;
      message?: string;
    };

/** Why arguments were refused: a sentence for the model, and the JSON pointers it is about. */
export interface InvalidArguments {
  readonly message: string;
  readonly paths?: string[];
}

export type SessionEvent =
  | {
      type: "session.created";
      agent: string;
      owner?: string;
      metadata?: Metadata;
      ttlMs?: number;
    }
  /** What is not named stays; null takes away. */
  | { type: "session.updated"; metadata?: Metadata; ttlMs?: number | null }
  | { type: "session.closed"; reason?: string }
  /** Of one call, or of one message; which, one of the two says. */
  | { type: "content.erased"; callId?: string; messageId?: string; reason?: string }
  | { type: "policy.set"; policy: Policy }
  | { type: "tools.advertised"; tools: ToolDeclaration[] }
  | { type: "approval.granted"; tool: string; callId: string }
  | { type: "approval.revoked"; tool: string }
  | RunEvent
  | CallEvent;

/** What an entry says. */
export type Event = ContentEvent | SessionEvent;

export type EventOf<T extends Event["type"]> = Extract<Event, { type: T }>;
