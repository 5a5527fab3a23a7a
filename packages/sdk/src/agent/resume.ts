import {
  callsOf,
  HoldfastError,
  partsOf,
  type Call,
  type Json,
  type SessionState,
} from "@holdfast/protocol";
import type { ToolSet } from "ai";
import type { Claims } from "./claims.ts";
import { withExecution, type Execution, type Executor } from "./execute.ts";
import type { Outbox } from "./outbox.ts";
import type { AnyTool } from "./policy.ts";

export interface ResumeContext {
  readonly runId: string;
  readonly tools: ToolSet;
  readonly executor: Executor;
  readonly claims: Claims;
  readonly outbox: Outbox;
}

/**
 * Executes what earlier attempts left to the agent and no framework will take up: calls that are open without an
 * approval, such as those of a `retry: safe` tool whose process died, and approved ones that content followed. Other
 * approved ones are the framework's, which finds them at the end of the history. Resolves when the answers are durable.
 */
export async function resumeCalls(state: SessionState, context: ResumeContext): Promise<void> {
  const left = callsOf(state, context.runId).filter((call) => isLeft(state, call));
  await Promise.all(left.map((call) => resume(call, context)));
  await context.outbox.flush();
}

/** Whether an attempt that begins may execute the call. */
export function isRunnable(call: Call): boolean {
  return call.status === "open" && call.executor === "agent";
}

/** Whether it is left to {@link resumeCalls}. */
export function isLeft(state: SessionState, call: Call): boolean {
  if (!isRunnable(call)) return false;
  return call.approval?.decision?.approved !== true || isFollowed(state, call);
}

/** Whether a later round of its run said something: frameworks take up approved calls from the last one alone. */
function isFollowed(state: SessionState, { runId, round = 0 }: Call): boolean {
  return partsOf(state, runId).some(({ kind, id }) => {
    const part = kind === "call" ? state.calls.get(id) : state.items.get(id);
    return (part?.round ?? 0) > round;
  });
}

async function resume(call: Call, { tools, executor, claims, outbox }: ResumeContext) {
  const tool = Object.hasOwn(tools, call.name) ? tools[call.name] : undefined;
  if (!tool?.execute) return;
  try {
    const turn = await executor.begin(call.id);
    if (turn.type === "answered") return;
    let outcome: "ok" | "error" = "ok";
    let value: unknown;
    try {
      value = await run(tool, call, turn.execution);
    } catch (error) {
      outcome = "error";
      value = error instanceof Error ? error.message : String(error);
    } finally {
      turn.done();
    }
    const claimId = claims.claimOf(call.id);
    const answer = { type: "json", value: (value ?? null) as Json } as const; // JSON by the time it is sent
    void outbox.push([
      {
        type: "call.answer",
        callId: call.id,
        ...(claimId !== undefined && { claimId }),
        outcome,
        answer: outcome === "error" ? { type: "text", text: String(value) } : answer,
      },
    ]);
  } catch (error) {
    // Somebody else has it, or it ended: the history says so.
    if (!(error instanceof HoldfastError)) throw error;
  }
}

async function run(tool: AnyTool, call: Call, execution: Execution): Promise<unknown> {
  const { asSchema } = await import("ai");
  const text = call.arguments.trim();
  const given: unknown =
    call.argumentsEncoding === "text" ? call.arguments : JSON.parse(text === "" ? "{}" : text);
  const checked = await asSchema(tool.inputSchema).validate?.(given);
  if (checked && !checked.success) throw checked.error;
  const options = withExecution(
    { toolCallId: call.id, messages: [], context: undefined },
    execution,
  );
  let output: unknown = await tool.execute?.(checked ? checked.value : given, options);
  if (typeof output === "object" && output !== null && Symbol.asyncIterator in output) {
    const outputs = output as AsyncIterable<unknown>;
    for await (const each of outputs) output = each;
  }
  return output;
}
