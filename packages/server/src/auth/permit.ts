import type { Command } from "@holdfast/protocol";
import { allows, allowsFor, allowsSome, covers, names, type PlainVerb } from "./grants.ts";
import type { Identity } from "./identity.ts";
import { forbidden } from "./refusals.ts";

/*
 * What an identity may do, in one place for every face. Each throws HoldfastError `forbidden` for what it may not.
 * Refusals say nothing of the session, not even whether there is one.
 */

/** Seeing a session's state and log. An attempt's token is for its own session. */
export function mayRead(identity: Identity, session: string): void {
  if (!canRead(identity, session)) throw refused(identity, "read", session);
}

/** Whether it may see a session at all, for lists that hold only those. */
export function canRead({ attempt, grants }: Identity, session: string): boolean {
  return attempt ? attempt.session === session : allows(grants, session, "read");
}

/** Whether it may say something in a session. */
export function canSend(identity: Identity, session: string): boolean {
  return isAllowed(identity, "send", session);
}

/** Whether it sees the arguments and results of a tool's calls. An attempt sees its session's. */
export function seesData({ attempt, grants }: Identity, session: string, tool: string): boolean {
  return attempt ? attempt.session === session : allowsFor(grants, session, "data", tool);
}

/** Saying anything to a session; what, {@link mayCommand} decides. */
export function mayEnter({ attempt, grants }: Identity, session: string): void {
  const mine = attempt
    ? attempt.session === session
    : grants.some(({ sessions }) => covers(sessions, session));
  if (mine) return;
  throw forbidden(`This token is for other sessions than ${session}.`);
}

/** Creating a session; with a policy of its own, or in the name of somebody else, as who administers it. */
export function mayCreate(
  identity: Identity,
  session: string,
  { policy, owner }: { readonly policy?: unknown; readonly owner?: string } = {},
): void {
  const isPlain = policy === undefined && (owner ?? identity.principal) === identity.principal;
  requirePlain(identity, isPlain ? "send" : "admin", session);
}

/** Deleting a session, and whatever else is its administrator's. */
export function mayAdminister(identity: Identity, session: string): void {
  requirePlain(identity, "admin", session);
}

/** What belongs to no session, such as revocations: for who administers all of them. */
export function mayAdministerAll({ attempt, grants }: Identity): void {
  const all = grants.some(({ sessions, verbs }) => sessions === "*" && verbs.includes("admin"));
  if (attempt || !all) throw forbidden("This needs admin in all sessions (*).");
}

/** What a person may do for calls of a session; undefined for an agent or a back end, whom no call waits for. */
export function personIn(
  { principal, grants, attempt }: Identity,
  session: string,
): ((verb: "answer" | "approve", tool: string) => boolean) | undefined {
  if (attempt || !principal.startsWith("user:")) return undefined;
  return (verb, tool) => allowsFor(grants, session, verb, tool);
}

/** Listing sessions, of which it gets those that {@link canRead} lets it see. */
export function mayList({ attempt }: Identity): void {
  if (attempt) throw forbidden("An attempt's token lists no sessions.");
}

/** Claiming an agent's work. @returns in which sessions */
export function mayWork(
  { grants, attempt }: Identity,
  agent: string,
): (session: string) => boolean {
  const able = grants.filter((grant) => names(grant, "agent", agent));
  if (attempt || able.length === 0) {
    throw forbidden(`Work of agent ${agent} is for tokens with the verb agent:${agent}.`);
  }
  return (session) => able.some(({ sessions }) => covers(sessions, session));
}

/**
 * One command. Which tool a call is of stands in the session: for those commands this asks for the verb for any tool,
 * and the decision (`actorOf(…).may`) for the call's own.
 */
