export { parseCommand } from "./command.ts";
export { isId, isObject, MAX_ID } from "./fields.ts";
export { parseSessionRequest, parseTokenRequest, parseWorkRequest } from "./requests.ts";
export type { SessionRequest, TokenRequest, WorkRequest } from "./requests.ts";
export { parseClientFrame, refOf } from "./socket.ts";
