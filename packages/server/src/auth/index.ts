export { everything } from "./grants.ts";
export type { Grant, NamedVerb, PlainVerb, Verb } from "./grants.ts";
export { actorOf, isPrincipal } from "./identity.ts";
export type { AttemptName, Identity } from "./identity.ts";
export type { KeyOptions } from "./keys.ts";
export { isLoopback } from "./loopback.ts";
export { mintToken } from "./mint.ts";
export type { MintOptions } from "./mint.ts";
export {
  canRead,
  canSend,
  mayAdminister,
  mayAdministerAll,
  mayCommand,
  mayCreate,
  mayEnter,
  mayList,
  mayRead,
  mayWork,
  personIn,
  seesData,
} from "./permit.ts";
export { forbidden, unauthenticated } from "./refusals.ts";
export { Revocations } from "./revocations.ts";
export type { Revocation, Revoked } from "./revocations.ts";
export { visibilityOf } from "./visibility.ts";
export { Tokens } from "./tokens.ts";
export type { TokensOptions } from "./tokens.ts";
