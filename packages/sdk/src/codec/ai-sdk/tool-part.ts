import { resultOf, type Approval, type Call } from "@holdfast/protocol";
import type { DynamicToolUIPart, ToolUIPart } from "ai";
import { ownOf, recordOf, stringOf, type Extras } from "./extras.ts";
import { inputOfText, partialInput, type InputKind } from "./input.ts";

export type ToolPart = ToolUIPart | DynamicToolUIPart;

/** A tool part under construction; which fields go with which state is decided in one place, below. */
type Fields = Record<string, unknown> & { state?: ToolPart["state"] };

/**
 * The part of a call, as the library builds it from the chunks; where the session knows better than the stream (a
 * person decided, an application answered, the call was cancelled) the part says what the session knows.
 *
 * @returns undefined for a call that was taken back
 */
export function toolPart(call: Call): ToolPart | undefined {
  if (call.withdrawn || call.outcome === "superseded") return undefined;
  const extras = ownOf(call.metadata);
  const dynamic = isDynamic(extras);
  const name = stringOf(extras["toolName"]) ?? call.name;
  const approval = approvalOf(call, extras);
  return {
    ...(dynamic ? { type: "dynamic-tool", toolName: name } : { type: `tool-${name}` }),
    toolCallId: call.id,
    ...described(call, extras),
    ...stateFields(call, extras),
    ...(approval && { approval }),
  } as ToolPart; // the states' fields are checked against the library's own reader, see the tests
}

/** Whether the framework has no schema of the tool; an input error takes the kind of a part that stands already. */
function isDynamic(extras: Extras): boolean {
  const first =
    recordOf(extras["start"]) ?? recordOf(extras["available"]) ?? recordOf(extras["inputError"]);
  return first?.["dynamic"] === true;
}

/** Fields that do not depend on the state, chunk after chunk: the last one that says something wins. */
function described(call: Call, extras: Extras): Fields {
  const fields: Fields = {};
  const take = (chunk: Extras | undefined, isResult: boolean, keys: readonly string[]) => {
    if (!chunk) return;
    for (const key of keys) if (chunk[key] !== undefined) fields[key] = chunk[key];
    const metadata = chunk["providerMetadata"];
    if (metadata !== undefined && metadata !== null)
      fields[isResult ? "resultProviderMetadata" : "callProviderMetadata"] = metadata;
  };
  if (call.executor === "provider") fields["providerExecuted"] = true;
  const start = recordOf(extras["start"]);
  const inputError = recordOf(extras["inputError"]);
  take(start, false, ["title", "toolMetadata", "providerExecuted"]);
  take(recordOf(extras["available"]), false, ["title", "toolMetadata", "providerExecuted"]);
  take(inputError, true, ["toolMetadata", "providerExecuted"]);
  take(recordOf(extras["response"]), false, ["providerExecuted"]);
  take(recordOf(extras["progress"]), true, ["toolMetadata", "providerExecuted"]);
  take(ownOf(call.answer?.metadata), true, ["toolMetadata", "providerExecuted"]);
  return fields;
}

function stateFields(call: Call, extras: Extras): Fields {
  if (call.status === "streaming") return streamingFields(call, extras);
  const input = inputOf(call, extras);
  if (call.status === "settled") return { input, ...settledFields(call) };
  if (call.progress !== undefined) return { input, ...progressFields(call, extras) };
  const approval = call.approval;
  if (approval) {
    const state = approval.decision?.approved ? "approval-responded" : "approval-requested";
    return { input, state };
  }
  if (extras["denied"] !== undefined) return { input, state: "output-denied" };
  if (extras["response"] !== undefined) return { input, state: "approval-responded" };
  if (extras["automatic"] !== undefined) return { input, state: "approval-requested" };
  const error = inputErrorOf(call, extras);
  if (error !== undefined) return { input, state: "output-error", errorText: error };
  return { input, state: "input-available" };
}

function streamingFields(call: Call, extras: Extras): Fields {
  const encoding = recordOf(extras["start"])?.["inputEncoding"];
  const input = partialInput(call);
  return {
    state: "input-streaming",
    ...(input !== undefined && { input }),
    ...(call.arguments !== "" && { rawInput: call.arguments }),
    ...(encoding !== undefined && { inputEncoding: encoding }),
  };
}

