import type { AgentItem, CallHints } from "@holdfast/protocol";
import type { UIMessageChunk } from "ai";
import { jsonOf, NAME, own, rest, type Extras } from "./extras.ts";
import { finalText, type InputKind } from "./input.ts";
import type { AiSdkScope, Ids } from "./scope.ts";

type ChunkOf<T extends UIMessageChunk["type"]> = Extract<UIMessageChunk, { type: T }>;
type Final = ChunkOf<"tool-input-available" | "tool-input-error">;

/** What is known of a call that this stream announced. */
interface Announced {
  readonly id: string;
  readonly name: string;
  /** The message of the round it was announced in. */
  readonly parent: string;
  readonly encoding: "json" | "text";
  arguments: string;
  ended: boolean;
  /** Fields of its preliminary outputs so far. */
  progress: Extras;
  /** The agent's own policy refused it. */
  refused?: { readonly reason?: string };
}

/**
 * Calls of one attempt. Chunk fields the protocol has no word for ride along by the chunk they came with: `start`,
 * `available`, `inputError`, `automatic`, `response`, `denied`, `echo` and `progress` on the call, those of an output
 * on its answer, those of a request for approval on the approval.
 */
export interface CallEncoder {
  inputStart(chunk: ChunkOf<"tool-input-start">): AgentItem[];
  inputDelta(chunk: ChunkOf<"tool-input-delta">): AgentItem[];
  inputAvailable(chunk: ChunkOf<"tool-input-available">): AgentItem[];
  inputError(chunk: ChunkOf<"tool-input-error">): AgentItem[];
  approvalRequest(chunk: ChunkOf<"tool-approval-request">): AgentItem[];
  approvalResponse(chunk: ChunkOf<"tool-approval-response">): AgentItem[];
  outputAvailable(chunk: ChunkOf<"tool-output-available">): AgentItem[];
  outputError(chunk: ChunkOf<"tool-output-error">): AgentItem[];
  outputDenied(chunk: ChunkOf<"tool-output-denied">): AgentItem[];
  /** The calls of the current round were taken back with it. */
  reset(): void;
}

