import type { Owner } from "./state.ts";

/**
 * What is said of broken rules, word for word what the published client (1.0.0) says: programs and people already
 * know these sentences. Those of rules that it does not have are beside the rules.
 */
export const TEXTS = {
  errored: (type: string) =>
    `Cannot send event type '${type}': The run has already errored with 'RUN_ERROR'. No further events can be sent.`,
  finished: (type: string) =>
    `Cannot send event type '${type}': The run has already finished with 'RUN_FINISHED'. Start a new run with 'RUN_STARTED'.`,
  first: () => "First event must be 'RUN_STARTED'",
  runActive: () =>
    "Cannot send 'RUN_STARTED' while a run is still active. The previous run must be finished with 'RUN_FINISHED' before starting a new run.",
  nullField: (type: string, field: string) =>
    `Cannot send '${type}' with '${field}: null'. The field is optional — omit it entirely.`,
  nullMessageTag: (id: string) =>
    `Cannot send a message (id '${id}') with 'subagentRunId: null'. The field is optional — omit it entirely.`,
  nullInterruptTag: (id: string) =>
    `Cannot send 'RUN_FINISHED' with an interrupt (id '${id}') carrying 'subagentRunId: null'. The field is optional — omit it entirely.`,
  subagentOutcome: (type: string, outcome: string) =>
    `Cannot send '${type}' with outcome type '${outcome}'. The outcome is either { type: "success" } or { type: "suspended" }.`,
  interruptIds: (type: string) =>
    `Cannot send '${type}' with a non-string entry in 'outcome.interruptIds'. Interrupt ids are strings.`,
  alreadyOpen: (type: string, what: string, id: string, end: string) =>
    `Cannot send '${type}' event: A ${what} with ID '${id}' is already in progress. Complete it with '${end}' first.`,
  /** Of a content event: where to begin. */
  notOpen: (type: string, what: string, id: string, start: string) =>
    `Cannot send '${type}' event: No active ${what} found with ID '${id}'. Start a ${what} with '${start}' first.`,
  /** Of an end. */
  nothingToEnd: (type: string, what: string, id: string, start: string) =>
    `Cannot send '${type}' event: No active ${what} found with ID '${id}'. A '${start}' event must be sent first.`,
  owner: (type: string, tag: string, kind: string, id: string, owner: Owner) =>
    `Cannot send '${type}': subagentRunId '${tag}' does not match the ${kind} '${id}' opener's subagent '${nameOf(owner)}'.`,
  parentOwner: (tag: string, parent: string, owner: Owner) =>
    `Cannot send 'TOOL_CALL_START': subagentRunId '${tag}' does not match its parent message '${parent}' owner '${nameOf(owner)}'. A tool call belongs to the message that carries it.`,
  reopenedElsewhere: (call: string, owner: Owner, parent: string, parentOwner: Owner) =>
    `Cannot send 'TOOL_CALL_START': tool call '${call}' is owned by '${nameOf(owner)}' but its parent message '${parent}' is owned by '${nameOf(parentOwner)}'. A tool call belongs to the message that carries it.`,
  stepOpen: (name: string, owner: Owner) =>
    `Step "${name}" is already active for 'STEP_STARTED'${owner === undefined ? "" : ` in subagent '${owner}'`}`,
  stepOfOther: (name: string, owner: Owner, other: Owner) =>
    `Cannot send 'STEP_FINISHED' for step "${name}" attributed to ${whoIs(owner)}: that step is open under ${whoIs(other)}. A step must be finished by whoever started it.`,
  stepUnknown: (name: string) =>
    `Cannot send 'STEP_FINISHED' for step "${name}" that was not started`,
  stillOpen: (what: string, names: readonly string[]) =>
    `Cannot send 'RUN_FINISHED' while ${what} are still active: ${names.join(", ")}`,
  openStep: (name: string, owner: Owner) =>
    owner === undefined ? name : `${name} (subagent '${owner}')`,
  without: (type: string, field: string) => `Cannot send '${type}' without a '${field}'.`,
  subagentActive: (id: string) =>
    `Cannot send 'SUBAGENT_STARTED': subagent '${id}' is already active. Finish it with 'SUBAGENT_FINISHED' first.`,
  subagentOver: (id: string) =>
    `Cannot send 'SUBAGENT_STARTED': subagent '${id}' has already finished in this run. Subagent IDs are per-invocation and cannot be reused.`,
  subagentParent: (id: string) =>
    `Cannot send 'SUBAGENT_STARTED': parentSubagentRunId '${id}' has not been started in this run.`,
  subagentUnknown: (type: string, id: string) =>
    `Cannot send '${type}': no active subagent found with ID '${id}'. A 'SUBAGENT_STARTED' event must be sent first.`,
  chunkOwner: (what: string, id: string, tag: string, owner: Owner) =>
    `Cannot continue ${what} '${id}': chunk subagentRunId '${tag}' does not match the open stream's subagent '${nameOf(owner)}'.`,
  chunkField: (what: string, id: string, field: string, value: string, known: string | undefined) =>
    `Cannot continue ${what} '${id}': chunk ${field} '${value}' does not match the open stream's ${field} ${known === undefined ? "(absent)" : `'${known}'`}.`,
  chunkAmbiguous: (type: string, id: string, lanes: number, what: string) =>
    `Ambiguous ${type}: it carries neither a ${id} nor a subagentRunId, but ${lanes} lanes have an open ${what}. Attribute the chunk to the subagent it belongs to.`,
  chunkFirst: (type: string, field: string) => `First ${type} must have a ${field}`,
  notObject: () => "Invalid event: the frame is not a JSON object.",
  noType: () => "Invalid event: the frame carries no event type.",
};

function nameOf(owner: Owner): string {
  return owner ?? "(the parent agent)";
}

function whoIs(owner: Owner): string {
  return owner === undefined ? "the parent agent" : `subagent '${owner}'`;
}
