import type { RunRequestCommand } from "../command.ts";
import { parseActivationId } from "../activation.ts";
import type { Run } from "../run.ts";
import type { SessionState } from "../state.ts";
import { findCall, unknownCall } from "./call.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { runEnded, unknownRun } from "./fence.ts";
import { record, refuse, type Ruling } from "./ruling.ts";

/** Notes that somebody calls a run's activation by an id of their own: the one under way, else the next (SPEC 12.1). */
export function requestRun(draft: Draft, command: RunRequestCommand, env: Env): Ruling {
  const { state } = draft;
  const { requestId, digest, input } = command;
  const known = knownRequest(state, requestId);
  if (known) {
    const { runId, activation, by } = known;
    if (known.digest === digest) return { runId, activation, repeated: true };
    return refuse(
      "key_reused",
      `This session has a run ${requestId} that was asked for otherwise: give each run an id of its own.`,
      { runId, activation, by },
    );
  }
  const taken = parseActivationId(requestId);
  if (taken && state.runs.has(taken.runId)) {
    return refuse(
      "key_reused",
      `${requestId} is an attempt of run ${taken.runId}: give each run an id of its own.`,
      { runId: taken.runId, activation: taken.activation },
    );
  }
  const found = findRun(state, command, env);
  if ("refused" in found) return found.refused;
  const { run } = found;
  if (run.status === "ended") return runEnded(run);
  const now = run.activation;
  const activation = now && !now.ended ? now.attempt : run.attempt + 1;
  record(
    draft,
    env,
    { type: "run.requested", requestId, activation, digest, ...(input && { input }) },
    { runId: run.id },
  );
  return { runId: run.id, activation };
}

function knownRequest(state: SessionState, requestId: string) {
  const runId = state.index.requests.get(requestId);
  if (runId === undefined) return undefined;
  const request = state.runs.get(runId)?.requests?.find(({ id }) => id === requestId);
  return request && { ...request, runId };
}

function findRun(
  state: SessionState,
  { of }: RunRequestCommand,
  env: Env,
): { readonly run: Run } | { readonly refused: Ruling } {
  if ("callId" in of) {
    const call = findCall(state, of.callId, env);
    const run = call && state.runs.get(call.runId);
    if (!run) return { refused: unknownCall(of.callId, state) };
    if (mayAskBy(call.name, env)) return { run };
    const who = env.actor.principal;
    const words = `${who} has neither answer:${call.name} nor approve:${call.name} in this session: ask by a run or a message.`;
    return { refused: refuse("forbidden", words) };
  }
  if ("runId" in of) {
    const run = state.runs.get(of.runId);
    return run ? { run } : { refused: unknownRun(of.runId) };
  }
  const run = runOf(state, of.messageId);
  if (run) return { run };
  const words = `No run of this session answers a message ${of.messageId}: send it first.`;
  return { refused: refuse("unknown_node", words) };
}

/** Whoever settles a call, or lets it run, asks for what follows from that. */
function mayAskBy(tool: string, { actor: { principal, may } }: Env): boolean {
  if (!may || may("answer", tool)) return true;
  return !principal.startsWith("agent:") && may("approve", tool);
}

/** The newest run that answers a message, or that it steers. */
function runOf(state: SessionState, messageId: string): Run | undefined {
  const message = state.messages.get(messageId);
  if (!message) return undefined;
  if (message.steers !== undefined) return state.runs.get(message.steers);
  const { nodes } = state.index;
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const run = state.runs.get(nodes[at] ?? "");
    if (run?.parentId === messageId) return run;
    if (nodes[at] === messageId) break;
  }
  return undefined;
}
