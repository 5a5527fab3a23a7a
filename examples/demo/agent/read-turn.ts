import type { LanguageModelV4Prompt } from "@ai-sdk/provider";

/** What became of one tool call, as a model reads it. */
export interface Result {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly outcome: "ok" | "error" | "denied" | "waiting";
  /** A JSON value when it went well, else words. */
  readonly value: unknown;
}

/** What a person asked last, and what has been done about it since. */
export interface Reading {
  readonly text: string;
  readonly results: readonly Result[];
}

/** Reads the end of a prompt as a model would. */
export function readPrompt(prompt: LanguageModelV4Prompt): Reading {
  const from = prompt.findLastIndex(({ role }) => role === "user");
  const asked = prompt[from];
  const text =
    asked?.role === "user"
      ? asked.content.map((part) => (part.type === "text" ? part.text : "")).join(" ")
      : "";
  const results = new Map<string, Result>();
  for (const message of prompt.slice(from + 1)) {
    if (message.role !== "assistant" && message.role !== "tool") continue;
    for (const part of message.content) {
      if (part.type === "tool-call") {
        const { toolName, input } = part;
        results.set(part.toolCallId, {
          tool: toolName,
          input: toObject(input),
          outcome: "waiting",
          value: undefined,
        });
      } else if (part.type === "tool-result") {
        const known = results.get(part.toolCallId);
        if (known) results.set(part.toolCallId, { ...known, ...outcomeOf(part.output) });
      }
    }
  }
  return { text, results: [...results.values()] };
}

type ToolMessage = Extract<LanguageModelV4Prompt[number], { role: "tool" }>;
type Output = Extract<ToolMessage["content"][number], { type: "tool-result" }>["output"];

/** How the codec words a denial to a model. */
const DENIED = /^Not executed: the user denied this call(?:\.|: (.*))$/s;

function outcomeOf(output: Output): Pick<Result, "outcome" | "value"> {
  switch (output.type) {
    case "json":
      return { outcome: "ok", value: output.value };
    case "text":
      return { outcome: "ok", value: output.value };
    case "execution-denied":
      return { outcome: "denied", value: output.reason ?? "" };
    case "error-text": {
      const denied = DENIED.exec(output.value);
      return denied
        ? { outcome: "denied", value: denied[1] ?? "" }
        : { outcome: "error", value: output.value };
    }
    case "error-json":
      return { outcome: "error", value: wordsOf(output.value) };
    case "content":
      return { outcome: "ok", value: "" };
  }
}

function wordsOf(value: unknown): string {
  const message = toObject(value)["message"] ?? toObject(value)["error"];
  return typeof message === "string" ? message : JSON.stringify(value);
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