function settledFields(call: Call): Fields {
  const result = resultOf(call);
  switch (result.kind) {
    case "answer": {
      const extras = ownOf(call.answer?.metadata);
      if (extras["denied"] !== undefined) return { state: "output-denied" };
      if (result.outcome === "error") {
        const text =
          result.answer.type === "text"
            ? result.answer.text
            : JSON.stringify(outputOf(result.answer));
        return { state: "output-error", errorText: text };
      }
      return {
        state: "output-available",
        ...(extras["output"] !== "absent" && { output: outputOf(result.answer) }),
        ...(extras["preliminary"] !== undefined && { preliminary: extras["preliminary"] }),
      };
    }
    case "denied":
      return { state: "output-denied" };
    case "note": {
      const error = call.outcome === "error" ? inputErrorOf(call, ownOf(call.metadata)) : undefined;
      return { state: "output-error", errorText: error ?? result.text };
    }
    default:
      return {};
  }
}

function outputOf(answer: NonNullable<Call["answer"]>["answer"]): unknown {
  switch (answer.type) {
    case "json":
      return answer.value;
    case "text":
      return answer.text;
    case "parts":
      return answer.parts;
  }
}

function progressFields(call: Call, extras: Extras): Fields {
  const progress = recordOf(extras["progress"]);
  return {
    state: "output-available",
    ...(progress?.["output"] !== "absent" && { output: call.progress }),
    preliminary: true,
  };
}

/** What the framework had against the input, as long as nobody executes the call for all that. */
function inputErrorOf(call: Call, extras: Extras): string | undefined {
  if (call.status === "open" || call.status === "claimed") {
    if (call.executor !== "provider") return undefined;
  }
  return call.invalid?.message ?? stringOf(recordOf(extras["inputError"])?.["errorText"]);
}

function inputOf(call: Call, extras: Extras): unknown {
  const edited = call.approval?.decision?.edited !== undefined;
  return inputOfText(call, edited ? undefined : kindOf(extras["input"]));
}

function kindOf(value: unknown): InputKind | undefined {
  return value === "absent" || value === "text" || value === "json" ? value : undefined;
}

/**
 * The part's `approval`. What the session asked and decided comes first; an agent's approval of its own, which asked
 * nobody, is only shown as that. A request nobody will decide any more is left out: no state has a place for it.
 */
function approvalOf(call: Call, extras: Extras): Fields | undefined {
  const { approval } = call;
  if (!approval) return automaticApproval(extras);
  const { decision } = approval;
  if (!decision && call.status === "settled" && !call.answer) return undefined;
  return {
    ...requestFields(approval),
    ...(decision && {
      approved: decision.approved,
      ...(decision.reason !== undefined && { reason: decision.reason }),
      ...(decision.automatic && { isAutomatic: true }),
    }),
  };
}

function requestFields(approval: Approval): Fields {
  const extras = ownOf(approval.metadata);
  const edited = approval.decision?.edited !== undefined;
  const { approvalDescriptor: descriptor, inputSchemaInput, signature } = extras;
  return {
    id: approval.id,
    ...(descriptor !== undefined && descriptor !== null && { descriptor }),
    ...("inputSchemaInput" in extras && !edited && { inputSchemaInput }),
    ...(approval.reason !== undefined && { requestReason: approval.reason }),
    ...(signature !== undefined && { signature }),
  };
}

function automaticApproval(extras: Extras): Fields | undefined {
  const request = recordOf(extras["automatic"]);
  if (!request) return undefined;
  const response = recordOf(extras["response"]);
  const { approvalDescriptor: descriptor, inputSchemaInput, reason, signature } = request;
  return {
    id: request["approvalId"],
    ...(descriptor !== undefined && descriptor !== null && { descriptor }),
    ...("inputSchemaInput" in request && { inputSchemaInput }),
    ...(reason !== undefined && { requestReason: reason }),
    isAutomatic: true,
    ...(signature !== undefined && { signature }),
    ...(response && {
      approved: response["approved"],
      ...(response["reason"] !== undefined && { reason: response["reason"] }),
    }),
  };
}
