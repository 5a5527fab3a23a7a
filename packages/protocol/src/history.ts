import { isApproved, wasClaimed, type Answer, type Call, type SettleReason } from "./call.ts";
import type { Json } from "./json.ts";
import { isTooDeep } from "./nesting.ts";

/**
 * What a model is told became of a call (SPEC 8). Every call of a history has exactly one of these:
 *
 * - `answer`: its answer.
 * - `denied`: a person or a policy refused it.
 * - `approved`: it is approved and open, and the history's own run executes it next: no result yet.
 * - `note`: it has no answer; `text` says so, for the model and for people alike. Made for the export, never stored.
 * - `withdrawn`: it leaves the history, call and result alike.
 */
export type CallResult =
  | { readonly kind: "answer"; readonly outcome: "ok" | "error"; readonly answer: Answer }
  | { readonly kind: "denied"; readonly reason?: string }
  | { readonly kind: "approved" }
  | { readonly kind: "note"; readonly text: string }
  | { readonly kind: "withdrawn" };

/** @param options.forRun the run whose next attempt reads the history; no run, no `approved`. */
export function resultOf(call: Call, options: { readonly forRun?: string } = {}): CallResult {
  if (call.withdrawn || call.outcome === "superseded") return { kind: "withdrawn" };
  if (call.answer && call.reason !== "executed_without_approval") {
    return {
      kind: "answer",
      outcome: call.outcome === "ok" ? "ok" : "error",
      answer: call.answer.answer,
    };
  }
  const decision = call.approval?.decision;
  if (call.outcome === "denied") {
    return { kind: "denied", ...(decision?.reason !== undefined && { reason: decision.reason }) };
  }
  const runs = isApproved(call) && call.executor !== "client";
  if (runs && call.runId === options.forRun) return { kind: "approved" };
  return { kind: "note", text: call.status === "settled" ? settledNote(call) : pendingNote(call) };
}

/**
 * A call's arguments as the object that every provider asks for. Arguments of `text` encoding stay text: their tool
 * takes no object. Empty or `null` arguments are `{}`; anything else that is no object is kept under `input`, and so is
 * the text of what nests too deep to be written out again.
 */
export function argumentsForModel(
  call: Pick<Call, "arguments" | "argumentsEncoding">,
): string | { readonly [key: string]: Json | undefined } {
  if (call.argumentsEncoding === "text") return call.arguments;
  if (call.arguments.trim() === "") return {};
  let value: Json;
  try {
    value = JSON.parse(call.arguments) as Json;
  } catch {
    return { input: call.arguments };
  }
  if (isTooDeep(call.arguments)) return { input: call.arguments };
  if (value === null) return {};
  return isObject(value) ? value : { input: value };
}

function isObject(value: Json): value is { readonly [key: string]: Json | undefined } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function pendingNote(call: Call): string {
  switch (call.status) {
    case "streaming":
    case "ended":
      return "Not executed: the call was not complete yet.";
    case "gated":
      return "Not executed yet: the call waits for approval.";
    case "claimed":
      return "No result yet: the call is being executed.";
    default:
      return call.executor === "client"
        ? "No result yet: the call waits for the application."
        : "Not executed yet.";
  }
}

function settledNote(call: Call): string {
  const because = call.reason === undefined ? undefined : REASONS[call.reason];
  switch (call.reason) {
    case "invalid_arguments":
      return call.invalid?.message ?? call.message ?? "The arguments were invalid.";
    case "unknown_tool":
      return `There is no tool named "${call.name}".`;
    case "executed_without_approval":
      return "The call was executed without the approval it needed.";
    case "result_too_large":
      return "The call's result was too large to keep.";
    case "truncated":
    case "unanswered":
      // The server's own words say no more than the reason does.
      return `${effectOf(call)}: ${because}.`;
    default: {
      const why = `${effectOf(call)}: ${because ?? `the call was ${call.outcome ?? "settled"}`}.`;
      return call.message === undefined ? why : `${why} ${call.message}`;
    }
  }
}

function effectOf(call: Call): string {
  return wasClaimed(call)
    ? "Outcome unknown: the call was being executed and may have taken effect"
    : "Not executed";
}

const REASONS: Partial<Record<SettleReason, string>> = {
  truncated: "the arguments were cut off",
  arguments_too_large: "the arguments were too long",
  unanswered: "its agent ended without an answer",
  executor_lost: "whoever executed it was lost",
  deadline: "there was no answer in time",
  approval_expired: "nobody decided in time",
  superseded_by_new_message: "the user sent another message instead",
  cancelled: "the call was cancelled",
  run_cancelled: "the run was cancelled",
  run_replaced: "the user sent another message instead",
  run_ended: "the run ended",
  run_failed: "the run failed",
  session_closed: "the session was closed",
  declined: "it was declined",
};
