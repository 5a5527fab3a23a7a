import type { ErasedMark } from "./entry.ts";
import type { InvalidArguments } from "./events.ts";
import type { Json, Metadata } from "./json.ts";
import type { Offset } from "./offset.ts";
import type { ToolDeclaration } from "./tool.ts";

/** The six states of a call (SPEC 4.1). */
export type CallStatus = "streaming" | "ended" | "gated" | "open" | "claimed" | "settled";

/** How a settled call ended. Only `ok` and `error` can carry an answer. */
export type CallOutcome =
  | "ok"
  | "error"
  | "denied"
  | "cancelled"
  | "expired"
  | "abandoned"
  | "superseded";

/** Why a call settled other than by its executor's plain answer. A code: add freely, rename never. */
export type SettleReason =
  | "truncated"
  | "invalid_arguments"
  | "unknown_tool"
  | "unanswered"
  | "executor_lost"
  | "executed_without_approval"
  | "deadline"
  | "approval_expired"
  | "superseded_by_new_message"
  | "round_superseded"
  | "step_superseded"
  | "cancelled"
  | "run_cancelled"
  | "run_replaced"
  | "run_ended"
  | "run_failed"
  | "session_closed"
  | "declined"
  | "arguments_too_large"
  | "result_too_large";

/** A call's result, typed by who gives it and never sniffed; `0`, `""`, `false` and `null` are answers. */
export type Answer =
  | { readonly type: "json"; readonly value: Json }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "parts"; readonly parts: Json[] };

/** One tool call: proposed by an agent, disposed of once. */
export interface Call {
  readonly id: string;
  /** The id its provider used, where the session had one like it already. */
  readonly providerId?: string;
  readonly runId: string;
  readonly attempt: number;
  /** The round it was proposed in; absent for a call before its attempt's first round. */
  readonly round?: number;
  readonly stepId?: string;
  readonly stepAttempt?: number;
  /** Where it was proposed. Orders it among its run's items. */
  readonly offset: Offset;
  /** The last argument delta folded into `arguments`. */
  readonly upTo: Offset;
  /** The assistant message that carries it. */
  readonly parentMessageId?: string;
  /** The subagent whose call it is; absent for the agent's own. */
  readonly subagentRunId?: string;
  readonly name: string;
  readonly executor: "client" | "agent" | "provider";
  /** The declaration frozen when it was proposed; absent for a tool nobody declared. */
  readonly tool?: ToolDeclaration;
  readonly status: CallStatus;
  /** 1, and one more each time it is reopened with further arguments. */
  readonly rev: number;
  /**
   * Its reader may not see its tool's data: what would carry it is empty (SPEC 7.5). A session itself never says so;
   * only what a reader was given does.
   */
  readonly redacted?: true;
  readonly arguments: string;
  readonly argumentsEncoding: "json" | "text";
  readonly invalid?: InvalidArguments;
  readonly approval?: Approval;
  /** The claim that holds it while `claimed`. */
  readonly claim?: Claim;
  /** Ids of claims that held it and no longer do, newest last, at most 8. */
  readonly pastClaims?: readonly string[];
  /** Not offered any more: a claim expired on it, and running it twice may do harm. A later claim does not lift it. */
  readonly manual?: boolean;
  /** When it last became `open`. */
  readonly openedAt?: Offset;
  /** The attempt whose own doing opened it; absent where somebody else's did, which is news to the agent. */
  readonly openedIn?: number;
  /** Unix milliseconds. */
  readonly deadlineAt?: number;
  /** When it is to be escalated if it still waits. Unix milliseconds. */
  readonly escalateAt?: number;
  /** When it was found to wait too long for a person. Unix milliseconds. */
  readonly escalatedAt?: number;
  readonly progress?: Json;
  readonly outcome?: CallOutcome;
  readonly reason?: SettleReason;
  /** Words that go with `reason`. */
  readonly message?: string;
  readonly answer?: CallAnswer;
  readonly settledAt?: number;
  /** Where it was settled. Orders results. */
  readonly settledOffset?: Offset;
  readonly settledBy?: string;
  /** Its round was taken back: the call stays on the record and leaves the history. */
  readonly withdrawn?: boolean;
  /** What it said is erased; who asked for it, and when. */
  readonly erased?: ErasedMark;
  readonly metadata?: Metadata;
  /** In log order; each with its actor and time. Of a long one the first 8 and the newest 56. */
  readonly history: readonly CallMoment[];
}

export interface Approval {
  readonly id: string;
  readonly by: "agent" | "policy";
  /** SHA-256, hex, of the exact UTF-8 argument text that is decided upon. */
  readonly digest: string;
  readonly reason?: string;
  readonly expiresAt?: number;
  /** The provider signed the request, so its arguments cannot be edited. */
  readonly signed?: boolean;
  readonly metadata?: Metadata;
  readonly decision?: Decision;
}

export interface Decision {
  readonly approved: boolean;
  readonly by: string;
  readonly at: number;
  readonly digest: string;
  readonly reason?: string;
  readonly automatic?: boolean;
  /** Of an automatic one: whose word it rests on. */
  readonly onBehalfOf?: string;
  /** The arguments as proposed, where the decision replaced them. */
  readonly edited?: { readonly from: string };
  /** What the decider sent, word for word; any JSON, null included. */
  readonly payload?: Json;
}

export interface Claim {
  readonly id: string;
  readonly by: string;
  readonly at: number;
  /** The attempt it was granted to, on the agent's side. */
  readonly attempt?: number;
  /** Held by an attempt that never claims; it ends with the attempt. */
  readonly implicit?: boolean;
}

export interface CallAnswer {
  readonly messageId: string;
  readonly answer: Answer;
  readonly by: string;
  readonly at: number;
  readonly attempt?: number;
  readonly stepId?: string;
  readonly stepAttempt?: number;
  /** Where it was given. */
  readonly offset: Offset;
  readonly metadata?: Metadata;
}

/** One line of a call's life, for people. */
export interface CallMoment {
  readonly what:
    | "proposed"
    | "reopened"
    | "ended"
    | "approval_requested"
    | "approved"
    | "denied"
    | "opened"
    | "claimed"
    | "released"
    | "settled";
  readonly by: string;
  readonly at: number;
}

/** Somebody approved it, and nobody has taken it up: whoever executes it may. */
export function isApproved({ status, approval }: Pick<Call, "status" | "approval">): boolean {
  return status === "open" && approval?.decision?.approved === true;
}

/** Whether somebody ever held the right to execute the call, so that it may have had its effect. */
export function wasClaimed(call: Call): boolean {
  return call.claim !== undefined || (call.pastClaims?.length ?? 0) > 0;
}
