export { actorOf } from "./identity.ts";
export type { Identity } from "./identity.ts";
export { mayChangeSessions, mayCommand, mayRead, mayWork } from "./permit.ts";
export { forbidden, unauthenticated } from "./refusals.ts";
export { Tokens } from "./tokens.ts";
