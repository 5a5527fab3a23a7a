import type * as agui from "@ag-ui/core";
import type { Call } from "../call.ts";
import type { ContentEvent, EventOf } from "../events.ts";
import type { Item, TextItem } from "../item.ts";
import type { MessageNode, Run } from "../run.ts";
import { partsOf, tipOf, type SessionState } from "../state.ts";
import { pathTo, wasRead } from "../tree.ts";
import { contentOf } from "./content-parts.ts";
import type { AgUiMessage, Peer } from "./face-event.ts";
import { INTERRUPT_TOOL } from "./interrupt.ts";
import { isObjectPatch, patched } from "./json-patch.ts";
import { placeOf, placeOfCall } from "./place.ts";
import { agUiExtra, shownMetadata } from "./shown-metadata.ts";
import { toolMessageOf } from "./tool-message.ts";

export interface MessagesOptions {
  /** Default `1.0`. */
  readonly peer?: Peer;
  /** The run whose thread is meant: the path ends with it. Default: the path to the session's newest node. */
  readonly runId?: string;
}

/**
 * The session's path as a thread's messages (SPEC 12.3.3): what a stock client holds that followed everything, in its order.
 * Results stand behind the message with their call, in the order they came. Costs the path.
 */
export function agUiMessages(
  state: SessionState,
  { peer = "1.0", runId }: MessagesOptions = {},
): AgUiMessage[] {
  const tip = runId ?? tipOf(state);
  return messagesAlong(state, tip === undefined ? [] : pathTo(state, tip), peer);
}

/** @param isHidden runs whose content is left out */
export function messagesAlong(
  state: SessionState,
  path: readonly string[],
  peer: Peer,
  isHidden: (run: Run) => boolean = () => false,
): AgUiMessage[] {
  const list = createList(state, peer);
  for (const nodeId of path) {
    const message = state.messages.get(nodeId);
    if (message && !wasRead(state, message)) list.addUser(message);
    const run = state.runs.get(nodeId);
    if (!run || isHidden(run)) continue;
    for (const { kind, id } of partsOf(state, nodeId)) {
      if (kind === "call") list.addCall(state.calls.get(id));
      else list.addItem(state.items.get(id));
    }
  }
  return list.finish();
}

/** Folds rows as a stock client folds their events. */
function createList(state: SessionState, peer: Peer) {
  const messages: AgUiMessage[] = [];
  const byId = new Map<string, AgUiMessage>();
  const carried = new Map<AgUiMessage, Call[]>();
  const lookup = (id: string) => {
    const message = byId.get(id);
    return message && { role: message.role, owner: message.subagentRunId };
  };
  const place = (kind: Parameters<typeof placeOf>[0], id: string) =>
    placeOf(kind, id, lookup, (it) => state.messages.has(it));
  const push = (message: AgUiMessage): AgUiMessage => {
    messages.push(message);
    byId.set(message.id, message);
    return message;
  };

  function addText(item: TextItem): void {
    const id = place(item.kind, item.id);
    const metadata = shownMetadata(item.metadata);
    const known = byId.get(id);
    if (known) {
      if (known.role === "activity" || known.role === "tool") return;
      known.content = `${typeof known.content === "string" ? known.content : ""}${item.text}`;
      if (metadata) known.metadata = { ...known.metadata, ...metadata };
      return;
    }
    const more = {
      ...(item.subagentRunId !== undefined && { subagentRunId: item.subagentRunId }),
      ...(metadata && { metadata }),
    };
    if (item.kind === "reasoning") push({ id, role: "reasoning", content: item.text, ...more });
    else {
      const name = item.name !== undefined && { name: item.name };
      push({ id, role: item.role ?? "assistant", content: item.text, ...name, ...more });
    }
  }

  function addEvent(event: ContentEvent, runId: string): void {
    switch (event.type) {
      case "ACTIVITY_SNAPSHOT":
        return addActivity(event);
      case "ACTIVITY_DELTA": {
        const activity = byId.get(place("activity", event.messageId));
        if (activity?.role !== "activity") return;
        if (!isObjectPatch(event.patch)) return;
        addMetadata(activity, event);
        const content = patched(activity.content, event.patch);
        if (!content) return;
        // An object stays one.
        activity.content = content.value as agui.ActivityMessage["content"];
        activity.activityType = event.activityType;
        return;
      }
      case "REASONING_ENCRYPTED_VALUE": {
        const item = sealedItem(state, runId, event);
        const message = item ? byId.get(place(item.kind, item.id)) : carrierOf(runId, event);
        if (message && message.role !== "activity") message.encryptedValue = event.encryptedValue;
        return;
      }
      default:
        return;
    }
  }

  /** A message that only carries calls of the run. */
  function carrierOf(runId: string, { subtype, entityId }: EventOf<"REASONING_ENCRYPTED_VALUE">) {
    const message = subtype === "message" ? byId.get(entityId) : undefined;
    return message && carried.get(message)?.some((call) => call.runId === runId)
      ? message
      : undefined;
  }

  function addActivity(event: Extract<ContentEvent, { type: "ACTIVITY_SNAPSHOT" }>): void {
    const { messageId, activityType, content, subagentRunId, replace } = event;
    const id = place("activity", messageId);
    const known = byId.get(id);
    const owner = subagentRunId !== undefined && { subagentRunId };
    if (!known) {
      addMetadata(push({ id, role: "activity", activityType, content, ...owner }), event);
      return;
    }
    if (known.role !== "activity") return;
    if (replace !== false) {
      delete known.subagentRunId;
      Object.assign(known, { activityType, content, ...owner });
    }
    addMetadata(known, event);
  }

  return {
    addUser(node: MessageNode): void {
      const id = place("message", node.id);
      if (byId.has(id)) return;
      push(userMessage(node, id, peer));
    },

    addItem(item: Item | undefined): void {
      switch (item?.kind) {
        case "text":
        case "reasoning":
          return addText(item);
        case "steer":
          return this.addUser(item.message);
        case "event":
          return addEvent(item.event, item.runId);
        default:
          return;
      }
    },

    addCall(call: Call | undefined): void {
      if (!call || !isShown(call)) return;
      const { messageId } = placeOfCall(call, lookup);
      const owner = call.subagentRunId !== undefined && { subagentRunId: call.subagentRunId };
      const message = byId.get(messageId) ?? push({ id: messageId, role: "assistant", ...owner });
      if (message.role !== "assistant") return;
      (message.toolCalls ??= []).push(toolCallOf(call));
      const calls = carried.get(message);
      if (calls) calls.push(call);
      else carried.set(message, [call]);
    },

    /** The list, with the results where they belong. */
    finish(): AgUiMessage[] {
      return messages.flatMap((message) => {
        const calls = carried.get(message);
        return calls ? [message, ...resultsOf(calls, peer, byId)] : [message];
      });
    },
  };
}

