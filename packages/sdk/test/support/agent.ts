import { worker, type Run, type ToolPolicies, type WorkerOptions } from "@holdfast/sdk/agent";
import { aiSdk } from "@holdfast/sdk/codec/ai-sdk";
import { scriptedModel, type ScriptedPart } from "@holdfast/sdk/testing";
import {
  isStepCount,
  streamText,
  toUIMessageStream,
  type ModelMessage,
  type ToolSet,
  type UIMessageChunk,
} from "ai";
import { AGENT, type Lab } from "./lab.ts";

type Prompt = Parameters<Parameters<typeof scriptedModel>[0]["respond"]>[0];

/** The same last message, however the prompt got there: what the user said, or what the tools answered. */
export function lastOf(prompt: Prompt): { role: string; text: string } {
  const last = prompt.at(-1);
  if (!last) return { role: "none", text: "" };
  if (last.role === "system") return { role: last.role, text: last.content };
  const text = last.content
    .map((part) =>
      part.type === "text"
        ? part.text
        : part.type === "tool-result"
          ? JSON.stringify(part.output)
          : part.type,
    )
    .join(" ");
  return { role: last.role, text };
}

export interface AgentOptions<Tools extends ToolSet> {
  readonly respond: (prompt: Prompt) => readonly ScriptedPart[];
  readonly tools?: Tools;
  readonly policies?: ToolPolicies<Tools>;
  readonly delayMs?: number;
  /** The handler gives the framework no approvals at all, whatever was declared. */
  readonly milder?: boolean;
  readonly worker?: Partial<WorkerOptions<UIMessageChunk, ModelMessage[], Tools>>;
  /** Hears of every attempt that begins. */
  readonly onRun?: (run: Run<UIMessageChunk, ModelMessage[], Tools>) => void;
}

/** An agent as people write one, on a scripted model. */
export async function startAgent<Tools extends ToolSet = Record<never, never>>(
  lab: Lab,
  { respond, tools, policies, delayMs = 0, milder = false, onRun, ...more }: AgentOptions<Tools>,
) {
  const model = scriptedModel({ respond, delayMs });
  const refused: unknown[] = [];
  const errors: unknown[] = [];
  const started = worker<UIMessageChunk, ModelMessage[], Tools>({
    url: lab.url,
    token: await lab.token(),
    agent: AGENT,
    codec: aiSdk,
    backoff: { baseMs: 10, maxMs: 100 },
    ...(tools && { tools }),
    ...(policies && { policies }),
    onRefused: (item) => void refused.push(item),
    onError: (error) => void errors.push(error),
    async handler(run) {
      onRun?.(run);
      const wrapped = run.tools();
      const result = streamText({
        model,
        tools: wrapped.tools,
        toolApproval: milder ? {} : wrapped.toolApproval,
        messages: await run.history(),
        abortSignal: run.signal,
        stopWhen: isStepCount(5),
        onError: () => {},
      });
      await run.pipe(
        toUIMessageStream({ stream: result.stream, tools: wrapped.tools, onError: String }),
      );
    },
    ...more.worker,
  });
  return Object.assign(started, { refused, errors });
}
