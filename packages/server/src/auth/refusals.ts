import { HoldfastError, reject } from "@holdfast/protocol";

/** The request says not, or not validly, who it is from. */
export function unauthenticated(message: string, cause?: unknown): HoldfastError {
  return new HoldfastError(reject("unauthenticated", message), { cause });
}

/** It is known who asks, and they may not. */
export function forbidden(message: string): HoldfastError {
  return new HoldfastError(reject("forbidden", message));
}
