import {
  argumentsForModel,
  callsOf,
  partsOf,
  pathTo,
  resultOf,
  toFrameworkId,
  type Call,
  type SessionState,
  type TextItem,
} from "@holdfast/protocol";
import type { ModelMessage, ToolSet, UIMessage } from "ai";
import { recordOf } from "./extras.ts";
import { toolPart, type ToolPart } from "./tool-part.ts";
import { isStepEnd, messagesOf } from "./to-ui-message.ts";
import { userMessage } from "./user-message.ts";

type UIPart = UIMessage["parts"][number];

export interface ModelMessagesOptions {
  /** The run whose next attempt is sent them. */
  readonly runId: string;
  /** The agent's tools, for those that render their output for the model. */
  readonly tools?: ToolSet;
}

/**
 * The model history of a run's next attempt: the messages on its path, always valid (SPEC 8). Every call has exactly
 * one result, right after it; input is an object, unless the tool takes text; what was cut off is plain text. Calls
 * of the run that are approved and open end the history in their approval response, so that `streamText` executes
 * them. Imports `ai` when it is first called.
 */
export async function toModelMessages(
  state: SessionState,
  { runId, tools }: ModelMessagesOptions,
): Promise<ModelMessage[]> {
  const { convertToModelMessages } = await import("ai");
  const isCut = cutRounds(state);
  const ids = idsFor(state, runId);
  const messages = messagesOf(state, pathTo(state, runId), {
    call(call) {
      const exported = exportCall(call, runId);
      const part = exported && { ...exported, toolCallId: ids.get(call.id) ?? call.id };
      return part && isCut(call) ? withoutItemIds(part) : part;
    },
    text(item, part) {
      const shown = exportText(item, part);
      return shown && isCut(item) ? withoutItemIds(shown) : shown;
    },
  });
  for (const message of messages) message.parts = message.parts.flatMap(toSendable);
  const last = messages.at(-1);
  if (last?.role === "assistant") last.parts = executableLast(last.parts);
  messages.push(...steeringNext(state, runId));
  return convertToModelMessages(messages, tools && { tools });
}

/**
 * What the run was sent to steer it and has not read: its next round reads it, at the end of the history. While a call
 * is to be executed first, the history has to end in that (SPEC 5.8.2, 8.7).
 */
function steeringNext(state: SessionState, runId: string): UIMessage[] {
  const isRunnable = callsOf(state, runId).some(
    ({ status, executor }) => status === "open" && executor !== "client",
  );
  if (isRunnable) return [];
  return (state.runs.get(runId)?.steers ?? []).flatMap(({ messageId, consumed }) => {
    const message = consumed === undefined ? state.messages.get(messageId) : undefined;
    if (!message) return [];
    const { parts, ...rest } = userMessage(message);
    return [{ ...rest, parts: parts.flatMap(toSendable) }];
  });
}

/** Ids that are not the session's in this history: of signed calls to execute, and of those that they change places with. */
function idsFor(state: SessionState, forRun: string): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  for (const call of callsOf(state, forRun)) {
    if (resultOf(call, { forRun }).kind !== "approved") continue;
    const id = toFrameworkId(state, call);
    if (id !== call.id) ids.set(call.id, id).set(id, call.id);
  }
  return ids;
}

/** Whether a part's round broke off before the framework ended it: its provider may not have kept it. */
function cutRounds(state: SessionState): (part: Call | TextItem) => boolean {
  const ended = new Map<string, Set<number | undefined>>();
  const endedOf = (runId: string) => {
    let rounds = ended.get(runId);
    if (!rounds) {
      rounds = new Set();
      for (const { id } of partsOf(state, runId)) {
        const item = state.items.get(id);
        if (item?.kind === "event" && isStepEnd(item)) rounds.add(item.round);
      }
      ended.set(runId, rounds);
    }
    return rounds;
  };
  return ({ runId, round }) => round !== undefined && !endedOf(runId).has(round);
}

