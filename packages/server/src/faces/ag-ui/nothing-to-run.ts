import { reject, type Rejection, type SessionState } from "@holdfast/protocol";

/** Why an input starts nothing, where nothing is under way either. */
export function nothingToRun(state: SessionState): Rejection {
  const last = state.index.nodes.findLast((id) => state.runs.has(id));
  const run = last === undefined ? undefined : state.runs.get(last);
  if (!run) {
    return reject("invalid_request", "messages: there is no user's message to answer. Add one.");
  }
  const { id: runId, outcome, reason } = run;
  return reject(
    "run_ended",
    `All that this thread was told has been answered (run ${runId}, ${outcome}), and nothing is answered anew: add a message.`,
    { runId, outcome, ...(reason !== undefined && { reason }) },
  );
}
