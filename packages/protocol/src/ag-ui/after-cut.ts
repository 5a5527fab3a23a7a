import { isApproved, type Call } from "../call.ts";
import type { RunFailure } from "../events.ts";
import type { Run } from "../run.ts";
import { callsOf, type SessionState } from "../state.ts";
import { AG_UI } from "./interrupt.ts";

/** How an attempt ends without its agent being asked. */
export type AgUiAfterCut =
  | { readonly type: "finish" }
  | { readonly type: "cancel" }
  | { readonly type: "fail"; readonly error: RunFailure };

/**
 * What is left to do after an attempt of the same activation that did not come to its end; undefined: all of it.
 *
 * An attempt that was lost or handed back leaves its agent's run cut off, and AG-UI cannot go on with that. It is asked
 * for again only where nothing of it stands, and its agent had no call of its own to make: it may have gone on without being
 * heard, and done what cannot be done twice.
 */
export function agUiAfterCut(state: SessionState, run: Run): AgUiAfterCut | undefined {
  for (
    let attempt = run.attempt - 1;
    attempt >= (run.activation?.attempt ?? run.attempt);
    attempt -= 1
  ) {
    const record = recordOf(run, attempt);
    if (!record) continue; // nothing came of it
    const calls = callsOf(state, run.id).filter((call) => call.attempt === attempt);
    const stands = calls.filter(isThere);
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
        if (stands.length === 0 && calls.every(isClients) && !hasApproved(state, run)) continue;
        return { type: "fail", error: { code: "agent_lost", message: CUT } };
    }
  }
  return undefined;
}

const CUT =
  "Whoever asked the agent stopped while it was at work. It is not asked again by itself, since its tools may have run.";

interface RunRecord {
  readonly outcome?: "success" | "interrupt" | "cancelled" | "error";
  readonly error?: { readonly code?: string; readonly message: string };
}

/** What the encoder noted of the agent's run in an attempt; undefined where it never began. */
function recordOf(run: Run, attempt: number): RunRecord | undefined {
  const records = run.metadata?.[AG_UI] as Record<string, RunRecord> | undefined;
  return records?.[String(attempt)];
}

const isClients = ({ executor }: Call) => executor === "client";

/** Whether the agent was to execute a call that was approved, which it may do without another word. */
function hasApproved(state: SessionState, run: Run): boolean {
  return callsOf(state, run.id).some((call) => isApproved(call) && !isClients(call));
}

function isThere(call: Call): boolean {
  return !call.withdrawn && call.outcome !== "superseded";
}

function isAnswer(call: Call): boolean {
  return call.status === "open" || call.executor === "client" || call.approval !== undefined;
}
