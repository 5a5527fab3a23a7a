import { isObject } from "../json.ts";
import { createCompatState, translate, translateInput, type CompatState } from "./compat.ts";
import { problemOf, type Problem } from "./problem.ts";
import type { AgUiViolation, AgUiWarning } from "./rules.ts";
import { violates } from "./rules.ts";
import { choice, record, required, type RecordShape } from "./shape.ts";
import { strip } from "./strip.ts";
import { TEXTS } from "./texts.ts";
import {
  AG_UI_EVENTS,
  INPUT,
  isAgUiType,
  type AgUiEvent,
  type AgUiEventType,
  type AgUiInput,
} from "./vocabulary.ts";

/** What came of a value from outside: `value` unless there was nothing of the protocol's in it, or a violation. */
export interface Enforced<T> {
  readonly value?: T;
  readonly warnings: readonly AgUiWarning[];
  readonly violation?: AgUiViolation;
}

const NONE: readonly AgUiWarning[] = Object.freeze([]);

/**
 * Holds one event from outside against the schema, in the published order: spellings of before 1.0 are translated
 * (E5), an unknown type is dropped (E2), unknown properties (E3) and unknown members of unions (E4) are removed, and
 * what is malformed then is a violation (E1). The event itself is returned where nothing had to change, and never
 * changed. `state` is what translation has to remember, and is changed in place.
 */
export function enforceAgUiEvent(
  raw: unknown,
  state: CompatState = createCompatState(),
  runId = "",
): Enforced<AgUiEvent> {
  if (isPlainDelta(raw)) return { value: raw, warnings: NONE };
  if (!isObject(raw)) return { warnings: NONE, violation: violates("E1", TEXTS.notObject()) };
  if (typeof raw["type"] !== "string" || raw["type"] === "") {
    return { warnings: NONE, violation: violates("E1", TEXTS.noType()) };
  }
  const warnings: AgUiWarning[] = [];
  const event = translate(state, raw, runId, warnings);
  const type = String(event["type"]);
  if (!isAgUiType(type)) {
    const message = `Left out an event of the unknown type '${type}'.`;
    return { warnings: [{ rule: "E2", message, path: "/type" }] };
  }
  const shape = SHAPES[type];
  const value = strip(event, shape, warnings);
  const problem = problemOf(value, shape);
  if (problem) return { warnings, violation: malformed(type, problem) };
  if (type === "RUN_STARTED" && isObject(value["input"])) {
    return { value: { ...value, input: withDefaults(value["input"]) } as AgUiEvent, warnings };
  }
  return { value: value as AgUiEvent, warnings };
}

/**
 * The same for the input of a run, as it comes in a request: a violation is refused before RUN_STARTED; of the rest
 * what is unknown is stripped. `tools` and `context` are there in any case.
 */
export function enforceAgUiInput(raw: unknown): Enforced<AgUiInput> {
  const refuse = (problem: Problem) => malformed("RunAgentInput", problem);
  if (!isObject(raw)) {
    const problem = { path: "", must: "be an object", is: "something else" };
    return { warnings: NONE, violation: refuse(problem) };
  }
  const warnings: AgUiWarning[] = [];
  const value = strip(translateInput(raw, "", warnings), INPUT, warnings);
  const problem = problemOf(value, INPUT);
  if (problem) return { warnings, violation: refuse(problem) };
  return { value: withDefaults(value) as unknown as AgUiInput, warnings };
}

/**
 * Whether a value is a fragment that needs nothing of the above: of text, reasoning or arguments, explicit or a chunk,
 * with described members alone, all of them in order. Most events of any stream are; it allocates nothing.
 */
export function isPlainDelta(raw: unknown): raw is AgUiEvent {
  if (typeof raw !== "object" || raw === null) return false;
  const event = raw as Readonly<Record<string, unknown>>;
  switch (event["type"]) {
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT":
      return "messageId" in event && "delta" in event && isPlain(event, "messageId");
    case "TOOL_CALL_ARGS":
      return "toolCallId" in event && "delta" in event && isPlain(event, "toolCallId");
    case "TEXT_MESSAGE_CHUNK":
    case "REASONING_MESSAGE_CHUNK":
      return isPlain(event, "messageId");
    case "TOOL_CALL_CHUNK":
      return isPlain(event, "toolCallId");
    default:
      return false;
  }
}

function isPlain(event: Readonly<Record<string, unknown>>, id: string): boolean {
  for (const key in event) {
    switch (key) {
      case "type":
        break;
      case "messageId":
      case "toolCallId":
        if (key !== id || typeof event[key] !== "string") return false;
        break;
      case "delta":
      case "subagentRunId":
        if (typeof event[key] !== "string") return false;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(event[key])) return false;
        break;
      case "metadata":
        if (!isObject(event[key])) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

const SHAPES = Object.fromEntries(
  Object.entries(AG_UI_EVENTS).map(([type, fields]) => {
    return [type, record({ type: required(choice(type)), ...fields })];
  }),
) as Record<AgUiEventType, RecordShape>;

function withDefaults(input: Record<string, unknown>): Record<string, unknown> {
  return { ...input, tools: input["tools"] ?? [], context: input["context"] ?? [] };
}

function malformed(what: string, { path, must, is }: Problem): AgUiViolation {
  return violates("E1", `${what}${path.replaceAll("/", ".")} must ${must}, not ${is}.`);
}
