import type { Answer } from "../../call.ts";
import { canonicalArguments } from "../../canonical.ts";
import type { AgentItem, CallAnswerCommand } from "../../command.ts";
import { AG_UI } from "../interrupt.ts";
import type { AgUiEventOf } from "../vocabulary.ts";
import type { IngestContext } from "./context.ts";
import { withOwn } from "./own.ts";

/** A call that the stream made, as far as it came. */
export interface StreamedCall {
  readonly name: string;
  status: "open" | "ended";
  arguments: string;
  answered: boolean;
  /** Whose it is, as its first start said. */
  owner?: string | undefined;
  /** The message that carries it, as its first start said. */
  parent?: string | undefined;
  /** The message that its result makes, as the agent calls it. */
  resultId?: string;
  /** It began with the id of a call of an earlier run that was approved, and may be that one told again. */
  restated?: StartEvent;
  /** A result that came before the call was complete. */
  held?: AgUiEventOf<"TOOL_CALL_RESULT">;
}

type StartEvent = AgUiEventOf<"TOOL_CALL_START">;

type ResultEvent = Pick<AgUiEventOf<"TOOL_CALL_RESULT">, "toolCallId" | "messageId" | "content"> &
  Partial<AgUiEventOf<"TOOL_CALL_RESULT">>;

/** What comes of a run's call events (SPEC 12.5). */
export interface CallIngest {
  readonly calls: ReadonlyMap<string, StreamedCall>;
  start(event: AgUiEventOf<"TOOL_CALL_START">): AgentItem[];
  arguments(event: AgUiEventOf<"TOOL_CALL_ARGS">): AgentItem[];
  end(event: AgUiEventOf<"TOOL_CALL_END">): AgentItem[];
  /** @param error of a tool message: it failed */
  result(event: ResultEvent, error?: string): AgentItem[];
  /** Whether a call was approved before this run, and not answered in it. */
  isApproved(callId: string): boolean;
  /** The run has failed: results of calls that never became complete are kept as they came. */
  abandon(): AgentItem[];
}

