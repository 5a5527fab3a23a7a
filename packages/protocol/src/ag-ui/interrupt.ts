import type { Interrupt } from "@ag-ui/core";
import type { Call } from "../call.ts";
import { isObject } from "../json.ts";
import { callsOf, type SessionState } from "../state.ts";

/**
 * The tool of an AG-UI interrupt that is no approval of a call: clients execute it, its answer is the resume payload. No
 * provider allows a colon in a tool's name, so no agent's own tool is called this.
 */
export const INTERRUPT_TOOL = "ag-ui:interrupt";

/** Under which key of `metadata` AG-UI material rides that the protocol has no word for. */
export const AG_UI = "ag-ui";

/**
 * The interrupt that a call is to AG-UI readers; undefined for one that waits for no word of theirs. A call that waits
 * for a decision has the approval's id; a call of {@link INTERRUPT_TOOL} stands for the interrupt in its `metadata` or
 * its arguments. What upstream said of its own interrupt is kept.
 */
export function interruptOf(call: Call): Interrupt | undefined {
  if (call.status === "gated") return approvalInterrupt(call);
  const waits = call.status === "open" || call.status === "claimed";
  return waits && call.name === INTERRUPT_TOOL ? plainInterrupt(call) : undefined;
}

/** A run's interrupts, in the order of its calls. */
export function interruptsOf(state: SessionState, runId: string): Interrupt[] {
  return callsOf(state, runId).flatMap((call) => interruptOf(call) ?? []);
}

function approvalInterrupt(call: Call): Interrupt | undefined {
  const { approval } = call;
  if (!approval) return undefined;
  const kept = keptInterrupt(approval.metadata?.[AG_UI]) ?? keptInterrupt(call.metadata?.[AG_UI]);
  const { expiresAt } = approval;
  return {
    reason: "tool_call",
    message: approval.reason ?? `Approve ${call.name}?`,
    responseSchema: decisionSchema(call),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    ...(call.subagentRunId !== undefined && { subagentRunId: call.subagentRunId }),
    ...kept,
    id: approval.id,
    toolCallId: call.id,
  };
}

function plainInterrupt(call: Call): Interrupt {
  const kept = keptInterrupt(call.metadata?.[AG_UI]) ?? fromArguments(call);
  const { deadlineAt } = call;
  return {
    reason: "input_required",
    ...(deadlineAt !== undefined && { expiresAt: new Date(deadlineAt).toISOString() }),
    ...(call.subagentRunId !== undefined && { subagentRunId: call.subagentRunId }),
    ...kept,
    id: kept?.id ?? call.id,
  };
}

/** What a decision upon a call may say. */
function decisionSchema(call: Call): Record<string, unknown> {
  const parameters = call.tool?.parameters ?? { type: "object" };
  return {
    type: "object",
    properties: {
      approved: { type: "boolean" },
      reason: { type: "string" },
      // What a provider signed takes no edit.
      ...(!call.approval?.signed && { arguments: parameters }),
    },
    required: ["approved"],
  };
}

function keptInterrupt(extra: unknown): Partial<Interrupt> | undefined {
  const interrupt = isObject(extra) ? extra["interrupt"] : undefined;
  return isObject(interrupt) ? knownFields(interrupt) : undefined;
}

function fromArguments(call: Call): Partial<Interrupt> | undefined {
  try {
    const said: unknown = JSON.parse(call.arguments);
    return isObject(said) ? knownFields(said) : undefined;
  } catch {
    return undefined;
  }
}

const TEXTS = ["id", "reason", "message", "toolCallId", "expiresAt", "subagentRunId"] as const;
const OBJECTS = ["responseSchema", "metadata"] as const;

/** What AG-UI knows of an interrupt, of its type. */
function knownFields(said: Readonly<Record<string, unknown>>): Partial<Interrupt> {
  const known: [string, unknown][] = [];
  for (const name of TEXTS) if (typeof said[name] === "string") known.push([name, said[name]]);
  for (const name of OBJECTS) if (isObject(said[name])) known.push([name, said[name]]);
  return Object.fromEntries(known);
}
