import type { Call, CallMoment } from "../call.ts";
import type { Entry } from "../entry.ts";
import type { CallHints, ContentEvent, EventOf } from "../events.ts";
import type { TextItem } from "../item.ts";
import type { Metadata } from "../json.ts";
import { mergeMetadata } from "../metadata.ts";
import { omit } from "../omit.ts";
import type { Run } from "../run.ts";
import type { SessionState } from "../state.ts";
import type { ToolDeclaration } from "../tool.ts";
import { putCall, putItem, setCall, setItem, type Changes } from "./changes.ts";

/** The length at which an open text's or a call's row is first written again, in characters; then at each doubling. */
const CHECKPOINT = 64 * 1024;

/** Folds AG-UI content. The per-token cases stand first, and touch a row at its checkpoints only. */
export function reduceContent(state: SessionState, entry: Entry, changes: Changes): void {
  if (appendDelta(state, entry)) return checkpoint(state, entry, changes);
  const event = entry.event as ContentEvent; // upper-case types are content, see reduce()
  const runId = entry.runId ?? "";
  switch (event.type) {
    case "TEXT_MESSAGE_START":
    case "REASONING_MESSAGE_START": {
      const known = state.items.get(event.messageId);
      if (known && known.kind !== "text" && known.kind !== "reasoning") return;
      const item: TextItem = known
        ? { ...known, status: "open" }
        : {
            kind: event.type === "TEXT_MESSAGE_START" ? "text" : "reasoning",
            id: event.messageId,
            runId,
            ...(entry.round !== undefined && { round: entry.round }),
            ...stepOf(entry),
            offset: entry.offset,
            upTo: entry.offset,
            ...saidBy(event),
            status: "open",
            text: "",
          };
      return putItem(state, withMetadata(item, event.metadata), changes);
    }
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT":
    case "TEXT_MESSAGE_END":
    case "REASONING_MESSAGE_END": {
      const item = state.items.get(event.messageId);
      if (item?.kind !== "text" && item?.kind !== "reasoning") return;
      const closes = event.type.endsWith("_END");
      const next = withMetadata(
        closes ? { ...item, status: "closed" as const } : item,
        event.metadata,
      );
      if (next !== item) putItem(state, next, changes);
      return;
    }
    case "TOOL_CALL_START":
      return startCall(state, entry, event, changes);
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END": {
      const call = state.calls.get(event.toolCallId);
      if (!call) return;
      const ended = event.type === "TOOL_CALL_END" && call.status === "streaming";
      const next = ended
        ? { ...call, status: "ended" as const, history: moment(call, "ended", entry) }
        : call;
      return putCall(state, withMetadata(next, event.metadata), changes);
    }
    case "REASONING_ENCRYPTED_VALUE":
      if (event.subtype === "tool-call") {
        const call = state.calls.get(event.entityId);
        if (call?.runId === runId) {
          const { encryptedValue } = event;
          return putCall(state, withMetadata(call, { encryptedValue }), changes);
        }
      }
      break;
    default:
      break;
  }
  putItem(
    state,
    {
      kind: "event",
      id: `event:${entry.offset}`,
      runId,
      ...(entry.round !== undefined && { round: entry.round }),
      ...stepOf(entry),
      offset: entry.offset,
      event,
    },
    changes,
  );
}

/**
 * Folds one delta into the open item it belongs to; false for everything else. Also what brings the row of an open
 * item up to date after a load: deltas at or before `upTo` are in the row already.
 */
export function appendDelta(state: SessionState, entry: Entry): boolean {
  const { event } = entry;
  switch (event.type) {
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT": {
      const item = state.items.get(event.messageId);
      if ((item?.kind !== "text" && item?.kind !== "reasoning") || entry.offset < item.upTo)
        return false;
      setItem(state, { ...item, text: item.text + event.delta, upTo: entry.offset });
      return event.metadata === undefined;
    }
    case "TOOL_CALL_ARGS": {
      const call = state.calls.get(event.toolCallId);
      if (!call || entry.offset < call.upTo) return false;
      setCall(state, { ...call, arguments: call.arguments + event.delta, upTo: entry.offset });
      return event.metadata === undefined;
    }
    default:
      return false;
  }
}

/** Has the row that a delta grew written again where it passed a checkpoint, so that a load replays half of it at most. */
function checkpoint(state: SessionState, { event }: Entry, changes: Changes): void {
  switch (event.type) {
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT": {
      const item = state.items.get(event.messageId);
      if (item && "text" in item && passes(item.text.length, event.delta.length))
        changes.touch("item", item.id);
      return;
    }
    case "TOOL_CALL_ARGS": {
      const call = state.calls.get(event.toolCallId);
      if (call && passes(call.arguments.length, event.delta.length)) changes.touch("call", call.id);
      return;
    }
    default:
      return;
  }
}

