import type { Metadata } from "@holdfast/protocol";
import type { FlexibleSchema, ToolSet } from "ai";

/** What is said of a tool beside what its framework knows. */
export interface ToolPolicy<Input = unknown> {
  /**
   * Whether a person decides before the tool runs. A predicate decides by the input; one that throws asks.
   * Default: `always` where `sideEffects` is true, else the tool's own `needsApproval`, else `never`.
   */
  readonly approval?: "always" | "never" | ApprovalPredicate<Input>;
  readonly sideEffects?: boolean;
  /** `safe`: running it twice does no harm, so after a crash another process runs it again. Default `unsafe`. */
  readonly retry?: "safe" | "unsafe";
  /** Milliseconds from when the call may run until it expires unanswered. Default: none. */
  readonly deadlineMs?: number;
  /** Milliseconds until a request for approval expires. Default: none. */
  readonly approvalMs?: number;
  readonly metadata?: Metadata;
}

/** Whether a person decides before the tool runs with this input. */
export type ApprovalPredicate<Input> = (
  input: Input,
  options: { readonly toolCallId: string },
) => boolean | Promise<boolean>;

/** Policies of tools, by name. */
export type ToolPolicies<Tools extends ToolSet> = {
  readonly [Name in keyof Tools]?: ToolPolicy<InputOf<Tools[Name]>>;
};

/** A tool of any kind, as tool sets hold it. */
export type AnyTool = ToolSet[string];

type InputOf<Tool> = Tool extends { inputSchema: FlexibleSchema<infer Input> } ? Input : unknown;

/** What `streamText` takes as `toolApproval`: for each tool that may ask, whether it does. */
export type ToolApproval = Record<
  string,
  "user-approval" | ((input: unknown, options: { toolCallId: string }) => Promise<Status>)
>;

type Status = "user-approval" | "not-applicable";

/** What asks for a tool: everything, nothing, or its input. */
export function approvalOf(
  tool: AnyTool,
  policy: ToolPolicy<never> | undefined,
): "always" | "never" | ApprovalPredicate<never> | "framework" {
  if (policy?.approval !== undefined) return policy.approval;
  if (policy?.sideEffects) return "always";
  // Deprecated by the AI SDK, and still honoured there where `toolApproval` says nothing of the tool.
  const { needsApproval } = tool;
  if (typeof needsApproval === "function") return "framework";
  return needsApproval ? "always" : "never";
}

/** The approvals of a tool set for `streamText`, from its policies. */
export function toolApprovalOf<Tools extends ToolSet>(
  tools: Tools,
  policies: ToolPolicies<Tools>,
): ToolApproval {
  const approval: ToolApproval = {};
  for (const [name, tool] of Object.entries(tools)) {
    const asks = approvalOf(tool, policyOf(policies, name));
    if (asks === "always") approval[name] = "user-approval";
    else if (typeof asks === "function") {
      approval[name] = async (input, options) => {
        try {
          return (await asks(input as never, options)) ? "user-approval" : "not-applicable";
        } catch {
          return "user-approval"; // what cannot be told is asked
        }
      };
    }
  }
  return approval;
}

/** A tool's policy, by a name that anybody may have chosen. */
export function policyOf(
  policies: Readonly<Record<string, ToolPolicy<never> | undefined>>,
  name: string,
): ToolPolicy<never> | undefined {
  return Object.hasOwn(policies, name) ? policies[name] : undefined;
}
