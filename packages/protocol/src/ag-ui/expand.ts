import type { AgUiViolation } from "./rules.ts";
import { violates } from "./rules.ts";
import type { Owner } from "./state.ts";
import { TEXTS } from "./texts.ts";
import type { AgUiEvent, AgUiEventOf } from "./vocabulary.ts";

/** The streams that chunks are assembling: one for each owner, in the order they opened. Its owner's to change. */
export interface ExpandState {
  readonly lanes: Map<Owner, Lane>;
}

type Kind = "text" | "tool" | "reasoning";
type Chunk = AgUiEventOf<"TEXT_MESSAGE_CHUNK" | "TOOL_CALL_CHUNK" | "REASONING_MESSAGE_CHUNK">;

interface Lane {
  readonly kind: Kind;
  readonly id: string;
  readonly subagentRunId: Owner;
  // What the opener said, which later chunks may repeat.
  readonly role?: string;
  readonly name?: string | undefined;
  readonly toolCallName?: string | undefined;
  readonly parentMessageId?: string | undefined;
}

export function createExpandState(): ExpandState {
  return { lanes: new Map() };
}

/**
 * Adds to `out` what an event comes to once chunks are spelled out (Streaming pattern, the chunked form): an explicit
 * event after the ends of the streams that it closes, a chunk as start and content. Changes `state` in place; after a
 * violation nothing is added, and the stream is over. Takes enforced events: what the protocol does not describe on a
 * chunk is not carried over. Of what it does, `timestamp` is not, as in the published client.
 */
export function expandAgUi(
  { lanes }: ExpandState,
  event: AgUiEvent,
  out: AgUiEvent[],
): AgUiViolation | undefined {
  switch (event.type) {
    case "TEXT_MESSAGE_CHUNK":
    case "TOOL_CALL_CHUNK":
    case "REASONING_MESSAGE_CHUNK":
      return expandChunk(lanes, event, out);
    case "RUN_STARTED":
    case "RUN_FINISHED":
    case "RUN_ERROR":
    case "MESSAGES_SNAPSHOT":
      for (const owner of lanes.keys()) close(lanes, owner, out);
      break;
    case "RAW":
    case "ACTIVITY_SNAPSHOT":
    case "ACTIVITY_DELTA":
    case "REASONING_ENCRYPTED_VALUE":
    case "SUBAGENT_STARTED":
      break;
    default:
      if (lanes.size > 0) close(lanes, event.subagentRunId, out);
  }
  out.push(event);
  return undefined;
}

const KINDS = {
  TEXT_MESSAGE_CHUNK: { kind: "text", what: "text message", id: "messageId" },
  TOOL_CALL_CHUNK: { kind: "tool", what: "tool call", id: "toolCallId" },
  REASONING_MESSAGE_CHUNK: { kind: "reasoning", what: "reasoning message", id: "messageId" },
} as const;

function expandChunk(
  lanes: Map<Owner, Lane>,
  chunk: Chunk,
  out: AgUiEvent[],
): AgUiViolation | undefined {
  const id = chunk.type === "TOOL_CALL_CHUNK" ? chunk.toolCallId : chunk.messageId;
  const owner = ownerOf(lanes, chunk, id);
  if (typeof owner === "object") return owner.violation;
  const open = lanes.get(owner);
  const { kind, what } = KINDS[chunk.type];
  if (open?.kind === kind && (id === undefined || id === open.id)) {
    const conflict = conflictOf(chunk, open, what);
    if (conflict) return conflict;
    if (hasContent(chunk) || chunk.metadata !== undefined) out.push(contentOf(chunk, open));
    return undefined;
  }
  const unopened = openerProblem(chunk, id);
  if (unopened) return unopened;
  close(lanes, owner, out);
  const lane = laneOf(chunk, kind, id ?? "");
  lanes.set(owner, lane);
  out.push(startOf(chunk, lane));
  if (hasContent(chunk)) out.push(contentOf(chunk, lane));
  return undefined;
}

/** Whose stream a chunk belongs to. */
function ownerOf(
  lanes: ReadonlyMap<Owner, Lane>,
  { type, subagentRunId: tag }: Chunk,
  id: string | undefined,
): Owner | { readonly violation: AgUiViolation } {
  const { kind, what, id: field } = KINDS[type];
  const lane = lanes.get(tag);
  if (lane?.kind === kind && (id === undefined || id === lane.id)) return tag;
  if (id !== undefined) {
    for (const [owner, lane] of lanes) {
      if (lane.kind !== kind || lane.id !== id) continue;
      if (tag === undefined || tag === owner) return owner;
      return { violation: violates("X4", TEXTS.chunkOwner(what, id, tag, owner)) };
    }
    return tag;
  }
  if (tag !== undefined) return tag;
  // No chunk without an id opens anything, so the only stream of its kind is the one it can mean.
  const owners = [...lanes].filter(([, lane]) => lane.kind === kind).map(([owner]) => owner);
  if (owners.length < 2) return owners[0];
  return { violation: violates("X3", TEXTS.chunkAmbiguous(type, field, owners.length, what)) };
}

