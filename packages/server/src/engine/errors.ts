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

/** What waits on a failed commit hears that; whether it was written is not known, so the same command says. */
export function failedOn(what: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    reject("internal", `${what}: send the same command again, under the same id.`),
    { cause },
  );
}
