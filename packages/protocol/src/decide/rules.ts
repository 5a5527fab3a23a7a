import type { Call } from "../call.ts";
import type { ToolRule } from "../policy.ts";
import type { Grant, SessionState } from "../state.ts";
import type { Env } from "./env.ts";

/** The operator's rule for a tool: its own, else the one for any other. */
export function ruleOf(state: SessionState, tool: string): ToolRule | undefined {
  const { tools } = state.session.policy;
  return tools.find((rule) => rule.tool === tool) ?? tools.find((rule) => rule.tool === "*");
}

/**
 * Whether a person will have to decide before the call may run: where the agent asked, where its declaration says so, or
 * where the operator's rule does. What cannot be judged asks.
 */
export function needsDecision(state: SessionState, call: Call, env: Env): boolean {
  if (call.approval) return call.approval.decision === undefined;
  if (call.executor === "provider") return false;
  return asks(ruleOf(state, call.name)?.approval, call, env) || declaresApproval(call);
}

function declaresApproval({ tool }: Call): boolean {
  // A policy this version does not know asks.
  return tool?.approval === undefined ? tool?.sideEffects === true : tool.approval !== "never";
}

function asks(approval: ToolRule["approval"], call: Call, env: Env): boolean {
  if (approval === undefined || approval === "never") return false;
  if (approval === "always") return true;
  let value: unknown;
  try {
    value = JSON.parse(call.arguments.trim() === "" ? "{}" : call.arguments);
  } catch {
    return true;
  }
  const misfit = env.validate({ name: call.name, parameters: approval.when }, value);
  return misfit?.paths === undefined;
}

/** Whether a principal may decide on calls of a tool. */
export function mayApprove(state: SessionState, tool: string, principal: string): boolean {
  const approvers = ruleOf(state, tool)?.approvers;
  return !approvers || approvers.some((pattern) => fits(pattern, principal));
}

function fits(pattern: string, principal: string): boolean {
  return pattern.endsWith("*") ? principal.startsWith(pattern.slice(0, -1)) : pattern === principal;
}

/** The standing word that lets a tool run without asking: given by somebody who may still give it. */
export function grantOf(state: SessionState, tool: string): Grant | undefined {
  const grant = state.session.grants?.find((it) => it.tool === tool);
  return grant && mayApprove(state, tool, grant.by) ? grant : undefined;
}