export function createCallIngest(context: IngestContext): CallIngest {
  const { scope, ids, rounds, note, isGivenCall, isHistoryKnown } = context;
  const calls = new Map<string, StreamedCall>();
  const answered = new Set<string>();

  function start(event: AgUiEventOf<"TOOL_CALL_START">): AgentItem[] {
    const { toolCallId: said, toolCallName: name } = event;
    const known = calls.get(said);
    if (!known && scope.approved?.has(said)) {
      calls.set(said, { name, status: "open", arguments: "", answered: false, restated: event });
      return [];
    }
    if (known?.restated) {
      known.status = "open";
      return [];
    }
    if (known && !known.answered) {
      known.status = "open";
      // A start that goes on with it need not say again whose it is.
      return startItems(event, known.owner);
    }
    const call: StreamedCall = { name, status: "open", arguments: "", answered: false };
    calls.set(said, call);
    return begin(call, event);
  }

  function begin(call: StreamedCall, event: StartEvent): AgentItem[] {
    const { parentMessageId: parent, subagentRunId: owner } = event;
    Object.assign(call, { owner, parent });
    return [...rounds.before(parent), ...startItems(event, owner)];
  }

  function startItems(event: StartEvent, owner: string | undefined): AgentItem[] {
    const { toolCallId: said, parentMessageId: parent } = event;
    const toolCallId = ids.call(said);
    const parentMessageId = parent === undefined ? undefined : ids.parent(parent, rounds.number);
    rounds.began(`call ${said}`, parent ?? said);
    rounds.owes(said);
    const own = {
      toolCallId: toolCallId === said ? undefined : said,
      parentMessageId: parentMessageId === parent ? undefined : parent,
    };
    const item: AgentItem = {
      ...event,
      toolCallId,
      ...(owner !== undefined && { subagentRunId: owner }),
      ...(parentMessageId !== undefined && { parentMessageId }),
      ...withOwn(event.metadata, own),
    };
    return [item];
  }

  /** Where a call was announced as one that was approved, and is another, it begins after all. */
  function announced(said: string, call: StreamedCall): AgentItem[] {
    const { restated, name, arguments: delta } = call;
    if (!restated) return [];
    const approved = scope.approved?.get(said);
    // One that says no arguments means those that were approved.
    const isSame = delta === "" || isEqual(delta, approved?.arguments);
    if (approved?.name === name && isSame) {
      note("restated", `The call '${said}' was approved before this run, and came again.`, said);
      return [];
    }
    note("changed", `The call '${said}' is not the one that was approved: it is another.`, said);
    delete call.restated;
    const begun = begin(call, restated);
    if (delta === "") return begun;
    return [...begun, { type: "TOOL_CALL_ARGS", toolCallId: ids.call(said), delta }];
  }

  function answer(event: ResultEvent, error?: string): AgentItem[] {
    const {
      type: _,
      toolCallId: said,
      messageId: minted,
      content,
      role: __,
      metadata,
      ...rest
    } = event;
    const message = ids.start("tool", minted, rounds.number);
    if (message.changed) reused(context, minted, message.changed);
    rounds.answered(said);
    const callId = ids.call(said);
    const claimId = scope.claimOf?.(callId);
    const own = { ...rest, error, messageId: message.id === minted ? undefined : minted };
    const item: CallAnswerCommand = {
      type: "call.answer",
      callId,
      ...(claimId !== undefined && { claimId }),
      outcome: error === undefined ? "ok" : "error",
      answer: answerOf(content, error),
      messageId: message.id,
      ...withOwn(metadata, own),
    };
    return [item];
  }

  return {
    calls,
    start,
    arguments(event) {
      const call = calls.get(event.toolCallId);
      if (!call) return [];
      call.arguments += event.delta;
      if (call.restated) return [];
      const toolCallId = ids.call(event.toolCallId);
      return [toolCallId === event.toolCallId ? event : { ...event, toolCallId }];
    },
    end(event) {
      const call = calls.get(event.toolCallId);
      if (!call) return [];
      const { toolCallId: said } = event;
      call.status = "ended";
      const items = announced(said, call);
      rounds.ended(`call ${said}`);
      const { held } = call;
      delete call.held;
      if (!call.restated) items.push({ ...event, toolCallId: ids.call(said) });
      return held ? [...items, ...answer(held)] : items;
    },
    result(event, error) {
      const { toolCallId: said } = event;
      const call = calls.get(said);
      answered.add(said);
      if (call) {
        call.answered = true;
        call.resultId ??= event.messageId;
      }
      if (call?.status === "open") {
        // It is tolerated, and nothing can be answered that is not complete.
        call.held ??= { type: "TOOL_CALL_RESULT", ...event };
        return [];
      }
      if (!call && isHistoryKnown() && !isGivenCall(said)) {
        note("unknown_call", `There is a result of the call '${said}', which nobody made.`, said);
        return [{ type: "RAW", source: AG_UI, event }];
      }
      return answer(event, error);
    },
    isApproved: (callId) => (scope.approved?.has(callId) ?? false) && !answered.has(callId),
    abandon() {
      const held = [...calls.values()].flatMap((call) => (call.held ? [call.held] : []));
      for (const call of calls.values()) delete call.held;
      return held.map((event) => ({ type: "RAW", source: AG_UI, event }));
    },
  };
}

/** Says that an id is not the agent's own. */
export function reused(
  { note }: Pick<IngestContext, "note">,
  id: string,
  changed: "used" | "reopened" | "unusable",
): void {
  if (changed === "reopened") {
    note("reopened", `The message '${id}' goes on after its round: as one of its own.`, id);
  } else note("D12", `The id '${id}' cannot be used: the message has another.`, id);
}

function isEqual(text: string, other: string | undefined): boolean {
  return other !== undefined && canonicalArguments(text) === canonicalArguments(other);
}

/** Typed by its form alone, and never looked into. A failure without words of its own says why it is one. */
function answerOf(content: ResultEvent["content"], error: string | undefined): Answer {
  if (typeof content === "string") {
    return { type: "text", text: content === "" && error !== undefined ? error : content };
  }
  // Content parts are JSON: they came as that.
  return {
    type: "parts",
    parts: content as unknown as Extract<Answer, { type: "parts" }>["parts"],
  };
}
