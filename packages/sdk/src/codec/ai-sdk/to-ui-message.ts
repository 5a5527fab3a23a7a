import {
  HoldfastError,
  partsOf,
  reject,
  type Call,
  type EventItem,
  type Run,
  type SessionState,
  type SteerItem,
  type TextItem,
  wasRead,
} from "@holdfast/protocol";
import type { UIMessage } from "ai";
import { NAME, ownOf, recordOf, stringOf, type Extras } from "./extras.ts";
import { mergeMessageMetadata } from "./merge-objects.ts";
import { toolPart, type ToolPart } from "./tool-part.ts";
import { userMessage } from "./user-message.ts";

type UIPart = UIMessage["parts"][number];

/**
 * A run as the library's assistant message: deep-equal, as JSON, to what the library itself builds from the run's
 * chunks, except where the session knows better than the stream (see {@link toolPart}).
 *
 * @throws {HoldfastError} `unknown_run`
 */
export function toUIMessage(state: SessionState, runId: string): UIMessage {
  const run = state.runs.get(runId);
  if (!run)
    throw new HoldfastError(
      reject("unknown_run", `The session has no run "${runId}": take an id from its state.`),
    );
  return rebuild(state, run);
}

/** All messages of a session in log order; a run that has said nothing yet has none, and what a run read is in its own. */
export function toUIMessages(state: SessionState): UIMessage[] {
  return messagesOf(state, state.index.nodes);
}

/** How parts are made, where they are to differ from what a page shows. */
export interface PartViews {
  readonly call?: (call: Call) => ToolPart | undefined;
  readonly text?: (item: TextItem, part: UIPart) => UIPart | undefined;
}

export function messagesOf(
  state: SessionState,
  nodes: readonly string[],
  views?: PartViews,
): UIMessage[] {
  return nodes.flatMap((id) => {
    const message = state.messages.get(id);
    if (message) return wasRead(state, message) ? [] : [userMessage(message)];
    const run = state.runs.get(id);
    const rebuilt = run && rebuild(state, run, views);
    return rebuilt && rebuilt.parts.length > 0 ? [rebuilt] : [];
  });
}

function rebuild(state: SessionState, run: Run, views: PartViews = {}): UIMessage {
  const parts: UIPart[] = [];
  for (const { kind, id } of partsOf(state, run.id)) {
    if (kind === "call") {
      const call = state.calls.get(id);
      const part = call && (views.call ?? toolPart)(call);
      if (part) parts.push(part);
      continue;
    }
    const item = state.items.get(id);
    if (!item) continue;
    switch (item.kind) {
      case "round":
        parts.push({ type: "step-start" });
        break;
      case "text":
      case "reasoning": {
        const part = textPart(item, run);
        const shown = views.text ? views.text(item, part) : part;
        if (shown) parts.push(shown);
        break;
      }
      case "steer":
        parts.push(steeringPart(item));
        break;
      case "event":
        if (!isSteerOf(state, run, item)) addEvent(parts, item);
        break;
    }
  }
  const { id, metadata } = aboutMessage(run);
  return { id, role: "assistant", ...(metadata !== undefined && { metadata }), parts };
}

/** Whether the framework's own chunk says what the session knows to have steered the run: it is shown once. */
function isSteerOf(state: SessionState, run: Run, { event }: EventItem): boolean {
  if (event.type !== "CUSTOM" || event.name !== `${NAME}.steering-message`) return false;
  const id = stringOf(recordOf(event.value)?.["id"]);
  return id !== undefined && state.messages.get(id)?.steers === run.id;
}

/** What a person said to steer the run, where the run read it. */
function steeringPart({ message }: SteerItem): UIPart {
  const { id, parts } = userMessage(message);
  return { type: "steering-message", id, parts } as UIPart; // the library's own part for it
}

function textPart(item: TextItem, run: Run): UIPart {
  const extras = ownOf(item.metadata);
  const streams = item.status === "open" && run.status === "active";
  return {
    type: item.kind,
    ...(item.kind === "reasoning" && extras["id"] !== undefined && { id: extras["id"] }),
    text: item.text,
    state: streams ? "streaming" : "done",
    ...pick(extras, "providerMetadata"),
    ...(item.kind === "text" && pick(extras, "citations")),
  } as UIPart; // the fields are the library's own, as it sent them
}

/** The id and metadata that the run's streams gave the message, merged in their order; its first id stays. */
function aboutMessage(run: Run): { id: string; metadata?: unknown } {
  let id: string | undefined;
  let metadata: unknown;
  // Keys are attempts, or attempt and stream: `2`, `2-1`, `10`.
  const streams = Object.entries(ownOf(run.metadata)).sort(([a], [b]) =>
    a.localeCompare(b, "en", { numeric: true }),
  );
  for (const [, about] of streams) {
    id ??= stringOf(recordOf(recordOf(about)?.["start"])?.["messageId"]);
    metadata = mergeMessageMetadata(metadata, recordOf(about)?.["metadata"]);
  }
  return { id: id ?? run.id, metadata };
}

/** Adds what a chunk kept whole stands for. */
function addEvent(parts: UIPart[], { event }: EventItem): void {
  if (event.type !== "CUSTOM" || !event.name.startsWith(`${NAME}.`)) return;
  const chunk = recordOf(event.value);
  if (!chunk) return;
  const type = event.name.slice(NAME.length + 1);
  if (type.startsWith("data-")) {
    addDataPart(parts, type, chunk);
    return;
  }
  const fields = CUSTOM_PARTS.get(type);
  if (fields) parts.push({ type, ...pick(chunk, ...fields) } as UIPart); // as the library sent it
}

/** Whether the event is a step's own end, as against one that the server closed. */
export function isStepEnd({ event }: EventItem): boolean {
  return event.type === "CUSTOM" && event.name === `${NAME}.finish-step`;
}

/** Which of a chunk's fields its part has. */
const CUSTOM_PARTS: ReadonlyMap<string, readonly string[]> = new Map([
  ["custom", ["kind", "providerMetadata"]],
  ["source-url", ["sourceId", "url", "title", "providerMetadata"]],
  ["source-document", ["sourceId", "mediaType", "title", "filename", "providerMetadata"]],
  ["file", ["mediaType", "url", "providerMetadata"]],
  ["reasoning-file", ["mediaType", "url", "providerMetadata"]],
  ["steering-message", ["id", "parts"]],
]);

/** A data part replaces the content of an earlier one of its type and id; a transient one is no part. */
function addDataPart(parts: UIPart[], type: string, chunk: Extras): void {
  if (chunk["transient"]) return;
  const { id } = chunk;
  const at =
    id === undefined || id === null
      ? -1
      : parts.findIndex((part) => part.type === type && "id" in part && part.id === id);
  const before = parts[at];
  const part = before ? { ...before, data: chunk["data"] } : { ...chunk, type };
  if (before) parts[at] = part as UIPart;
  else parts.push(part as UIPart); // a data part is its chunk
}

function pick(from: Extras, ...keys: readonly string[]): Extras {
  return Object.fromEntries(
    keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]]),
  );
}
