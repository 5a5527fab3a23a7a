import type { ContentErase } from "../command.ts";
import { findCall, unknownCall } from "./call.ts";
import { unknownRun } from "./fence.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { APPLIED, record, refuse, REPEATED, type Ruling } from "./ruling.ts";

/**
 * Takes what one call, one message or one run said out of the state, for good (SPEC 6.21). The log is the server's to rewrite. What
 * still grows is `not_ready`; what is erased already changes nothing.
 */
export function eraseContent(draft: Draft, command: ContentErase, env: Env): Ruling {
  const { state } = draft;
  const why = command.reason !== undefined && { reason: command.reason };
  if ("callId" in command) {
    const { callId } = command;
    const call = findCall(state, callId, env);
    if (!call) return unknownCall(callId, state);
    if (call.erased) return REPEATED;
    if (call.status !== "settled") {
      const { id, status } = call;
      return refuse("not_ready", `Call ${id} is ${status}: answer or cancel it first.`);
    }
    record(draft, env, { type: "content.erased", callId: call.id, ...why });
    return APPLIED;
  }
  if ("runId" in command) {
    const { runId } = command;
    const run = state.runs.get(runId);
    if (!run) return unknownRun(runId);
    if (run.erased) return REPEATED;
    if (run.status !== "ended")
      return refuse("not_ready", `Run ${runId} is ${run.status}: wait for its end, or cancel it.`);
    record(draft, env, { type: "content.erased", runId, ...why });
    return APPLIED;
  }
  const { messageId } = command;
  const said = state.messages.get(messageId) ?? state.items.get(messageId);
  if (!said || ("kind" in said && said.kind !== "text" && said.kind !== "reasoning")) {
    return refuse("unknown_node", `This session has no message ${messageId}.`);
  }
  if (said.erased) return REPEATED;
  if ("kind" in said && said.status === "open") {
    return refuse("not_ready", `Message ${messageId} is still being written: wait for its end.`);
  }
  record(draft, env, { type: "content.erased", messageId, ...why });
  return APPLIED;
}
