import {
  canonical,
  type Answer,
  type Call,
  type CallAnswerCommand,
  type Json,
  type Metadata,
  type SessionState,
} from "@holdfast/protocol";
import { AG_UI, type AgUiInput, type AgUiMessage } from "@holdfast/protocol/ag-ui";
import { isFilledIn } from "./filled-in.ts";
import { isTaken } from "./known.ts";

type ToolMessage = Extract<AgUiMessage, { role: "tool" }>;

/** The answers in a client's list. */
export interface Answers {
  /** Of calls that wait for their client. */
  readonly answers: readonly CallAnswerCommand[];
  /** What comes too late, or was never the client's to say: known to be refused. */
  readonly late: readonly CallAnswerCommand[];
}

/**
 * The tool messages that say something new: all that answer a call which waits for its client, the first for each call,
 * wherever they stand; and behind the last assistant message those that the session would refuse. A message that the session has, by its id
 * or by what it says of its call, is no news. What nobody said is none either.
 */
export function answersIn({ messages }: AgUiInput, state: SessionState): Answers {
  const answers: CallAnswerCommand[] = [];
  const late: CallAnswerCommand[] = [];
  const answered = new Set<string>();
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  for (const [index, message] of messages.entries()) {
    if (message.role !== "tool" || isFilledIn(message)) continue;
    const { toolCallId } = message;
    const call = state.calls.get(toolCallId);
    const waits = call?.executor === "client" && call.status !== "settled";
    if (waits && !answered.has(toolCallId)) {
      answered.add(toolCallId);
      answers.push(answerOf(message, state));
    } else if (index > last && !answered.has(toolCallId) && !(call && isRepeat(call, message))) {
      late.push(answerOf(message, state));
    }
  }
  return { answers, late };
}

/** Whether a settled call ended as the message says, or the agent's side settled it: that is not the client's to say. */
function isRepeat({ status, executor, answer, id }: Call, message: ToolMessage): boolean {
  if (status !== "settled") return false;
  if (executor !== "client" || message.id === (answer?.messageId ?? `result:${id}`)) return true;
  return answer !== undefined && canonical(answer.answer) === canonical(contentOf(message));
}

function answerOf(message: ToolMessage, state: SessionState): CallAnswerCommand {
  const { id, toolCallId, error } = message;
  const metadata = metadataOf(message);
  return {
    type: "call.answer",
    callId: toolCallId,
    answer: contentOf(message),
    outcome: error === undefined ? "ok" : "error",
    ...(isDeclined(message) && { declined: true }),
    ...(id !== "" && !isTaken(state, id) && { messageId: id }),
    ...(metadata && { metadata }),
  };
}

/** Text is text and parts are parts: neither is ever read for what it might be. */
function contentOf({ content, error }: ToolMessage): Answer {
  if (typeof content !== "string") return { type: "parts", parts: content as unknown as Json[] };
  return { type: "text", text: content === "" ? (error ?? "") : content };
}

/** Only who says so declined: an error is an error, whatever its words. */
function isDeclined({ error, metadata }: ToolMessage): boolean {
  const said: unknown = metadata?.["holdfast"];
  const declined = typeof said === "object" && said !== null && "declined" in said;
  return error !== undefined && declined && said.declined === true;
}

function metadataOf({
  metadata,
  error,
  encryptedValue,
  subagentRunId,
}: ToolMessage): Metadata | undefined {
  const { holdfast: _, [AG_UI]: __, ...rest } = metadata ?? {};
  const kept = {
    ...(error !== undefined && { error }),
    ...(encryptedValue !== undefined && { encryptedValue }),
    ...(subagentRunId !== undefined && { subagentRunId }),
  };
  const all = { ...rest, ...(Object.keys(kept).length > 0 && { [AG_UI]: kept }) };
  return Object.keys(all).length > 0 ? (all as Metadata) : undefined;
}
