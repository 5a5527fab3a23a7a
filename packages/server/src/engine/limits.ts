import { bytesBeyond, HoldfastError, reject, type ContentLimits } from "@holdfast/protocol";
import type { Rate } from "./rates.ts";

/**
 * What a server takes, of one thing and from one principal. What is more is refused with the limit and the value, but for
 * answers and arguments, which settle their call. Ids and names have at most 256 characters each, always.
 */
export interface Limits extends ContentLimits {
  /** A request's body, in bytes. Above the others, so that an answer that is too large settles its call. Default 16 MiB. */
  readonly bodyBytes: number;
  /** An event, or a command that is no append and no answer, in bytes of JSON. Default 1 MiB. */
  readonly eventBytes: number;
  /** A call's arguments, in characters. Default 1 048 576. */
  readonly argumentsLength: number;
  /** The text of one message of an agent, in characters. Default 4 194 304. */
  readonly textLength: number;
  /** An answer with its metadata, in bytes of JSON. Default 256 KiB. */
  readonly resultBytes: number;
  /** Commands of one principal that acts for itself. Default 2 000 at once, 500 a second. */
  readonly commands: Rate;
  /** Commands of one attempt, which has a rate of its own. Default 20 000 at once, 5 000 a second. */
  readonly attemptCommands: Rate;
  /** Sessions that one principal creates. Default 500 at once, 10 a second. */
  readonly sessions: Rate;
  /** Readers that follow one session. Default 1 000. */
  readonly subscribersPerSession: number;
  /** Readers of one principal that acts for itself, in all sessions and of the inbox. Default 1 000. */
  readonly subscribersPerPrincipal: number;
}

export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 16 << 20,
  eventBytes: 1 << 20,
  argumentsLength: 1 << 20,
  textLength: 4 << 20,
  resultBytes: 256 << 10,
  commands: { burst: 2_000, perSecond: 500 },
  attemptCommands: { burst: 20_000, perSecond: 5_000 },
  sessions: { burst: 500, perSecond: 10 },
  subscribersPerSession: 1_000,
  subscribersPerPrincipal: 1_000,
};

/** @throws RangeError for a limit that nothing could keep within, naming it */
export function checkLimits(limits: Limits): void {
  for (const [name, limit] of Object.entries(limits)) {
    for (const value of typeof limit === "number" ? [limit] : [limit.burst, limit.perSecond]) {
      if (!(value > 0)) throw new RangeError(`limits.${name} must be above 0, not ${value}.`);
    }
  }
}

/** @throws HoldfastError `too_large` for a value of more than `limit` bytes of JSON */
export function requireSmall(what: string, value: unknown, limit: number): void {
  const bytes = bytesBeyond(value, limit);
  if (bytes === undefined) return;
  const message = `${what} has ${bytes} bytes, and may have ${limit}: send less.`;
  throw new HoldfastError(reject("too_large", message, { limit, value: bytes }));
}
