import type { RunFailure } from "@holdfast/protocol";

/** Why an agent's run fails that its server could not get from it. Carries what the run ends in. */
export class UpstreamError extends Error {
  readonly failure: RunFailure;

  constructor(code: UpstreamCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UpstreamError";
    this.failure = { code, message };
  }
}

/**
 * - `agent_unreachable`: nobody took the run, after all tries
 * - `agent_refused`: the endpoint answered with an error
 * - `agent_silent`: it said nothing for too long, or took too long in all
 * - `agent_lost`: its answer broke off
 * - `agent_invalid`: its answer is no stream of AG-UI events
 */
export type UpstreamCode =
  | "agent_unreachable"
  | "agent_refused"
  | "agent_silent"
  | "agent_lost"
  | "agent_invalid";