export function mayCommand(identity: Identity, session: string, command: Command): void {
  mayEnter(identity, session);
  if (identity.attempt) return attemptMayCommand(identity, command);
  switch (command.type) {
    case "message.send":
      requirePlain(identity, "send", session);
      // It ends what others wait for.
      if (command.whileActive === "replace") requirePlain(identity, "cancel", session);
      return;
    case "run.request":
      return mayRequest(identity, session, command);
    case "run.cancel":
    case "call.cancel":
      return requirePlain(identity, "cancel", session);
    case "policy.set":
    case "session.update":
    case "session.close":
    case "content.erase":
      return requirePlain(identity, "admin", session);
    case "tools.advertise":
      // One that advertises nothing says nothing, and is for those who could.
      requireSome(identity, "answer", session);
      for (const { name } of command.tools) requireFor(identity, "answer", name, session);
      return;
    case "approval.revoke":
      return requireFor(identity, "approve", command.tool, session);
    case "call.decide":
      if (identity.principal.startsWith("agent:")) {
        throw forbidden("An agent does not decide on calls.");
      }
      return requireSome(identity, "approve", session);
    case "call.claim":
    case "call.renew":
    case "call.release":
    case "call.progress":
    case "call.answer":
      // An agent answers under a claim that outlived its attempt, and for clients only where that is granted.
      if (allowsSome(identity.grants, session, "agent")) return;
      return requireSome(identity, "answer", session);
    case "run.append":
    case "run.heartbeat":
    case "step.start":
    case "step.end":
    case "run.finish":
    case "run.fail":
    case "run.release":
      throw needsAttempt(command);
    default:
      command satisfies never;
  }
}

/** Whoever settles a call, or lets it run, asks for what follows from that; the rest is said to the agent. */
function mayRequest(
  identity: Identity,
  session: string,
  { of, input }: Extract<Command, { type: "run.request" }>,
): void {
  const { principal, grants } = identity;
  if (!("callId" in of) || input) return requirePlain(identity, "send", session);
  // The decision asks whether the call is of a tool that it may answer or decide upon.
  if (!principal.startsWith("agent:") && allowsSome(grants, session, "approve")) return;
  requireSome(identity, "answer", session);
}

/** An attempt's token does what its attempt does: its run's commands, and those of calls. */
function attemptMayCommand({ attempt }: Identity, command: Command): void {
  switch (command.type) {
    case "run.append":
    case "run.heartbeat":
    case "step.start":
    case "step.end":
    case "run.finish":
    case "run.fail":
    case "run.release":
      if (attempt?.runId === command.runId && attempt.attempt === command.attempt) return;
      throw needsAttempt(command);
    case "call.claim":
    case "call.renew":
    case "call.release":
    case "call.progress":
    case "call.answer":
      return;
    case "message.send":
    case "run.request":
    case "run.cancel":
    case "tools.advertise":
    case "policy.set":
    case "session.update":
    case "session.close":
    case "content.erase":
    case "call.decide":
    case "approval.revoke":
    case "call.cancel":
      throw forbidden(`An attempt's token is not for ${command.type}.`);
    default:
      command satisfies never;
  }
}

function needsAttempt({
  type,
  runId,
  attempt,
}: Extract<Command, { runId: string; attempt: number }>) {
  return forbidden(
    `${type} needs the token of attempt ${attempt} of run ${runId}, as work/claim gave it.`,
  );
}

function requirePlain(identity: Identity, verb: PlainVerb, session: string): void {
  if (!isAllowed(identity, verb, session)) throw refused(identity, verb, session);
}

/** Verbs of people and applications, which no attempt has. */
function isAllowed({ attempt, grants }: Identity, verb: PlainVerb, session: string): boolean {
  return !attempt && allows(grants, session, verb);
}

function requireFor(
  identity: Identity,
  verb: "answer" | "approve",
  tool: string,
  session: string,
): void {
  if (!allowsFor(identity.grants, session, verb, tool)) {
    throw refused(identity, `${verb}:${tool}`, session);
  }
}

function requireSome(identity: Identity, verb: "answer" | "approve", session: string): void {
  if (!allowsSome(identity.grants, session, verb)) {
    throw refused(identity, `${verb}:<tool>`, session);
  }
}

function refused({ principal, attempt }: Identity, verb: string, session: string): Error {
  if (!attempt)
    return forbidden(`This token of ${principal} has no ${verb} in session ${session}.`);
  return forbidden(
    `This token is for an attempt of session ${attempt.session}, and has no ${verb}.`,
  );
}