export function createCallEncoder(scope: AiSdkScope, ids: Ids): CallEncoder {
  const announced = new Map<string, Announced>();
  const echoed = new Set<string>();
  const approvals = new Map<string, { callId: string; automatic: Announced | undefined }>();

  const idOf = (toolCallId: string) => announced.get(toolCallId)?.id ?? toolCallId;

  function claimed(callId: string): { claimId?: string } {
    const claimId = scope.claimOf?.(callId);
    return claimId === undefined ? {} : { claimId };
  }

  function announce(
    chunk: { toolCallId: string; toolName: string; providerExecuted?: boolean },
    encoding: "json" | "text",
    extras: Extras | undefined,
  ): { call: Announced; items: AgentItem[] } {
    const id = scope.takeCallId?.(chunk.toolCallId) ?? chunk.toolCallId;
    const call: Announced = {
      id,
      name: chunk.toolName,
      parent: ids.round(),
      encoding,
      arguments: "",
      ended: false,
      progress: {},
    };
    announced.set(chunk.toolCallId, call);
    const hints: CallHints = {
      ...(chunk.providerExecuted && { executor: "provider" }),
      ...(encoding === "text" && { argumentsEncoding: "text" }),
      ...(id !== chunk.toolCallId && { providerCallId: chunk.toolCallId }),
    };
    const metadata = {
      ...(Object.keys(hints).length > 0 && { holdfast: hints }),
      ...(extras && { [NAME]: extras }),
    };
    return {
      call,
      items: [
        {
          type: "TOOL_CALL_START",
          toolCallId: id,
          toolCallName: chunk.toolName,
          parentMessageId: call.parent,
          ...(Object.keys(metadata).length > 0 && { metadata }),
        },
      ],
    };
  }

  /** The call a chunk of the current round is about; a framework may use an id again in a later round. */
  function current(toolCallId: string): Announced | undefined {
    const call = announced.get(toolCallId);
    return call?.parent === ids.round() ? call : undefined;
  }

  function argumentsDelta(call: Announced, delta: string, extras?: Extras): AgentItem {
    call.arguments += delta;
    return { type: "TOOL_CALL_ARGS", toolCallId: call.id, delta, ...own(extras) };
  }

  function finish(chunk: Final, extras: Extras): AgentItem[] {
    const known = current(chunk.toolCallId);
    if (known) return end(known, chunk, extras);
    // Never streamed. Only a tool that takes text has a string for its input; broken JSON is no such input.
    const isText = chunk.type === "tool-input-available" && typeof chunk.input === "string";
    const { call, items } = announce(chunk, isText ? "text" : "json", undefined);
    const text = typeof chunk.input === "string" ? chunk.input : jsonText(chunk.input);
    if (text !== "") items.push(argumentsDelta(call, text));
    return [...items, ...end(call, chunk, extras)];
  }

  function end(call: Announced, chunk: Final, extras: Extras): AgentItem[] {
    const { replacement, kind } = finalText(
      { arguments: call.arguments, argumentsEncoding: call.encoding },
      chunk.input,
      chunk.type === "tool-input-error",
    );
    const named: Extras & { readonly input?: InputKind } = {
      ...extras,
      ...(kind && { input: kind }),
      ...(call.name !== chunk.toolName && { toolName: chunk.toolName }),
    };
    const metadata = { [NAME]: named };
    const replaced: AgentItem[] = [];
    if (replacement !== undefined) {
      call.arguments = replacement;
      replaced.push({
        type: "call.replace_arguments",
        callId: call.id,
        arguments: replacement,
      });
    }
    if (call.ended && replaced.length === 0) {
      return [{ type: "call.annotate", callId: call.id, metadata }, ...invalid(call, chunk)];
    }
    const reopened: AgentItem[] = call.ended
      ? [
          {
            type: "TOOL_CALL_START",
            toolCallId: call.id,
            toolCallName: call.name,
            parentMessageId: call.parent,
          },
        ]
      : [];
    call.ended = true;
    return [
      ...reopened,
      ...replaced,
      { type: "TOOL_CALL_END", toolCallId: call.id, metadata },
      ...invalid(call, chunk),
    ];
  }

  /**
   * The framework announces a call of an earlier attempt again, now that it was approved: before its first round, or
   * within one where the provider executed it. Any other has only an id that its provider uses again.
   */
  const isEcho = ({ toolCallId, providerExecuted }: Final | ChunkOf<"tool-input-start">) =>
    !announced.has(toolCallId) &&
    scope.approved?.has(toolCallId) === true &&
    (providerExecuted === true || !ids.inRounds());

  function echo(chunk: Final | ChunkOf<"tool-input-start">): AgentItem[] {
    echoed.add(chunk.toolCallId);
    const again = rest(chunk, ["toolCallId", "toolName", "input"]) ?? {};
    return [
      { type: "call.annotate", callId: chunk.toolCallId, metadata: { [NAME]: { echo: again } } },
    ];
  }

  return {
    inputStart(chunk) {
      if (isEcho(chunk)) return echo(chunk);
      const extras = rest(chunk, ["toolCallId", "toolName"]);
      return announce(chunk, chunk.inputEncoding ?? "json", { start: extras ?? {} }).items;
    },
    inputDelta(chunk) {
      if (!announced.has(chunk.toolCallId) && echoed.has(chunk.toolCallId)) return [];
      const delta = rest(chunk, ["toolCallId", "inputTextDelta"]);
      const known = current(chunk.toolCallId);
      // A delta is nothing without its start, which alone says the tool's name.
      return known
        ? [argumentsDelta(known, chunk.inputTextDelta, delta && { delta })]
        : [{ type: "CUSTOM", name: `${NAME}.${chunk.type}`, value: chunk }];
    },
    inputAvailable(chunk) {
      if (isEcho(chunk)) return echo(chunk);
      return finish(chunk, { available: rest(chunk, ["toolCallId", "toolName", "input"]) ?? {} });
    },
    inputError(chunk) {
      if (isEcho(chunk)) return echo(chunk);
      return finish(chunk, { inputError: rest(chunk, ["toolCallId", "toolName", "input"]) ?? {} });
    },
    approvalRequest(chunk) {
      const { approvalId, reason } = chunk;
      const callId = idOf(chunk.toolCallId);
      const isAutomatic = chunk.isAutomatic === true;
      const automatic = isAutomatic ? announced.get(chunk.toolCallId) : undefined;
      approvals.set(approvalId, { callId, automatic });
      if (isAutomatic) {
        // Nobody is asked: the agent answers its own request in the next chunk.
        const request = rest(chunk, ["toolCallId"]) ?? {};
        return [{ type: "call.annotate", callId, metadata: { [NAME]: { automatic: request } } }];
      }
      return [
        {
          type: "call.ask",
          callId,
          approvalId,
          ...(reason !== undefined && { reason }),
          ...(chunk.signature !== undefined && { signed: true }),
          ...own(rest(chunk, ["toolCallId", "approvalId", "reason"])),
        },
      ];
    },
    approvalResponse(chunk) {
      const asked = approvals.get(chunk.approvalId);
      if (!asked) return [{ type: "CUSTOM", name: `${NAME}.${chunk.type}`, value: chunk }];
      if (asked.automatic && !chunk.approved) {
        asked.automatic.refused = { ...(chunk.reason !== undefined && { reason: chunk.reason }) };
      }
      const response = rest(chunk, []) ?? {};
      return [{ type: "call.annotate", callId: asked.callId, metadata: { [NAME]: { response } } }];
    },
    outputAvailable(chunk) {
      const callId = idOf(chunk.toolCallId);
      const absent = chunk.output === undefined && { output: "absent" };
      const extras = { ...rest(chunk, ["toolCallId", "output"]), ...absent };
      const value = jsonOf(chunk.output);
      const call = announced.get(chunk.toolCallId);
      if (chunk.preliminary === true) {
        const progress = { ...call?.progress, ...extras };
        if (call) call.progress = progress;
        return [
          {
            type: "call.progress",
            callId,
            ...claimed(callId),
            progress: value,
            metadata: { [NAME]: { progress } },
          },
        ];
      }
      return [
        {
          type: "call.answer",
          callId,
          ...claimed(callId),
          outcome: "ok",
          answer: { type: "json", value },
          ...own(Object.keys(extras).length > 0 ? extras : undefined),
        },
      ];
    },
    outputError(chunk) {
      const callId = idOf(chunk.toolCallId);
      return [
        {
          type: "call.answer",
          callId,
          ...claimed(callId),
          outcome: "error",
          answer: { type: "text", text: chunk.errorText },
          ...own(rest(chunk, ["toolCallId", "errorText"])),
        },
      ];
    },
    outputDenied(chunk) {
      const call = announced.get(chunk.toolCallId);
      const callId = idOf(chunk.toolCallId);
      const denied = rest(chunk, ["toolCallId"]) ?? {};
      if (!call?.refused) {
        // The echo of a decision that the server knows already.
        return [{ type: "call.annotate", callId, metadata: { [NAME]: { denied } } }];
      }
      return [
        {
          type: "call.answer",
          callId,
          ...claimed(callId),
          outcome: "error",
          answer: { type: "text", text: call.refused.reason ?? "Tool call execution denied." },
          declined: true,
          ...own({ denied }),
        },
      ];
    },
    reset() {
      for (const [key, call] of announced) {
        if (call.parent === ids.round()) announced.delete(key);
      }
    },
  };
}

/** The framework's objection, unless a provider executes the call whatever we think of it: its output settles it. */
function invalid(call: Announced, chunk: Final): AgentItem[] {
  if (chunk.type !== "tool-input-error" || chunk.providerExecuted) return [];
  return [{ type: "call.invalidate", callId: call.id, error: { message: chunk.errorText } }];
}

function jsonText(input: unknown): string {
  return input === undefined ? "" : JSON.stringify(input);
}
