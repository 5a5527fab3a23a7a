import type { Command } from "../command.ts";
import type { SessionState } from "../state.ts";
import { findCall } from "./call.ts";
import type { Env } from "./env.ts";
import { refuse, type Ruling } from "./ruling.ts";

/**
 * Refuses a command on a call whose tool its actor has no say in (SPEC 6.18). What a call's tool is stands in the state
 * alone, so this is part of the decision: nothing comes between the check and what follows from it.
 */
export function refuseTool(state: SessionState, command: Command, env: Env): Ruling | undefined {
  const verb = verbOf(command);
  if (!verb || !("callId" in command) || !env.actor.may) return undefined;
  const call = findCall(state, command.callId, env);
  if (!call || env.actor.may(verb, call.name)) return undefined;
  // Calls of the agent's side are for whoever holds their claim, which the decision itself asks.
  if (verb === "answer" && call.executor !== "client") return undefined;
  return refuse(
    "forbidden",
    `${env.actor.principal} has no ${verb}:${call.name} in this session: leave call ${call.id} to somebody who has.`,
  );
}

/** What a command does to the call of a tool. */
function verbOf(command: Command): "answer" | "approve" | undefined {
  switch (command.type) {
    case "call.decide":
      return "approve";
    case "call.claim":
    case "call.renew":
    case "call.release":
    case "call.progress":
    case "call.answer":
      return "answer";
    default:
      return undefined;
  }
}
