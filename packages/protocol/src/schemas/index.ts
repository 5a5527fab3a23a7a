export { parseCommand } from "./command.ts";
export { isId, isObject, MAX_ID } from "./fields.ts";
export {
  parseRevocation,
  parseSessionRequest,
  parseTokenRequest,
  parseWorkRequest,
} from "./requests.ts";
export type { RevocationRequest, SessionRequest, TokenRequest, WorkRequest } from "./requests.ts";
export { parseClientFrame, refOf } from "./socket.ts";
