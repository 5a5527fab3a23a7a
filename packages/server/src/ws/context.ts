import type { HttpOptions } from "../http/index.ts";
import type { SocketLimits } from "./limits.ts";

/** What the WebSocket face needs: what HTTP does, and the bounds of a socket. */
export interface SocketOptions extends HttpOptions {
  readonly limits: SocketLimits;
  /** Unix milliseconds, as tokens are measured. */
  readonly now: () => number;
}
