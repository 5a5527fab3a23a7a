/** What a rule rests on, and what whoever broke it can do. */
export interface RuleText {
  /** Where the specification says so, in words. */
  readonly clause: string;
  readonly fix: string;
}

/**
 * Every rule that is held against a stream. E: single events; X: chunks; V: order and ownership, as the published
 * client checks them; D: what the text states and that client does not check.
 */
export const AG_UI_RULES = {
  E1: {
    clause:
      "Schema reference: a described field has the described type, and an optional one is left out, never null.",
    fix: "Send the field as the schema describes it, or leave an optional one out.",
  },
  E2: {
    clause:
      "Versioning: an event of a type that the protocol does not describe is dropped with a warning.",
    fix: "Say it with CUSTOM, RAW or metadata: a producer invents no event types.",
  },
  E3: {
    clause: "Versioning: objects are closed, so a property they do not describe is stripped.",
    fix: "Move the property into metadata, whose keys are open.",
  },
  E4: {
    clause: "Versioning: a member of a union that the protocol does not describe is removed.",
    fix: "Use one of the described members.",
  },
  E5: {
    clause: "Versioning: shapes from before 1.0 are read for a while, and mean their successors.",
    fix: "Send the 1.0 shape.",
  },
  X1: {
    clause:
      "Streaming pattern, the chunked form: the first chunk of a stream carries its id; of a tool call, the tool's name too.",
    fix: "Repeat the id (and toolCallName) in the first chunk after anything else closed the stream.",
  },
  X2: {
    clause:
      "Streaming pattern, the chunked form: a continuation may repeat what the first chunk said, and only that.",
    fix: "Leave the field out of later chunks, or open a stream with another id.",
  },
  X3: {
    clause:
      "Streaming pattern, the chunked form: a chunk without id or subagentRunId continues the only stream of its kind.",
    fix: "Put the id or the subagentRunId on the chunk.",
  },
  X4: {
    clause:
      "Subagents: a continuation does not disagree with whose stream it continues, chunks included.",
    fix: "Send the subagentRunId of the opening chunk, or none.",
  },
  V1: {
    clause: "Runs: RUN_ERROR ends the run; only RUN_STARTED, of another run, may follow.",
    fix: "Send nothing after RUN_ERROR, or begin the next run.",
  },
  V2: {
    clause:
      "Runs: after RUN_FINISHED comes RUN_STARTED, of another run, or RUN_ERROR for a late failure.",
    fix: "Send everything of the run before RUN_FINISHED.",
  },
  V3: {
    clause: "Runs: a stream begins with RUN_STARTED, or with RUN_ERROR where no run could begin.",
    fix: "Send RUN_STARTED first.",
  },
  V4: {
    clause: "Runs: a stream may carry several runs, one after the other.",
    fix: "End the run with RUN_FINISHED or RUN_ERROR before the next begins.",
  },
  V6: {
    clause:
      "Subagents: optional fields of attribution and of the life cycle are left out, never null.",
    fix: "Leave the field out.",
  },
  V7: {
    clause: "Tool Calls, Error Handling, and Streaming pattern: reopening what is open is fatal.",
    fix: "Close it first, or use another id.",
  },
  V8: {
    clause:
      "Tool Calls, Error Handling, and Streaming pattern: continuing or closing what is not open is fatal.",
    fix: "Open it first; what was closed can be opened again under the same id.",
  },
  V9: {
    clause:
      "Steps: a step is known by who runs it and its name; it is started once and finished once.",
    fix: "Finish each started step, under the subagentRunId it was started with.",
  },
  V10: {
    clause:
      "Tool Calls, Error Handling: what is left open when the run finishes is a violation, whatever the outcome.",
    fix: "Close it before RUN_FINISHED; where that cannot be done, end with RUN_ERROR, which abandons what is open.",
  },
  V12: {
    clause:
      "Subagents: a continuation, a close and a reopening start agree with the owner that the opener named; none means the parent agent.",
    fix: "Send the opener's subagentRunId, or none.",
  },
  V13: {
    clause:
      "Tool Calls, TOOL_CALL_START: a call agrees with the attribution of its parent message; it belongs to the message that carries it.",
    fix: "Send the parent message's subagentRunId or none, or name another parentMessageId.",
  },
  V14: {
    clause:
      "Subagents: SUBAGENT_STARTED announces one invocation, once, with an id and a name; its parent was announced before it.",
    fix: "Use a new subagentRunId for each invocation.",
  },
  V15: {
    clause: "Subagents: SUBAGENT_FINISHED and SUBAGENT_ERROR end an invocation that is active.",
    fix: "Send SUBAGENT_STARTED first, and one end for each.",
  },
  V18: {
    clause:
      "Subagents: an activity's delta and an encrypted value agree with the owner of what they amend.",
    fix: "Send the owner's subagentRunId, or none.",
  },
  D1: {
    clause:
      "Runs: a stream that ends without RUN_FINISHED or RUN_ERROR is not reported as success.",
    fix: "End every run; a consumer treats a run that was cut off as failed.",
  },
  D2: {
    clause:
      "Runs: RUN_STARTED carries the input's threadId, and the requested run its runId; RUN_FINISHED repeats its run's ids.",
    fix: "Echo threadId and runId of the input in RUN_STARTED and RUN_FINISHED.",
  },
  D3: {
    clause: "Interrupts: an interrupt's id is unique in its run.",
    fix: "Give each interrupt an id of its own.",
  },
  D5: {
    clause:
      "Runs, success outcome: pendingToolCallIds, where any are named, are the calls that this run started and left without TOOL_CALL_RESULT, in the order they were made.",
    fix: "Name exactly those calls, or leave the list out.",
  },
  D6: {
    clause:
      "Interrupts, resume: the entries of an input name the interrupts of the thread's last run that did not fail, each of them once.",
    fix: "Send one entry for each of them, resolved or cancelled, and no other.",
  },
  D7: {
    clause:
      "Tool Calls, Frontend tools: a thread that continues must answer every unanswered frontend call first, by a tool message in the next run's messages.",
    fix: "Add a tool message for each; a failure is one with error set, and declining is answered by saying so.",
  },
  D8: {
    clause:
      "Tool Calls, Frontend tools: a producer that calls a frontend tool must not answer it, and finishes with success, not with an interrupt.",
    fix: "Leave the call unanswered and finish the run; the answer comes with the next input.",
  },
  D10: {
    clause:
      "Tool Calls, TOOL_CALL_END: a reopening start agrees with the call it reopens: same toolCallName, same parentMessageId, same owner.",
    fix: "Repeat the first start's toolCallName and parentMessageId, or use another toolCallId.",
  },
  D11: {
    clause:
      "Activities, and Reasoning: what amends an activity, or belongs to a message or call, that is not there changes nothing; a consumer should say so.",
    fix: "Send it after what it is about, under the same id.",
  },
  D12: {
    clause:
      "Messages: a message's id is unique in its thread; each call has a toolCallId of its own.",
    fix: "Mint a new id for each message and each call, across all runs of the thread.",
  },
  D13: {
    clause:
      "HTTP binding: a 2xx text/event-stream whose lines end in LF, with one event, a JSON object with a type, in each frame.",
    fix: "Write `data: <one event as JSON>` and an empty line, with \\n alone.",
  },
} as const satisfies Readonly<Record<string, RuleText>>;

export type AgUiRule = keyof typeof AG_UI_RULES;

/** A rule that was broken: the stream is not AG-UI from here on. Plain JSON. */
export interface AgUiViolation {
  readonly rule: AgUiRule;
  readonly message: string;
  readonly clause: string;
  readonly fix: string;
  /** Which event of the stream, from 0, counting every one that came. Set by the reader. */
  readonly index?: number;
}

/** Something that was changed or left out, or that may be meant otherwise; nothing fails over it. Plain JSON. */
export interface AgUiWarning {
  readonly rule: AgUiRule;
  readonly message: string;
  /** Where in the event, as a JSON Pointer. */
  readonly path?: string;
  /** The id it is about: of D12, the one that was used before. */
  readonly id?: string;
}

export function violates(rule: AgUiRule, message: string): AgUiViolation {
  return { rule, message, ...AG_UI_RULES[rule] };
}
