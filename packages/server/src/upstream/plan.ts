import {
  callsOf,
  toFrameworkId,
  type Call,
  type Run,
  type RunFailure,
  type SessionState,
} from "@holdfast/protocol";
import { AG_UI, agUiInput, type AgUiScope } from "@holdfast/protocol/ag-ui";

/** What an attempt is to do. */
export type Plan =
  /** Asks the agent, with this. */
  | { readonly type: "ask"; readonly body: string; readonly scope: AgUiScope }
  /** The attempt before was cut off after the agent's last word, or when it must not be asked again. */
  | { readonly type: "finish" }
  | { readonly type: "cancel" }
  | { readonly type: "fail"; readonly error: RunFailure };

/**
 * What an attempt of a run is to do, by the state at its start; undefined where it is not the current one any more.
 *
 * An attempt that was lost or handed back leaves its agent's run cut off, and AG-UI cannot go on with that. It is asked
 * for again only where nothing of it stands: where it had made calls, its agent may have done what cannot be done twice.
 */
export function planOf(
  state: SessionState,
  { runId, attempt }: { readonly runId: string; readonly attempt: number },
  strict: boolean,
): Plan | undefined {
  const run = state.runs.get(runId);
  if (run?.status !== "active" || run.attempt !== attempt) return undefined;
  return afterCut(state, run) ?? asking(state, run, strict);
}

function asking(state: SessionState, run: Run, strict: boolean): Plan {
  const { input, steers } = agUiInput(state, { runId: run.id });
  const messages = new Set([...state.messages.keys(), ...state.items.keys()]);
  const approved = callsOf(state, run.id)
    .filter(({ status, approval }) => status === "open" && approval?.decision?.approved)
    .map((call) => toFrameworkId(state, call));
  const scope: AgUiScope = {
    runId: run.id,
    attempt: run.attempt,
    input,
    steers,
    strict,
    approved: new Set(approved),
    isUsed: (id, what) => what === "message" && messages.has(id),
  };
  return { type: "ask", body: JSON.stringify(input), scope };
}

/** What is left to do after an attempt of the same activation that did not come to its end; undefined: all of it. */
function afterCut(state: SessionState, run: Run): Plan | undefined {
  for (
    let attempt = run.attempt - 1;
    attempt >= (run.activation?.attempt ?? run.attempt);
    attempt -= 1
  ) {
    const record = recordOf(run, attempt);
    if (!record) continue; // nothing came of it
    const stands = callsOf(state, run.id).filter(
      (call) => call.attempt === attempt && isThere(call),
    );
    switch (record.outcome) {
      case "success":
      case "interrupt":
        // What others were asked for has come meanwhile.
        return stands.some(isAnswer) ? undefined : { type: "finish" };
      case "cancelled":
        return { type: "cancel" };
      case "error": {
        const { code = "agent_error", message } = record.error ?? { message: CUT };
        return { type: "fail", error: { code, message } };
      }
      case undefined:
        if (stands.length === 0) continue;
        return { type: "fail", error: { code: "agent_lost", message: CUT } };
    }
  }
  return undefined;
}

const CUT =
  "The server stopped while the agent was at work. What it said up to then stands; it is not asked again by itself, since its tools may have run.";

interface RunRecord {
  readonly outcome?: "success" | "interrupt" | "cancelled" | "error";
  readonly error?: { readonly code?: string; readonly message: string };
}

/** What the encoder noted of the agent's run in an attempt; undefined where it never began. */
function recordOf(run: Run, attempt: number): RunRecord | undefined {
  const records = run.metadata?.[AG_UI] as Record<string, RunRecord> | undefined;
  return records?.[String(attempt)];
}

function isThere(call: Call): boolean {
  return !call.withdrawn && call.outcome !== "superseded";
}

function isAnswer(call: Call): boolean {
  return call.status === "open" || call.executor === "client" || call.approval !== undefined;
}
