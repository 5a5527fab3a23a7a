import {
  HoldfastError,
  type Answer,
  type Call,
  type ClientCommand,
  type Json,
  type MessageContent,
  type MessageSend,
  type ToolDeclaration,
  type Verdict,
} from "@holdfast/protocol";
import { answerOf } from "../wire/index.ts";

export interface SubmitOptions {
  /** Stops waiting. A command that was under way may still take effect. */
  readonly signal?: AbortSignal;
}

export type SendOptions = SubmitOptions &
  Partial<
    Pick<MessageSend, "messageId" | "parentId" | "whileActive" | "whilePending" | "metadata">
  >;

export interface AnswerOptions extends SubmitOptions {
  /** Default `ok`. */
  readonly outcome?: "ok" | "error";
  /** What the value is; never guessed from it. `text` wants a string, `parts` an array. Default `json`. */
  readonly as?: Answer["type"];
  /** The claim it was executed under, where there is one. */
  readonly claimId?: string;
  readonly messageId?: string;
}

export interface DecideOptions extends SubmitOptions {
  readonly approved: boolean;
  readonly reason?: string;
  /** What the person was shown: the approval's id or the digest of its arguments. Default: the approval that stands. */
  readonly approvalId?: string;
  readonly digest?: string;
  /** Edit-then-approve: the argument text to run with instead. */
  readonly arguments?: string;
  /** Lets the tool run without asking for the rest of the session, on the record; `revokeApproval` takes it back. */
  readonly always?: boolean;
}

/**
 * What a client may ask of a session. Every method sends one command under ids of its own and resolves with its
 * verdict, once that is durable; a rejection is thrown as a {@link HoldfastError} with the rejection's code and
 * details (`already_answered` names the winning answer) and the verdict as `cause`. While the server cannot be reached
 * commands wait, in order.
 */
export interface SessionCommands {
  readonly send: (content: MessageContent, options?: SendOptions) => Promise<Verdict>;
  /**
   * The right to execute a call; the verdict's `claimId` names it, and its `arguments` are what to execute where they are
   * hidden here otherwise (`call.redacted`). @throws `claim_held`, `retry_unsafe`, `call_settled`, …
   */
  readonly claim: (
    callId: string,
    options?: SubmitOptions & {
      readonly force?: boolean;
      /** The digest of the schema that is executed here; a call of another is refused (`not_executor`). */
      readonly toolDigest?: string;
    },
  ) => Promise<Verdict & { readonly claimId: string }>;
  readonly renew: (callId: string, claimId: string, options?: SubmitOptions) => Promise<Verdict>;
  /** Gives a claim back: the holder's word that nothing ran. */
  readonly release: (callId: string, claimId: string, options?: SubmitOptions) => Promise<Verdict>;
  readonly progress: (
    callId: string,
    progress: Json,
    options?: SubmitOptions & { readonly claimId?: string },
  ) => Promise<Verdict>;
  /** The call's one answer; `undefined` counts as `null`. @throws `already_answered`, `call_settled`, `claim_held`, … */
  readonly answer: (
    callId: string,
    value: Json | undefined,
    options?: AnswerOptions,
  ) => Promise<Verdict>;
  /** Answers with an error that a person chose; the model is told so. */
  readonly decline: (
    callId: string,
    reason: string,
    options?: SubmitOptions & { readonly claimId?: string },
  ) => Promise<Verdict>;
  /** @throws `stale_decision` when something else stands, or nothing does; `not_approver` */
  readonly decide: (callId: string, options: DecideOptions) => Promise<Verdict>;
  /** Takes back that a tool runs without asking: its calls to come ask again. */
  readonly revokeApproval: (tool: string, options?: SubmitOptions) => Promise<Verdict>;
  readonly cancelCall: (
    callId: string,
    options?: SubmitOptions & { readonly reason?: string },
  ) => Promise<Verdict>;
  readonly cancelRun: (
    runId: string,
    options?: SubmitOptions & { readonly reason?: string },
  ) => Promise<Verdict>;
  /** Says that clients of this session execute these tools. @throws `tool_name_taken` */
  readonly advertise: (
    tools: readonly ToolDeclaration[],
    options?: SubmitOptions,
  ) => Promise<Verdict>;
}

export interface CommandContext {
  readonly newId: () => string;
  readonly call: (id: string) => Call | undefined;
  readonly submit: (command: ClientCommand, signal?: AbortSignal) => Promise<Verdict>;
}

export function createCommands({ newId, call, submit }: CommandContext): SessionCommands {
  return {
    send: (content, { signal, messageId = newId(), ...rest } = {}) =>
      submit({ type: "message.send", messageId, content, ...rest }, signal),
    async claim(callId, { signal, force, toolDigest } = {}) {
      const named = { ...(force && { force }), ...(toolDigest !== undefined && { toolDigest }) };
      const verdict = await submit({ type: "call.claim", callId, ...named }, signal);
      const { claimId } = verdict;
      if (claimId !== undefined) return { ...verdict, claimId };
      throw new HoldfastError({
        code: "internal",
        message: `The claim of call ${callId} was granted without an id.`,
      });
    },
    renew: (callId, claimId, { signal } = {}) =>
      submit({ type: "call.renew", callId, claimId }, signal),
    release: (callId, claimId, { signal } = {}) =>
      submit({ type: "call.release", callId, claimId }, signal),
    progress: (callId, progress, { signal, claimId } = {}) =>
      submit(
        { type: "call.progress", callId, progress, ...(claimId !== undefined && { claimId }) },
        signal,
      ),
    async answer(callId, value, options = {}) {
      const { signal, as = "json", outcome = "ok", claimId, messageId = newId() } = options;
      return submit(
        {
          type: "call.answer",
          callId,
          outcome,
          answer: answerOf(callId, as, value),
          messageId,
          ...(claimId !== undefined && { claimId }),
        },
        signal,
      );
    },
    decline: (callId, reason, { signal, claimId } = {}) =>
      submit(
        {
          type: "call.answer",
          callId,
          outcome: "error",
          declined: true,
          answer: { type: "text", text: reason },
          messageId: newId(),
          ...(claimId !== undefined && { claimId }),
        },
        signal,
      ),
    async decide(callId, { signal, ...decision }) {
      let { approvalId } = decision;
      if (approvalId === undefined && decision.digest === undefined) {
        approvalId = call(callId)?.approval?.id;
        if (approvalId === undefined)
          throw new HoldfastError({
            code: call(callId) ? "stale_decision" : "unknown_call",
            message: `Call ${callId} asks for no decision here: name the approvalId or the digest that was shown.`,
          });
      }
      return submit(
        {
          type: "call.decide",
          callId,
          ...decision,
          ...(approvalId !== undefined && { approvalId }),
        },
        signal,
      );
    },
    revokeApproval: (tool, { signal } = {}) => submit({ type: "approval.revoke", tool }, signal),
    cancelCall: (callId, { signal, reason } = {}) =>
      submit({ type: "call.cancel", callId, ...(reason !== undefined && { reason }) }, signal),
    cancelRun: (runId, { signal, reason } = {}) =>
      submit({ type: "run.cancel", runId, ...(reason !== undefined && { reason }) }, signal),
    advertise: (tools, { signal } = {}) =>
      submit({ type: "tools.advertise", tools: [...tools] }, signal),
  };
}
