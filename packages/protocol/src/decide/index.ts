import type { Command, Verdict } from "../command.ts";
import { append } from "./append.ts";
import { answerCall } from "./answer.ts";
import { cancelCall, cancelRun } from "./cancel.ts";
import { claimCall, progressCall, releaseCall, renewCall } from "./claim.ts";
import { decideCall, revokeApproval } from "./decision.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { eraseContent } from "./erase.ts";
import { closeSession, refuseClosed, updateSession } from "./life.ts";
import { refuseLarge } from "./limits.ts";
import { hideData } from "./hide.ts";
import { sendMessage } from "./message.ts";
import { refuseTool } from "./permit.ts";
import { requestRun } from "./request.ts";
import { failRun, finishRun, heartbeat, releaseRun } from "./run.ts";
import { APPLIED, type Ruling } from "./ruling.ts";
import { advertiseTools, setPolicy } from "./session.ts";
import { endStep, startStep } from "./step.ts";

/**
 * Decides one command against a session's state (SPEC 6): appends what follows to the draft, or refuses.
 *
 * A rejection leaves draft and state exactly as they were: every refusal comes before the first event. Deterministic
 * given state, command and env.
 */
export function decide(draft: Draft, command: Command, env: Env): Verdict {
  const { error, ...made } =
    refuseLarge(command, env) ??
    refuseTool(draft.state, command, env) ??
    refuseClosed(draft.state, command) ??
    rule(draft, command, env);
  const offset = draft.state.head;
  if (error) {
    const heard = hideData(draft.state, command, env, error);
    return { id: command.id, status: "rejected", offset, error: heard };
  }
  return { id: command.id, status: "applied", offset, ...made };
}

function rule(draft: Draft, command: Command, env: Env): Ruling {
  switch (command.type) {
    case "run.append":
      return append(draft, command, env);
    case "run.heartbeat":
      return heartbeat(draft, command, env);
    case "run.finish":
      return finishRun(draft, command, env);
    case "run.release":
      return releaseRun(draft, command, env);
    case "step.start":
      return startStep(draft, command, env);
    case "step.end":
      return endStep(draft, command, env);
    case "run.fail":
      return failRun(draft, command, env);
    case "run.cancel":
      return cancelRun(draft, command, env);
    case "message.send":
      return sendMessage(draft, command, env);
    case "run.request":
      return requestRun(draft, command, env);
    case "call.claim":
      return claimCall(draft, command, env);
    case "call.renew":
      return renewCall(draft, command, env);
    case "call.release":
      return releaseCall(draft, command, env);
    case "call.progress":
      return progressCall(draft, command, env);
    case "call.answer":
      return answerCall(draft, command, env);
    case "call.decide":
      return decideCall(draft, command, env);
    case "approval.revoke":
      return revokeApproval(draft, command.tool, env);
    case "call.cancel":
      return cancelCall(draft, command, env);
    case "tools.advertise":
      return advertiseTools(draft, command.tools, env);
    case "policy.set":
      return setPolicy(draft, command.policy, env);
    case "session.update":
      return updateSession(draft, command, env);
    case "content.erase":
      return eraseContent(draft, command, env);
    case "session.close":
      return closeSession(draft, command, env);
    default:
      command satisfies never;
      return APPLIED;
  }
}
