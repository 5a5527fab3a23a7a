import type { Call } from "../call.ts";
import type { ContentEvent, EventOf } from "../events.ts";
import type { TextItem } from "../item.ts";
import { callsOf, type SessionState } from "../state.ts";
import { contentOf } from "./content-parts.ts";
import type { Face } from "./face.ts";
import type { AgUiEvent } from "./face-event.ts";
import { knownFields } from "./known-fields.ts";
import { isShown, sealedItem } from "./messages.ts";
import { isObjectPatch } from "./json-patch.ts";
import { placeOf, placeOfCall } from "./place.ts";
import { ownedAs, untagged } from "./project-frames.ts";
import { agUiExtra, mergedMetadata, shownMetadata } from "./shown-metadata.ts";
import { toolMessageOf } from "./tool-message.ts";

type Start = EventOf<"TEXT_MESSAGE_START" | "REASONING_MESSAGE_START">;
type Delta = EventOf<"TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT">;
type End = EventOf<"TEXT_MESSAGE_END" | "REASONING_MESSAGE_END">;

/** Begins a text or reasoning message, or goes on with one that the reader holds. */
export function startText(
  face: Face,
  state: SessionState,
  item: TextItem,
  said?: Start,
): AgUiEvent[] {
  const { open, held } = face;
  const id = placeIn(face, state, item.kind, item.id);
  (item.kind === "text" ? open.texts : open.reasoning).set(item.id, id);
  if (id !== item.id) face.owed = true;
  const known = held.get(id);
  const role = item.kind === "reasoning" ? "reasoning" : (item.role ?? "assistant");
  const owner = known ? known.owner : item.subagentRunId;
  const metadata = mergedMetadata(said?.metadata, item.metadata);
  const more = {
    ...(said && extrasOf(said)),
    ...(owner !== undefined && { subagentRunId: owner }),
    ...(metadata && { metadata }),
  };
  const bucket = item.kind === "text" ? open.owners.message : open.owners.reasoning;
  const start: Start =
    item.kind === "text"
      ? {
          type: "TEXT_MESSAGE_START",
          messageId: id,
          role: item.role ?? "assistant",
          ...(item.name !== undefined && { name: item.name }),
          ...more,
        }
      : { type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning", ...more };
  const event = ownedAs(start, bucket);
  if (event !== start) face.changed = true;
  if (!known) held.push({ id, role, owner, hasContent: true });
  else if (!known.hasContent) {
    // A message that only carries calls gets its content here, whether words come or not.
    known.hasContent = true;
    return [event, { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: "" }];
  }
  return [event];
}

/** More of a message that is open. The common case costs one look and no copy. */
export function continueText(face: Face, state: SessionState, event: Delta): AgUiEvent[] {
  const isText = event.type === "TEXT_MESSAGE_CONTENT";
  const id = (isText ? face.open.texts : face.open.reasoning).get(event.messageId);
  if (id === undefined) return [];
  const plain: Delta = { type: event.type, messageId: id, delta: event.delta };
  return [withMore(plain, event, () => metadataOfItem(state, event))];
}

export function endText(face: Face, state: SessionState, event: End): AgUiEvent[] {
  const isText = event.type === "TEXT_MESSAGE_END";
  const open = isText ? face.open.texts : face.open.reasoning;
  const id = open.get(event.messageId);
  if (id === undefined) return [];
  open.delete(event.messageId);
  const plain: End = { type: event.type, messageId: id };
  return [withMore(plain, event, () => metadataOfItem(state, event))];
}

function metadataOfItem(state: SessionState, { messageId, metadata }: Delta | End) {
  const item = state.items.get(messageId);
  return item && "text" in item ? mergedMetadata(metadata, item.metadata) : undefined;
}

/** Proposes a call, or goes on with one that the reader holds. */
export function startCall(face: Face, call: Call, said?: EventOf<"TOOL_CALL_START">): AgUiEvent[] {
  if (!isShown(call) || face.open.calls.has(call.id)) return [];
  const { held } = face;
  face.open.calls.set(call.id, call.rev > 1 || said === undefined);
  let home = held.home(call.id);
  let isOwn = call.parentMessageId === undefined;
  if (!home) {
    const { messageId, known } = placeOfCall(call, (id) => held.get(id));
    const { subagentRunId: owner } = call;
    if (known) isOwn = false;
    home =
      held.get(messageId) ??
      held.push({ id: messageId, role: "assistant", owner, hasContent: false });
    held.setHome(call.id, home);
  }
  const metadata = mergedMetadata(said?.metadata, call.metadata);
  // A call without a parent makes a message of its own id.
  isOwn &&= home.id === call.id;
  const { owners } = face.open;
  if (!owners.message.has(home.id) && !isOwn) owners.message.set(home.id, home.owner);
  const owner = owners.message.has(home.id) ? owners.message.get(home.id) : home.owner;
  return [
    {
      type: "TOOL_CALL_START",
      toolCallId: call.id,
      toolCallName: call.name,
      ...(!isOwn && { parentMessageId: home.id }),
      ...(owner !== undefined && { subagentRunId: owner }),
      ...(said && extrasOf(said)),
      ...(metadata && { metadata }),
    },
  ];
}

export function continueCall(
  face: Face,
  state: SessionState,
  event: EventOf<"TOOL_CALL_ARGS" | "TOOL_CALL_END">,
): AgUiEvent[] {
  const { toolCallId } = event;
  const { calls } = face.open;
  if (!calls.has(toolCallId)) return [];
  const metadataOf = () => {
    return mergedMetadata(event.metadata, state.calls.get(toolCallId)?.metadata);
  };
  if (event.type === "TOOL_CALL_END") {
    calls.delete(toolCallId);
    return [withMore({ type: event.type, toolCallId }, event, metadataOf)];
  }
  if (event.delta !== "") calls.set(toolCallId, true);
  return [withMore({ type: event.type, toolCallId, delta: event.delta }, event, metadataOf)];
}

/** The result of a call of the agent's side, in the run it is shown in. */
export function resultEvent(face: Face, call: Call): AgUiEvent[] {
  const message = toolMessageOf(call, face.peer);
  if (!message) return [];
  const { held, open } = face;
  const id = held.get(message.id) ? `result:${call.id}` : message.id;
  if (held.get(id)) return [];
  if (id !== message.id) face.owed = true;
  const { toolCallId, content, metadata, subagentRunId: owner } = message;
  held.putResult(call.id, { id, role: "tool", owner, hasContent: true });
  open.owners.message.set(id, owner);
  return [
    {
      type: "TOOL_CALL_RESULT",
      messageId: id,
      toolCallId,
      content,
      role: "tool",
      ...(owner !== undefined && { subagentRunId: owner }),
      ...(metadata && { metadata }),
    },
  ];
}

/** A message that was read in the middle of a run. */
export function steerEvents(face: Face, state: SessionState, messageId: string): AgUiEvent[] {
  const { held, peer } = face;
  const node = state.messages.get(messageId);
  if (!node) return [];
  const content = contentOf(node.content, peer);
  const { name, encryptedValue, subagentRunId } = agUiExtra(node.metadata);
  const isPlain = encryptedValue === undefined && subagentRunId === undefined;
  // Whoever sent it holds it, elsewhere; and parts are more than text can say.
  if (held.get(messageId) || typeof content !== "string" || !isPlain) {
    face.owed = true;
    face.changed = true;
    return [];
  }
  held.push({ id: messageId, role: "user", owner: undefined, hasContent: true });
  const metadata = shownMetadata(node.metadata);
  const start: Start = {
    type: "TEXT_MESSAGE_START",
    messageId,
    role: "user",
    ...(typeof name === "string" && { name }),
    ...(metadata && { metadata }),
  };
  return [
    ownedAs(start, face.open.owners.message),
    { type: "TEXT_MESSAGE_CONTENT", messageId, delta: content },
    { type: "TEXT_MESSAGE_END", messageId },
  ];
}

export function activity(
  face: Face,
  state: SessionState,
  said: EventOf<"ACTIVITY_SNAPSHOT" | "ACTIVITY_DELTA">,
): AgUiEvent[] {
  const { held } = face;
  const event = knownFields(said);
  if (!event) return [];
  const metadata = shownMetadata(said.metadata);
  const more = metadata && { metadata };
  switch (event.type) {
    case "ACTIVITY_SNAPSHOT": {
      const id = placeIn(face, state, "activity", event.messageId);
      const known = held.get(id);
      if (id !== event.messageId) face.owed = true;
      if (!known) {
        held.push({ id, role: "activity", owner: event.subagentRunId, hasContent: true });
      }
      return [{ ...event, messageId: id, ...more }];
    }
    case "ACTIVITY_DELTA": {
      const id = placeIn(face, state, "activity", event.messageId);
      const isKnown = held.get(id)?.role === "activity";
      return isKnown && isObjectPatch(event.patch)
        ? [{ ...untagged(event), messageId: id, ...more }]
        : [];
    }
    default:
      return [];
  }
}

/** What a provider seals of a message or a call of the run, for later requests. */
export function sealed(
  face: Face,
  state: SessionState,
  said: EventOf<"REASONING_ENCRYPTED_VALUE">,
): AgUiEvent[] {
  const { held, shown } = face;
  const event = knownFields(said);
  if (!event) return [];
  const metadata = shownMetadata(said.metadata);
  const more = metadata && { metadata };
  if (event.subtype === "tool-call") {
    const call = state.calls.get(event.entityId);
    const isSeen = call?.runId === shown?.runId && !call?.redacted && held.home(event.entityId);
    return isSeen ? [{ ...untagged(event), ...more }] : [];
  }
  const item = sealedItem(state, shown?.runId, event);
  const entityId = item ? placeIn(face, state, item.kind, item.id) : event.entityId;
  const isSeen = item ? held.get(entityId) : carries(face, state, entityId);
  return isSeen ? [{ ...untagged(event), entityId, ...more }] : [];
}

/** Whether a message carries a call of the run that is shown. */
function carries({ held, shown }: Face, state: SessionState, messageId: string): boolean {
  const message = held.get(messageId);
  if (!shown || message?.role !== "assistant") return false;
  return callsOf(state, shown.runId).some(({ id }) => held.home(id) === message);
}

function placeIn(
  { held }: Face,
  { messages }: SessionState,
  kind: "text" | "reasoning" | "activity",
  id: string,
): string {
  return placeOf(
    kind,
    id,
    (it) => held.get(it),
    (it) => messages.has(it),
  );
}

/** The event with what its sender put beside the plain fields; itself where that is nothing. */
function withMore<E extends AgUiEvent>(
  plain: E,
  said: ContentEvent,
  metadataOf: () => E["metadata"],
): E {
  if (said.metadata === undefined && said.timestamp === undefined && said.rawEvent === undefined)
    return plain;
  const metadata = said.metadata && metadataOf();
  return { ...plain, ...extrasOf(said), ...(metadata && { metadata }) };
}

/** When an event was made, and out of what, as its sender says. */
function extrasOf({ timestamp, rawEvent }: ContentEvent) {
  return {
    ...(Number.isSafeInteger(timestamp) && { timestamp }),
    ...(rawEvent !== undefined && rawEvent !== null && { rawEvent }),
  };
}
