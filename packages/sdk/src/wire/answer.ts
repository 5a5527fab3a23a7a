import { HoldfastError, type Answer, type Json } from "@holdfast/protocol";

/**
 * A value as the answer of a call; `undefined` counts as `null`. What it is is said, never guessed from it.
 *
 * @throws {HoldfastError} `invalid_request` where the value is not what is said
 */
export function answerOf(callId: string, as: Answer["type"], value: Json | undefined): Answer {
  switch (as) {
    case "json":
      return { type: "json", value: value ?? null };
    case "text":
      if (typeof value === "string") return { type: "text", text: value };
      break;
    case "parts":
      if (Array.isArray(value)) return { type: "parts", parts: value };
      break;
  }
  throw new HoldfastError({
    code: "invalid_request",
    message: `The answer of call ${callId} is not ${as}, but ${typeof value}: give a ${as === "text" ? "string" : "list of parts"}.`,
  });
}
