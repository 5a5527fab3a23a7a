import type { ToolDeclaration } from "@holdfast/protocol";
import type { ToolSet } from "ai";
import {
  approvalOf,
  policyOf,
  type AnyTool,
  type ToolPolicies,
  type ToolPolicy,
} from "./policy.ts";

/**
 * What the server is told of an agent's tools: names, JSON Schemas, who executes, policies. A tool without `execute`
 * is a client's. Tools that the model's provider executes are not declared: their calls say so themselves.
 */
export async function declareTools<Tools extends ToolSet>(
  tools: Tools,
  policies: ToolPolicies<Tools>,
): Promise<ToolDeclaration[]> {
  const declared = Object.entries(tools)
    .filter(([, tool]) => !(tool.type === "provider" && tool.isProviderExecuted))
    .map(([name, tool]) => declare(name, tool, policyOf(policies, name) ?? {}));
  return Promise.all(declared);
}

async function declare(
  name: string,
  tool: AnyTool,
  policy: ToolPolicy<never>,
): Promise<ToolDeclaration> {
  const { asSchema } = await import("ai");
  const { sideEffects, retry, deadlineMs, approvalMs, metadata } = policy;
  const { description } = tool;
  return {
    name,
    ...(typeof description === "string" && { description }),
    parameters: { ...(await asSchema(tool.inputSchema).jsonSchema) },
    executor: tool.execute ? "agent" : "client",
    // What depends on the input, the agent asks for call by call.
    approval: approvalOf(tool, policy) === "always" ? "always" : "never",
    ...(sideEffects !== undefined && { sideEffects }),
    ...(retry !== undefined && { retry }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(approvalMs !== undefined && { approvalMs }),
    ...(metadata && { metadata }),
  };
}
