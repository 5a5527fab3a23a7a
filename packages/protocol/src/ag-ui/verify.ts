import type { AgUiViolation, AgUiWarning } from "./rules.ts";
import { violates } from "./rules.ts";
import type { VerifyState } from "./state.ts";
import { TEXTS } from "./texts.ts";
import { activityChanged, activityRestated, encryptedValue } from "./verify-activity.ts";
import { callArguments, callEnded, callResult, callStarted } from "./verify-call.ts";
import { snapshot } from "./verify-history.ts";
import { messageContent, messageEnded, messageStarted } from "./verify-message.ts";
import { runFinished, runStarted } from "./verify-run.ts";
import { stepFinished, stepStarted } from "./verify-step.ts";
import { nullsOf, subagentEnded, subagentStarted } from "./verify-subagent.ts";
import type { AgUiEvent } from "./vocabulary.ts";

/**
 * Holds the next event of a stream, chunks expanded, against the rules of order and ownership (AG-UI 1.0; the rules,
 * their order and their words are those of the published client, and D rules beside them: docs/protocol/ag-ui.md).
 *
 * Changes `state` in place and adds to `warnings`. An event that breaks a V rule changes nothing (V3 but that there was
 * one), so that whoever wants to hear of more than the first can go on; one that breaks a D rule counts as sent. By the
 * specification a stream is over at its first violation.
 */
export function verifyAgUi(
  state: VerifyState,
  event: AgUiEvent,
  warnings: AgUiWarning[],
): AgUiViolation | undefined {
  const { type } = event;
  if (state.phase !== "running") {
    const refusal = outsideRun(state, type);
    if (refusal) return refusal;
  } else if (type === "RUN_STARTED") return violates("V4", TEXTS.runActive());
  const nulls = nullsOf(event);
  if (nulls) return nulls;
  switch (type) {
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT":
      return messageContent(state, event);
    case "TOOL_CALL_ARGS":
      return callArguments(state, event);
    case "TEXT_MESSAGE_START":
    case "REASONING_START":
    case "REASONING_MESSAGE_START":
      return messageStarted(state, event, warnings);
    case "TEXT_MESSAGE_END":
    case "REASONING_MESSAGE_END":
    case "REASONING_END":
      return messageEnded(state, event);
    case "TOOL_CALL_START":
      return callStarted(state, event, warnings);
    case "TOOL_CALL_END":
      return callEnded(state, event);
    case "TOOL_CALL_RESULT":
      return callResult(state, event, warnings);
    case "STEP_STARTED":
      return stepStarted(state, event);
    case "STEP_FINISHED":
      return stepFinished(state, event);
    case "REASONING_ENCRYPTED_VALUE":
      return encryptedValue(state, event, warnings);
    case "ACTIVITY_SNAPSHOT":
      return activityRestated(state, event, warnings);
    case "ACTIVITY_DELTA":
      return activityChanged(state, event, warnings);
    case "SUBAGENT_STARTED":
      return subagentStarted(state, event);
    case "SUBAGENT_FINISHED":
    case "SUBAGENT_ERROR":
      return subagentEnded(state, event);
    case "MESSAGES_SNAPSHOT":
      return snapshot(state, event);
    case "RUN_STARTED":
      return runStarted(state, event, warnings);
    case "RUN_FINISHED":
      return runFinished(state, event);
    case "RUN_ERROR":
      // Whatever is open is abandoned (V11).
      state.phase = "failed";
      return undefined;
    case "STATE_SNAPSHOT":
    case "STATE_DELTA":
    case "RAW":
    case "CUSTOM":
    case "TEXT_MESSAGE_CHUNK":
    case "TOOL_CALL_CHUNK":
    case "REASONING_MESSAGE_CHUNK":
      return undefined;
    default:
      return type satisfies never;
  }
}

/**
 * What is wrong with a stream that ends here: one that stops without RUN_FINISHED or RUN_ERROR is cut off, never a
 * success (D1), and one that finished another run than the one that was asked for did not do it (D2).
 */
export function verifyAgUiEnd({ phase, run, options }: VerifyState): AgUiViolation | undefined {
  if (phase === "empty" || phase === "early") {
    return violates("D1", "The stream ended, and no run began in it.");
  }
  if (phase === "running") {
    const name = run ? `run '${run.runId}'` : "its run";
    return violates("D1", `The stream ended before ${name} did, by 'RUN_FINISHED' or 'RUN_ERROR'.`);
  }
  if (phase === "finished" && options.runId !== undefined && run?.runId !== options.runId) {
    return violates(
      "D2",
      `The stream ended without the run that was asked for, '${options.runId}': its last is '${run?.runId}'.`,
    );
  }
  return undefined;
}

/** V1 to V3: what may come before a run and after it. */
function outsideRun(state: VerifyState, type: AgUiEvent["type"]): AgUiViolation | undefined {
  if (type === "RUN_STARTED") return undefined;
  if (state.phase === "failed") return violates("V1", TEXTS.errored(type));
  if (type === "RUN_ERROR") return undefined;
  if (state.phase === "finished") return violates("V2", TEXTS.finished(type));
  if (state.phase === "early") return undefined;
  state.phase = "early";
  return violates("V3", TEXTS.first());
}
