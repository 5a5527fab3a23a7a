import type * as agui from "@ag-ui/core";
import { TOOL } from "./content.ts";
import {
  BOOLEAN,
  COUNT,
  listOf,
  OBJECT,
  optional,
  record,
  required,
  STRING,
  type FieldsOf,
} from "./shape.ts";

const SUBAGENT = record({
  name: required(STRING),
  description: optional(STRING),
} satisfies FieldsOf<agui.SubagentInfo>);

/** What an agent may say it can do. Every member is optional; what is not said is not known. */
export const CAPABILITIES = record({
  identity: optional(
    record({
      name: optional(STRING),
      type: optional(STRING),
      description: optional(STRING),
      version: optional(STRING),
      provider: optional(STRING),
      documentationUrl: optional(STRING),
      metadata: optional(OBJECT),
    }),
  ),
  transport: flags("streaming", "websocket", "httpBinary", "pushNotifications", "resumable"),
  tools: optional(
    record({
      supported: optional(BOOLEAN),
      items: optional(listOf(TOOL)),
      parallelCalls: optional(BOOLEAN),
      clientProvided: optional(BOOLEAN),
    }),
  ),
  output: optional(
    record({
      structuredOutput: optional(BOOLEAN),
      supportedMimeTypes: optional(listOf(STRING)),
    }),
  ),
  state: flags("snapshots", "deltas", "memory", "persistentState"),
  multiAgent: optional(
    record({
      supported: optional(BOOLEAN),
      delegation: optional(BOOLEAN),
      handoffs: optional(BOOLEAN),
      subagents: optional(listOf(SUBAGENT)),
    }),
  ),
  reasoning: flags("supported", "streaming", "encrypted"),
  multimodal: optional(
    record({
      input: flags("image", "audio", "video", "pdf", "file"),
      output: flags("image", "audio"),
    }),
  ),
  execution: optional(
    record({
      codeExecution: optional(BOOLEAN),
      sandboxed: optional(BOOLEAN),
      maxIterations: optional(COUNT),
      maxExecutionTime: optional(COUNT),
    }),
  ),
  humanInTheLoop: flags(
    "supported",
    "approvals",
    "interventions",
    "feedback",
    "interrupts",
    "approveWithEdits",
  ),
  custom: optional(OBJECT),
} satisfies FieldsOf<agui.AgentCapabilities>);

function flags(...names: readonly string[]) {
  return optional(record(Object.fromEntries(names.map((name) => [name, optional(BOOLEAN)]))));
}
