import type { Actor, HoldfastError } from "@holdfast/protocol";
import type { Limits } from "./limits.ts";
import { Rates } from "./rates.ts";

/** How often principals and attempts may ask. */
export interface CommandRates {
  /** New sessions, by principal. */
  readonly sessions: Rates;
  /** Takes so many commands of an actor, or says when to come again; see {@link Rates.refuse}. */
  refuse(count: number, actor: Actor): HoldfastError | undefined;
}

/** @param now Unix milliseconds */
export function commandRates(limits: Limits, now: () => number): CommandRates {
  const commands = new Rates("commands of a principal", limits.commands, now);
  const attemptCommands = new Rates("commands of an attempt", limits.attemptCommands, now);
  return {
    sessions: new Rates("new sessions of a principal", limits.sessions, now),
    refuse(count, { principal, attempt }) {
      if (!attempt) return commands.refuse(principal, count);
      // A run has one attempt at a time, and an id that is no other's.
      return attemptCommands.refuse(attempt.runId, count);
    },
  };
}