/** The part without the ids under which a provider would look up what it kept of it. */
function withoutItemIds<T extends UIPart>(part: T): T {
  const stripped: Record<string, unknown> = { ...part };
  for (const key of ["providerMetadata", "callProviderMetadata", "resultProviderMetadata"]) {
    const providers = recordOf(stripped[key]);
    if (!providers) continue;
    stripped[key] = Object.fromEntries(
      Object.entries(providers).map(([provider, fields]) => {
        const { itemId: _, ...others } = recordOf(fields) ?? {};
        return [provider, others];
      }),
    );
  }
  return stripped as T; // the same part, with less in its metadata
}

/** A call with its one result. */
function exportCall(call: Call, forRun: string): ToolPart | undefined {
  const part = toolPart(call);
  const result = resultOf(call, { forRun });
  if (!part || result.kind === "withdrawn") return undefined;
  const input = recordOf(part.input) ?? argumentsForModel(call);
  switch (result.kind) {
    case "answer":
      return { ...part, input };
    case "denied":
      return { ...part, input, ...deniedInWords(part, result.reason) } as ToolPart; // as it was, with its reason reworded
    case "approved":
      return { ...part, input } as ToolPart; // its state is approval-responded, since it is open and approved
    case "note":
      // Only the provider itself can have a result for a call it executes, so this one leaves.
      if (call.executor === "provider") return undefined;
      // What the framework told the model about a refused input is what its history repeats.
      return noted(part, input, call.status === "settled" ? part.errorText : result.text);
  }
}

/** The library tells a model nothing of a denial but its reason, which reads like a failure of the tool. */
function deniedInWords({ approval, providerExecuted }: ToolPart, reason: string | undefined) {
  if (!approval || providerExecuted) return {};
  const words = "Not executed: the user denied this call";
  return { approval: { ...approval, reason: reason ? `${words}: ${reason}` : `${words}.` } };
}

/** The part as a failed call that says why. */
function noted(part: ToolPart, input: unknown, errorText = "Not executed."): ToolPart {
  const { approval, ...named } = part;
  const approved = approval?.approved === true ? approval : undefined;
  return {
    type: named.type,
    ...("toolName" in named && { toolName: named.toolName }),
    toolCallId: named.toolCallId,
    ...(named.callProviderMetadata && { callProviderMetadata: named.callProviderMetadata }),
    state: "output-error",
    input,
    errorText,
    ...(approved && { approval: approved }),
  } as ToolPart; // an output-error part
}

/**
 * What a crash or a cancel cut off has no counterpart at the provider: reasoning leaves, text stays without the
 * provider's ids.
 */
function exportText(item: TextItem, part: UIPart): UIPart | undefined {
  if (item.status === "closed") return part;
  return item.kind === "reasoning" ? undefined : { type: "text", text: item.text };
}

/** The part with what can be sent of it. */
function toSendable(part: UIPart): UIPart[] {
  if (part.type !== "steering-message") return isSendable(part) ? [part] : [];
  const parts = part.parts.filter(isSendable);
  return parts.length > 0 ? [{ ...part, parts }] : [];
}

/** A file that says nowhere where it is cannot be sent, and must not keep the rest from being sent. */
function isSendable(part: UIPart): boolean {
  if (part.type !== "file" && part.type !== "reasoning-file") return true;
  return (
    ("providerReference" in part && part.providerReference !== undefined) || URL.canParse(part.url)
  );
}

/** Approval responses are read from the last message alone; one that content follows is told as not executed. */
function executableLast(parts: readonly UIPart[]): UIPart[] {
  const isContent = (part: UIPart) => part.type !== "step-start";
  const lastContent = parts.findLastIndex(isContent);
  const block = parts.slice(0, lastContent + 1).findLastIndex((part) => !isContent(part));
  return parts.map((part, index) =>
    index < block && "state" in part && part.state === "approval-responded"
      ? noted(part, part.input, "Not executed yet.")
      : part,
  );
}
