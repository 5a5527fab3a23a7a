import {
  callsOf,
  isApproved,
  toFrameworkId,
  type Run,
  type SessionState,
} from "@holdfast/protocol";
import {
  agUiAfterCut,
  agUiInput,
  type AgUiAfterCut,
  type AgUiScope,
} from "@holdfast/protocol/ag-ui";

/** What an attempt is to do. */
export type Plan =
  /** Asks the agent, with this. */
  | { readonly type: "ask"; readonly body: string; readonly scope: AgUiScope }
  /** The attempt before was cut off after the agent's last word, or when it must not be asked again. */
  | AgUiAfterCut;

/**
 * What an attempt of a run is to do, by the state at its start; undefined where it is not the current one any more.
 */
export function planOf(
  state: SessionState,
  { runId, attempt }: { readonly runId: string; readonly attempt: number },
  strict: boolean,
): Plan | undefined {
  const run = state.runs.get(runId);
  if (run?.status !== "active" || run.attempt !== attempt) return undefined;
  return agUiAfterCut(state, run) ?? asking(state, run, strict);
}

function asking(state: SessionState, run: Run, strict: boolean): Plan {
  const { input, steers } = agUiInput(state, { runId: run.id });
  const used = {
    message: new Set([...state.messages.keys(), ...state.items.keys()]),
    call: new Set(state.calls.keys()),
  };
  const approved = callsOf(state, run.id)
    .filter(isApproved)
    .map((call) => [toFrameworkId(state, call), call] as const);
  const scope: AgUiScope = {
    runId: run.id,
    attempt: run.attempt,
    input,
    steers,
    strict,
    approved: new Map(approved),
    isUsed: (id, what) => used[what].has(id),
  };
  return { type: "ask", body: JSON.stringify(input), scope };
}
