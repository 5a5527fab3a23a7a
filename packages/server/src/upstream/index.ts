export type { AgentOptions } from "./options.ts";
export { checkAgents, startUpstreams } from "./upstreams.ts";
export type { Upstreams } from "./upstreams.ts";
