import { HoldfastError, reject } from "@holdfast/protocol";

/** What one WebSocket may take up. */
export interface SocketLimits {
  /** How long it may take to say who it is, in milliseconds. Default 10 000. */
  readonly authMs: number;
  /** How much it may send before it has, in bytes. Default 64 KiB. */
  readonly authBytes: number;
  /** How many sessions it follows at once. Default 256. */
  readonly subscriptions: number;
  /** How many attempts' tokens it holds. Default 256. */
  readonly attempts: number;
  /** How many requests for work wait at once. Default 64. */
  readonly waits: number;
  /** How many commands may be undecided before nothing more is read. Default 1 000. */
  readonly commands: number;
  /** The same in bytes of their frames. Default 4 MiB. */
  readonly commandBytes: number;
  /** How much may wait for its reader before entries do too and nothing more is read, in bytes. Default 256 KiB. */
  readonly bufferBytes: number;
}

export const SOCKET_LIMITS: SocketLimits = {
  authMs: 10_000,
  authBytes: 64 << 10,
  subscriptions: 256,
  attempts: 256,
  waits: 64,
  commands: 1_000,
  commandBytes: 4 << 20,
  bufferBytes: 256 << 10,
};

/** A socket has as many of something as it may have. */
export function tooMany(what: string, limit: number, instead: string): HoldfastError {
  const message = `A socket has at most ${limit} ${what}: ${instead}, or open another socket.`;
  return new HoldfastError(reject("overloaded", message, { limit }));
}
