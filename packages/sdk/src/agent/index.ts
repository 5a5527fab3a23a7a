export { executionOf } from "./execute.ts";
export type { Execution } from "./execute.ts";
export type { Refused } from "./outbox.ts";
export type { Piped } from "./pipe.ts";
export type { ApprovalPredicate, ToolApproval, ToolPolicies, ToolPolicy } from "./policy.ts";
export type { Run } from "./run.ts";
export type { AgentTools } from "./tools.ts";
export { worker } from "./worker.ts";
export type { RunName, Worker, WorkerOptions } from "./worker.ts";