/** Whether a call has a place in a thread: it was not taken back, and is no interrupt. */
export function isShown(call: Call): boolean {
  return !call.withdrawn && call.outcome !== "superseded" && call.name !== INTERRUPT_TOOL;
}

export function userMessage(node: MessageNode, id: string, peer: Peer): agui.UserMessage {
  const { name, encryptedValue, subagentRunId } = agUiExtra(node.metadata);
  const metadata = shownMetadata(node.metadata);
  return {
    id,
    role: "user",
    content: contentOf(node.content, peer),
    ...(typeof name === "string" && { name }),
    ...(typeof encryptedValue === "string" && { encryptedValue }),
    ...(typeof subagentRunId === "string" && { subagentRunId }),
    ...(metadata && { metadata }),
  };
}

function toolCallOf(call: Call): agui.ToolCall {
  const encryptedValue = call.metadata?.["encryptedValue"];
  const metadata = shownMetadata(call.metadata);
  return {
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
    ...(typeof encryptedValue === "string" && { encryptedValue }),
    ...(metadata && { metadata }),
  };
}

function resultsOf(
  calls: readonly Call[],
  peer: Peer,
  taken: Map<string, AgUiMessage>,
): AgUiMessage[] {
  const settled = calls.filter(({ status }) => status === "settled");
  settled.sort((a, b) => ((a.settledOffset ?? "") < (b.settledOffset ?? "") ? -1 : 1));
  return settled.flatMap((call) => {
    const message = toolMessageOf(call, peer);
    if (!message) return [];
    const id = taken.has(message.id) ? `result:${call.id}` : message.id;
    const named = id === message.id ? message : { ...message, id };
    taken.set(id, named);
    return [named];
  });
}

/** The message that a sealed value belongs to: one of its own run (SPEC 2.1.6). A call's is on its row. */
export function sealedItem(
  { items }: SessionState,
  runId: string | undefined,
  { subtype, entityId }: EventOf<"REASONING_ENCRYPTED_VALUE">,
): TextItem | undefined {
  const item = subtype === "message" ? items.get(entityId) : undefined;
  return item && "text" in item && item.runId === runId ? item : undefined;
}

function addMetadata(message: AgUiMessage, { metadata }: ContentEvent): void {
  const shown = shownMetadata(metadata);
  if (shown) message.metadata = { ...message.metadata, ...shown };
}
