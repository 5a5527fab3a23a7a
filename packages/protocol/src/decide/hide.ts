import type { Command } from "../command.ts";
import type { Rejection } from "../errors.ts";
import { isObject } from "../json.ts";
import type { SessionState } from "../state.ts";
import { findCall } from "./call.ts";
import type { Env } from "./env.ts";

/**
 * A refusal as its actor may hear it (SPEC 7.6): where it does not see the data of the call's tool, without the answer,
 * digest, edit or paths that stand there. Its words are of states and names alone, or of what the actor sent itself.
 */
export function hideData(
  state: SessionState,
  command: Command,
  env: Env,
  error: Rejection,
): Rejection {
  const { details, ...rest } = error;
  if (!details || !("callId" in command)) return error;
  const call = findCall(state, command.callId, env);
  if (!call || env.actor.may?.("data", call.name) !== false) return error;
  const shown = Object.entries(details).filter(([name]) => SHOWN.has(name));
  const { decision } = details;
  if (isObject(decision)) {
    const { approved, by, at } = decision;
    shown.push(["decision", { approved, by, at }]);
  }
  return { ...rest, details: Object.fromEntries(shown) };
}

/** What of a refusal's details says nothing of arguments and results. */
const SHOWN: ReadonlySet<string> = new Set([
  "approvalId",
  "approvers",
  "at",
  "attempt",
  "by",
  "outcome",
  "pending",
  "reason",
  "settledAt",
  "settledBy",
  "since",
  "status",
  "toolDigest",
]);