function passes(length: number, added: number): boolean {
  if (length < CHECKPOINT) return false;
  const last = CHECKPOINT * 2 ** Math.floor(Math.log2(length / CHECKPOINT));
  return length - added < last;
}

function startCall(
  state: SessionState,
  entry: Entry,
  event: EventOf<"TOOL_CALL_START">,
  changes: Changes,
): void {
  const known = state.calls.get(event.toolCallId);
  if (known) {
    // What was said of its arguments no longer holds. An approval that was asked for stays: it is asked for again
    // when the round closes.
    const reopened: Call = {
      ...omit(omit(known, "claim"), "invalid"),
      status: "streaming",
      rev: known.rev + 1,
      history: moment(known, "reopened", entry),
    };
    return putCall(state, withMetadata(reopened, event.metadata), changes);
  }
  const run = state.runs.get(entry.runId ?? "");
  const hints = hintsOf(event.metadata);
  const tool = toolOf(run, event.toolCallName);
  const call: Call = {
    id: event.toolCallId,
    ...(hints.providerCallId !== undefined && { providerId: hints.providerCallId }),
    runId: entry.runId ?? "",
    attempt: entry.attempt ?? 0,
    ...(entry.round !== undefined && { round: entry.round }),
    ...stepOf(entry),
    offset: entry.offset,
    upTo: entry.offset,
    ...(event.parentMessageId !== undefined && { parentMessageId: event.parentMessageId }),
    ...(event.subagentRunId !== undefined && { subagentRunId: event.subagentRunId }),
    name: event.toolCallName,
    executor: executorOf(hints, tool),
    ...(tool && { tool }),
    status: "streaming",
    rev: 1,
    ...(event.redacted && { redacted: true }),
    arguments: "",
    argumentsEncoding: hints.argumentsEncoding ?? "json",
    ...(hints.deadlineAt !== undefined && { deadlineAt: hints.deadlineAt }),
    history: [{ what: "proposed", by: entry.actor, at: entry.at }],
  };
  putCall(state, withMetadata(call, event.metadata), changes);
}

/** Whose words a message holds. */
function saidBy(
  event: EventOf<"TEXT_MESSAGE_START" | "REASONING_MESSAGE_START">,
): Pick<TextItem, "role" | "name" | "subagentRunId"> {
  const { role, subagentRunId } = event;
  const name = "name" in event ? event.name : undefined;
  return {
    ...(role !== undefined && role !== "assistant" && role !== "reasoning" && { role }),
    ...(name !== undefined && { name }),
    ...(subagentRunId !== undefined && { subagentRunId }),
  };
}

/** The protocol's own hints in an event's metadata. */
export function hintsOf(metadata: Metadata | undefined): CallHints {
  const hints = metadata?.["holdfast"];
  return typeof hints === "object" && hints !== null ? hints : {};
}

/** The declaration a call is bound to: the attempt's own, else what clients advertised when it started. */
export function toolOf(run: Run | undefined, name: string): ToolDeclaration | undefined {
  const declared = run?.tools.find((tool) => tool.name === name);
  if (declared) return declared;
  const advertised = run?.clientTools?.find((tool) => tool.name === name);
  return advertised && { ...advertised, executor: "client" };
}

function executorOf(hints: CallHints, tool: ToolDeclaration | undefined): Call["executor"] {
  return hints.executor ?? tool?.executor ?? "agent";
}

/** The step an entry belongs to, for the rows it makes. */
export function stepOf({ stepId, stepAttempt }: Entry): { stepId?: string; stepAttempt?: number } {
  return stepId === undefined || stepAttempt === undefined ? {} : { stepId, stepAttempt };
}

/** How many moments of a call's history are kept: how it began, and the newest. The log has them all. */
const KEPT = { first: 8, newest: 56 };

/** A call's history with one more moment, by the entry's actor at its time. */
export function moment(call: Call, what: CallMoment["what"], entry: Entry): readonly CallMoment[] {
  const { history } = call;
  const next = { what, by: entry.actor, at: entry.at };
  if (history.length < KEPT.first + KEPT.newest) return [...history, next];
  return [...history.slice(0, KEPT.first), ...history.slice(1 - KEPT.newest), next];
}

/** The row with more metadata. Of a call whose data is hidden there is none. */
export function withMetadata<T extends { readonly metadata?: Metadata; readonly redacted?: true }>(
  row: T,
  metadata: Metadata | undefined,
): T {
  return metadata === undefined || row.redacted
    ? row
    : { ...row, metadata: mergeMetadata(row.metadata, metadata) };
}
