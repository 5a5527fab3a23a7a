import type { Verdict } from "../command.ts";
import type { Scope } from "../entry.ts";
import { reject, type ErrorCode, type Rejection } from "../errors.ts";
import type { Event } from "../events.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";

/** The outcome of a decision, before it is dressed as a verdict. */
export type Ruling = { readonly error: Rejection } | Made;

/** What an applied command made. */
export type Made = { readonly error?: undefined } & Pick<
  Verdict,
  | "runId"
  | "activation"
  | "claimId"
  | "callId"
  | "stepAttempt"
  | "skipped"
  | "repeated"
  | "ended"
  | "heldUntil"
  | "resultTooLarge"
>;

export const APPLIED: Made = {};

/** Applied, and nothing changed: the command said what already holds. */
export const REPEATED: Made = { repeated: true };

export function refuse(
  code: ErrorCode,
  message: string,
  details?: Record<string, unknown>,
): Ruling {
  return { error: reject(code, message, details) };
}

/** Appends an event under the commanding principal, at the command's time. */
export function record(draft: Draft, env: Env, event: Event, scope?: Scope): void {
  draft.emit({ actor: env.actor.principal, now: env.now }, event, scope);
}
