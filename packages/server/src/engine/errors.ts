import { HoldfastError, reject } from "@holdfast/protocol";

export function unknownSession(id: string): HoldfastError {
  return new HoldfastError(
    reject(
      "unknown_session",
      `There is no session ${JSON.stringify(id)}: create it with PUT /v1/sessions/${encodeURIComponent(id)}.`,
    ),
  );
}

/** Nothing was done; doing it again helps. */
export function busy(cause?: unknown): HoldfastError {
  return new HoldfastError(
    reject("overloaded", "The session changes hands: send the same again in a moment."),
    { cause },
  );
}
