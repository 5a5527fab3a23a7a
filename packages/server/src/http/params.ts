import { HoldfastError, reject } from "@holdfast/protocol";

/** A session's id from the path. @throws HoldfastError `invalid_request` */
export function sessionId(value: string): string {
  if (value.length <= 256 && value.isWellFormed() && !/\p{Cc}/u.test(value)) return value;
  throw new HoldfastError(
    reject(
      "invalid_request",
      "A session's id is a string of at most 256 characters, without control characters.",
    ),
  );
}

/** A page's size from the query. @throws HoldfastError `invalid_request` */
export function limitOf(value: string | undefined, most: number): number {
  if (value === undefined) return most;
  const limit = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (limit >= 1) return Math.min(limit, most);
  throw new HoldfastError(
    reject("invalid_request", "limit: must be a whole number of at least 1."),
  );
}
