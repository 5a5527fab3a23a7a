import type { Call, SettleReason } from "@holdfast/protocol";

/** How a call that nobody answered well came to its end. */
export interface SettledWords {
  readonly what: string;
  /** What the person who ended it wrote. */
  readonly quote?: string;
  /** What follows from it, or what can be done. */
  readonly next: string;
}

/** Puts a settled call's end into words; `name` turns a principal into one. */
export function settledWords(call: Call, name: (principal: string) => string): SettledWords {
  const by = call.settledBy === undefined ? "Somebody" : capital(name(call.settledBy));
  const quote = call.approval?.decision?.reason ?? call.message;
  const said = quote === undefined || quote === "" ? {} : { quote };
  switch (call.outcome) {
    case "denied":
      return { what: `${by} denied it. It did not run.`, ...said, next: "The agent was told." };
    case "cancelled":
      return {
        what:
          call.reason === "run_replaced"
            ? "A new message replaced its run."
            : `${by} cancelled it.`,
        ...said,
        next: "Ask again to have it done.",
      };
    case "expired":
      return {
        what:
          call.reason === "approval_expired"
            ? "Nobody decided in time. It did not run."
            : "Nobody answered in time.",
        next: "Ask again to have it done.",
      };
    case "abandoned":
      return {
        what:
          call.reason === "superseded_by_new_message"
            ? "A new message came before it was done."
            : "Its run ended before it was done.",
        ...said,
        next: "Ask again to have it done.",
      };
    case "superseded":
      return { what: "The agent started this part again.", next: "" };
    default:
      if (call.reason === "declined")
        return { what: `${by} declined.`, ...declinedQuote(call), next: "The agent was told." };
      return { what: errorWords(call.reason), next: errorNext(call.reason) };
  }
}

function declinedQuote(call: Call): { quote?: string } {
  const answer = call.answer?.answer;
  return answer?.type === "text" && answer.text !== "" ? { quote: answer.text } : {};
}

function errorWords(reason: SettleReason | undefined): string {
  switch (reason) {
    case "truncated":
      return "Its arguments broke off before they were complete.";
    case "invalid_arguments":
      return "Its arguments do not fit the tool's schema, so it did not run.";
    case "unknown_tool":
      return "The agent has no tool of this name.";
    case "unanswered":
      return "The agent finished without answering it.";
    case "executor_lost":
      return "Whoever ran it disappeared, so its outcome is unknown.";
    case "executed_without_approval":
      return "It ran without the approval it needed.";
    case "result_too_large":
      return "Its result was too large to keep.";
    default:
      return "The tool reported an error.";
  }
}

function errorNext(reason: SettleReason | undefined): string {
  switch (reason) {
    case "executor_lost":
      return "Check whether it took effect before asking again.";
    case "executed_without_approval":
      return "Check what it did.";
    default:
      return "The agent was told and may try again.";
  }
}

function capital(words: string): string {
  return words.charAt(0).toLocaleUpperCase() + words.slice(1);
}
