export { HoldfastProvider, useHoldfast } from "./provider.ts";
export { useApprovals } from "./use-approvals.ts";
export type { ApprovalRequest } from "./use-approvals.ts";
export { useClientTool } from "./use-client-tool.ts";
export { useSession } from "./use-session.ts";
export type { SessionInUse, UseSessionOptions } from "./use-session.ts";
export { useToolCalls } from "./use-tool-calls.ts";
export type { CallFilter } from "./use-tool-calls.ts";
export { useView } from "./use-view.ts";
