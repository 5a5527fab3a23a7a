export type { SocketOptions } from "./context.ts";
export { SOCKET_LIMITS } from "./limits.ts";
export type { SocketLimits } from "./limits.ts";
export { createSockets } from "./sockets.ts";
export type { Sockets } from "./sockets.ts";
