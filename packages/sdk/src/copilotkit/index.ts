export { createHoldfastRunner } from "./runner.ts";
export type {
  HoldfastRunner,
  HoldfastRunnerOptions,
  OwnAgents,
  RunnerRequest,
  RunRequest,
} from "./runner.ts";
export type { RuntimeAgent } from "./runtime-agent.ts";
