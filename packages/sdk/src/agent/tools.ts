import type { ToolSet } from "ai";
import { withExecution, type Executor } from "./execute.ts";
import { toolApprovalOf, type AnyTool, type ToolApproval, type ToolPolicies } from "./policy.ts";

/** What `streamText` is given, by spreading it. */
export interface AgentTools<Tools extends ToolSet> {
  readonly tools: Tools;
  readonly toolApproval: ToolApproval;
}

/**
 * Wraps tools so that their effects happen once: `execute` starts only when its call is durably in the log and
 * claimed. A call that was answered before gives that answer again, without an effect; one that this attempt must not
 * execute throws, and nothing of that reaches the call.
 *
 * Tools without `execute` are the clients'; they pass as they are.
 */
export function wrapTools<Tools extends ToolSet>(
  tools: Tools,
  policies: ToolPolicies<Tools>,
  executor: Executor,
): AgentTools<Tools> {
  const wrapped = Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [name, wrap(name, tool, executor)]),
  );
  return {
    tools: wrapped as Tools, // the same tools by name, with the same types
    toolApproval: toolApprovalOf(tools, policies),
  };
}

type Execute = NonNullable<AnyTool["execute"]>;
type Options = Parameters<Execute>[1];

function wrap(name: string, tool: AnyTool, executor: Executor): AnyTool {
  const { execute } = tool;
  if (!execute) return tool;
  // Only a generator's outputs on the way are shown as they come, so it must stay one.
  const wrapped = isGenerator(execute)
    ? generating(name, execute, executor)
    : running(name, execute, executor);
  return { ...tool, execute: wrapped } as AnyTool; // the same tool, its execute of the same type
}

function running(name: string, execute: Execute, executor: Executor): Execute {
  return async (input: unknown, options: Options) => {
    const { toolCallId, abortSignal } = options;
    const turn = await executor.begin(toolCallId, { name, input, abortSignal });
    if (turn.type === "answered") return turn.value;
    try {
      const output: unknown = await execute(input, withExecution(options, turn.execution));
      return isAsyncIterable(output) ? await lastOf(output) : output;
    } finally {
      turn.done();
    }
  };
}

function generating(name: string, execute: Execute, executor: Executor): Execute {
  return async function* (
    input: unknown,
    options: Options,
  ): AsyncGenerator<unknown, void, undefined> {
    const { toolCallId, abortSignal } = options;
    const turn = await executor.begin(toolCallId, { name, input, abortSignal });
    if (turn.type === "answered") {
      yield turn.value;
      return;
    }
    try {
      yield* execute(input, withExecution(options, turn.execution)) as AsyncIterable<unknown>;
    } finally {
      turn.done();
    }
  };
}

async function lastOf(outputs: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const output of outputs) last = output;
  return last;
}

function isGenerator(execute: Execute): boolean {
  return Object.prototype.toString.call(execute) === "[object AsyncGeneratorFunction]";
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
