import { createPartialJson, type Call } from "@holdfast/protocol";

/**
 * How a call's final input is read from its argument text where that does not follow from the text alone:
 * `absent`: the framework gave none; `text`, `json`: what the text is, though it was announced as the other.
 */
export type InputKind = "absent" | "text" | "json";

type ArgumentText = Pick<Call, "arguments" | "argumentsEncoding">;

/** The input that argument text stands for: JSON, or the text itself where it is text or no JSON; empty means `{}`. */
export function inputOfText(call: ArgumentText, kind?: InputKind): unknown {
  if (kind === "absent" && call.arguments === "") return undefined;
  if ((kind ?? call.argumentsEncoding) === "text") return call.arguments;
  if (call.arguments.trim() === "") return {};
  try {
    return JSON.parse(call.arguments);
  } catch {
    return call.arguments;
  }
}

/** The input of a call whose arguments still arrive: as much of it as can be read; nothing of what is no JSON. */
export function partialInput(call: ArgumentText): unknown {
  if (call.arguments === "") return undefined;
  if (call.argumentsEncoding === "text") return call.arguments;
  const parser = createPartialJson();
  parser.feed(call.arguments);
  return parser.status === "invalid" ? undefined : parser.value;
}

/** What the argument text must become so that `inputOfText` gives `input`, and how to read it. */
export interface FinalText {
  /** Absent: the text stands as it arrived. */
  readonly replacement?: string;
  readonly kind?: InputKind;
}

/**
 * Compares as JSON: what was streamed stands wherever it says the same.
 *
 * @param broken the framework could not read the input; a string is then the text itself
 */
export function finalText(streamed: ArgumentText, input: unknown, broken: boolean): FinalText {
  if (input === undefined) {
    return { ...(streamed.arguments !== "" && { replacement: "" }), kind: "absent" };
  }
  const isText = streamed.argumentsEncoding === "text";
  if (typeof input === "string" && (broken || isText)) {
    return {
      ...(input !== streamed.arguments && { replacement: input }),
      ...(!isText && { kind: "text" }),
    };
  }
  const wanted = JSON.stringify(input);
  if (!isText && JSON.stringify(jsonOfText(streamed.arguments)) === wanted) return {};
  return { replacement: wanted, ...(isText && { kind: "json" }) };
}

/** Undefined for text that is no JSON. */
function jsonOfText(text: string): unknown {
  try {
    return text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}
