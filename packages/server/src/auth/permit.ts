import type { Command } from "@holdfast/protocol";
import type { Identity } from "./identity.ts";
import { forbidden } from "./refusals.ts";

/** Reads are open to every principal; an attempt's token is for its own session. @throws HoldfastError `forbidden` */
export function mayRead({ attempt }: Identity, session: string): void {
  if (attempt && attempt.session !== session) {
    throw forbidden(`This token is for an attempt of session ${attempt.session}.`);
  }
}

/** @throws HoldfastError `forbidden` for what an attempt may not do */
export function mayChangeSessions({ attempt }: Identity): void {
  if (attempt) throw forbidden("An attempt's token neither creates nor deletes sessions.");
}

/**
 * What makes a principal the commanding side: an attempt's token does its attempt's and its calls' commands, every
 * other token what people and applications do.
 *
 * @throws HoldfastError `forbidden`
 */
export function mayCommand(identity: Identity, session: string, command: Command): void {
  const { attempt, principal } = identity;
  mayRead(identity, session);
  switch (command.type) {
    case "run.append":
    case "run.heartbeat":
    case "step.start":
    case "step.end":
    case "run.finish":
    case "run.fail":
    case "run.release":
      if (attempt?.runId !== command.runId || attempt.attempt !== command.attempt) {
        throw forbidden(
          `${command.type} needs the token of attempt ${command.attempt} of run ${command.runId}, as work/claim gave it.`,
        );
      }
      return;
    case "call.claim":
    case "call.renew":
    case "call.release":
    case "call.progress":
    case "call.answer":
      return;
    case "call.decide":
      if (principal.startsWith("agent:")) throw forbidden("An agent does not decide on calls.");
      return;
    default:
      if (attempt) throw forbidden(`An attempt's token is not for ${command.type}.`);
  }
}

/** @throws HoldfastError `forbidden` for anyone but the agent itself */
export function mayWork({ principal, attempt }: Identity, agent: string): void {
  if (principal === `agent:${agent}` && !attempt) return;
  throw forbidden(`Work of agent ${agent} is for its own token, of the principal agent:${agent}.`);
}