/** X2: whether a continuation repeats something otherwise than the opener said it. */
function conflictOf(chunk: Chunk, lane: Lane, what: string): AgUiViolation | undefined {
  const check = (field: string, value: string | undefined, said: string | undefined) =>
    value === undefined || value === said
      ? undefined
      : violates("X2", TEXTS.chunkField(what, lane.id, field, value, said));
  switch (chunk.type) {
    case "TEXT_MESSAGE_CHUNK":
      return check("role", chunk.role, lane.role) ?? check("name", chunk.name, lane.name);
    case "TOOL_CALL_CHUNK":
      return (
        check("toolCallName", chunk.toolCallName, lane.toolCallName) ??
        check("parentMessageId", chunk.parentMessageId, lane.parentMessageId)
      );
    case "REASONING_MESSAGE_CHUNK":
      return undefined;
    default:
      return chunk satisfies never;
  }
}

/** X1. */
function openerProblem(chunk: Chunk, id: string | undefined): AgUiViolation | undefined {
  const missing =
    id === undefined
      ? KINDS[chunk.type].id
      : chunk.type === "TOOL_CALL_CHUNK" && chunk.toolCallName === undefined
        ? "toolCallName"
        : undefined;
  return missing && violates("X1", TEXTS.chunkFirst(chunk.type, missing));
}

function laneOf(chunk: Chunk, kind: Kind, id: string): Lane {
  const { subagentRunId } = chunk;
  switch (chunk.type) {
    case "TEXT_MESSAGE_CHUNK":
      return { kind, id, subagentRunId, role: chunk.role ?? "assistant", name: chunk.name };
    case "TOOL_CALL_CHUNK": {
      const { toolCallName, parentMessageId } = chunk;
      return { kind, id, subagentRunId, toolCallName, parentMessageId };
    }
    case "REASONING_MESSAGE_CHUNK":
      return { kind, id, subagentRunId };
    default:
      return chunk satisfies never;
  }
}

function startOf(chunk: Chunk, lane: Lane): AgUiEvent {
  const { id } = lane;
  const more = {
    ...(chunk.metadata !== undefined && { metadata: chunk.metadata }),
    ...tagOf(lane),
  };
  switch (chunk.type) {
    case "TEXT_MESSAGE_CHUNK": {
      const { role = "assistant", name } = chunk;
      const named = name !== undefined && { name };
      return { type: "TEXT_MESSAGE_START", messageId: id, role, ...named, ...more };
    }
    case "TOOL_CALL_CHUNK": {
      const { toolCallName = "", parentMessageId } = chunk;
      const parent = parentMessageId !== undefined && { parentMessageId };
      return { type: "TOOL_CALL_START", toolCallId: id, toolCallName, ...parent, ...more };
    }
    case "REASONING_MESSAGE_CHUNK":
      return { type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning", ...more };
    default:
      return chunk satisfies never;
  }
}

/** The tail of every streamed chunk: built field by field. */
function contentOf(chunk: Chunk, lane: Lane): AgUiEvent {
  const { delta = "", metadata, rawEvent } = chunk;
  const event: AgUiEventOf<
    "TEXT_MESSAGE_CONTENT" | "TOOL_CALL_ARGS" | "REASONING_MESSAGE_CONTENT"
  > =
    chunk.type === "TOOL_CALL_CHUNK"
      ? { type: "TOOL_CALL_ARGS", toolCallId: lane.id, delta }
      : chunk.type === "TEXT_MESSAGE_CHUNK"
        ? { type: "TEXT_MESSAGE_CONTENT", messageId: lane.id, delta }
        : { type: "REASONING_MESSAGE_CONTENT", messageId: lane.id, delta };
  const tag = chunk.subagentRunId ?? lane.subagentRunId;
  if (tag !== undefined) event.subagentRunId = tag;
  if (metadata !== undefined) event.metadata = metadata;
  if (rawEvent !== undefined) event.rawEvent = rawEvent;
  return event;
}

function close(lanes: Map<Owner, Lane>, owner: Owner, out: AgUiEvent[]): void {
  const lane = lanes.get(owner);
  if (!lane) return;
  lanes.delete(owner);
  const { kind, id } = lane;
  if (kind === "tool") out.push({ type: "TOOL_CALL_END", toolCallId: id, ...tagOf(lane) });
  else if (kind === "text") out.push({ type: "TEXT_MESSAGE_END", messageId: id, ...tagOf(lane) });
  else out.push({ type: "REASONING_MESSAGE_END", messageId: id, ...tagOf(lane) });
}

function hasContent({ delta, rawEvent }: Chunk): boolean {
  return delta !== undefined || rawEvent !== undefined;
}

function tagOf({ subagentRunId }: Lane): { subagentRunId?: string } {
  return subagentRunId === undefined ? {} : { subagentRunId };
}
