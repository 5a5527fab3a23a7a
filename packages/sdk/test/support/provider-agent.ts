import { createAnthropic, type AnthropicLanguageModelOptions } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  toUIMessageStream,
  type LanguageModel,
  type ModelMessage,
  type ToolSet,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import type { ProviderProtocol } from "./provider-endpoint.ts";
import type { Recording } from "./recordings.ts";

/** The real client library of a provider, pointed at an endpoint of ours. */
export function providerModel(protocol: ProviderProtocol, baseURL: string): LanguageModel {
  return protocol === "anthropic"
    ? createAnthropic({ baseURL, apiKey: "none" })("claude-recorded")
    : createOpenAI({ baseURL, apiKey: "none" }).responses("gpt-recorded");
}

export interface StreamOptions {
  readonly model: LanguageModel;
  readonly tools: ToolSet;
  readonly messages: ModelMessage[];
  readonly originalMessages?: UIMessage[];
  readonly messageId?: string;
}

/** An agent's stream as a Holdfast agent pipes it: sources kept, errors in words. */
export function streamChunks(options: StreamOptions): ReadableStream<UIMessageChunk> {
  const { model, tools, messages, originalMessages = [], messageId = "run-1" } = options;
  const result = streamText({
    model,
    tools,
    messages,
    stopWhen: isStepCount(8),
    maxRetries: 0,
    providerOptions: {
      anthropic: { mcpServers: MCP_SERVERS } satisfies AnthropicLanguageModelOptions,
    },
    onError() {},
  });
  return toUIMessageStream({
    stream: result.stream,
    tools,
    originalMessages,
    generateMessageId: () => messageId,
    sendSources: true,
    onError: (error) => (error instanceof Error ? error.message : JSON.stringify(error)),
  });
}

// What the library warns about (an unknown model) is as it should be here.
globalThis.AI_SDK_LOG_WARNINGS = false;

const MCP_SERVERS = [{ type: "url" as const, name: "echo", url: "https://mcp.invalid" }];

/** The tools a recording's request declared; those an application executes answer with a fixed output. */
export function toolsOf(recording: Recording): ToolSet {
  return recording.protocol === "anthropic" ? anthropicTools(recording) : openaiTools(recording);
}

type Declared = { readonly type: string } & Readonly<Record<string, unknown>>;

function openaiTools({ events }: Recording): ToolSet {
  const { tools } = createOpenAI({ apiKey: "none" });
  const declared = events.flatMap((event) => {
    const response = event["response"] as { tools?: Declared[] } | undefined;
    return event.type === "response.created" ? (response?.tools ?? []) : [];
  });
  const set: ToolSet = {};
  for (const it of declared) {
    const name = String(it["name"]);
    switch (it.type) {
      case "function":
        set[name] = callable(it["parameters"], { sum: 19 });
        break;
      case "custom":
        set[name] = {
          ...tools.customTool({ description: String(it["description"]) }),
          execute: () => ({ rows: [] }),
        };
        break;
      case "mcp":
        set["mcp"] = tools.mcp({
          serverLabel: String(it["server_label"]),
          serverUrl: String(it["server_url"]),
          requireApproval: "always",
        });
        break;
      case "web_search":
        set["web_search"] = tools.webSearch({});
        break;
      case "file_search":
        set["file_search"] = tools.fileSearch({ vectorStoreIds: ["vs_1"] });
        break;
      case "shell":
        set["shell"] = tools.shell({
          execute: () => ({
            output: [{ stdout: "ok", stderr: "", outcome: { type: "exit", exitCode: 0 } }],
          }),
        });
        break;
      case "apply_patch":
        set["apply_patch"] = tools.applyPatch({ execute: () => ({ status: "completed" }) });
        break;
      default:
        throw new Error(`The recording declares a tool of the unknown type "${it.type}".`);
    }
  }
  return set;
}

/** An Anthropic stream does not repeat the tools of its request, so they are read from what was called. */
function anthropicTools({ events }: Recording): ToolSet {
  const { tools } = createAnthropic({ apiKey: "none" });
  const set: ToolSet = {};
  for (const event of events) {
    const block = event["content_block"] as Declared | undefined;
    if (block?.type === "server_tool_use" && block["name"] === "web_search")
      set["web_search"] = tools.webSearch_20250305({});
    if (block?.type === "tool_use")
      set[String(block["name"])] = callable({ type: "object" }, `did ${String(block["name"])}`);
  }
  return set;
}

function callable(parameters: unknown, output: unknown) {
  return tool({ inputSchema: jsonSchema(parameters as object), execute: () => output });
}
