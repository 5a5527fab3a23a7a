import type { AgUiViolation, AgUiWarning } from "./rules.ts";
import { violates } from "./rules.ts";
import type { Owner, VerifyState } from "./state.ts";
import { TEXTS } from "./texts.ts";
import { isFrontend } from "./verify-call.ts";
import { history, untagged } from "./verify-history.ts";
import { neglected, owedTo } from "./verify-input.ts";
import type { AgUiEventOf } from "./vocabulary.ts";

/** V5: a run begins with nothing open, and nothing owned but by the history it names. */
export function runStarted(
  state: VerifyState,
  { threadId, runId, input }: AgUiEventOf<"RUN_STARTED">,
  warnings: AgUiWarning[],
): AgUiViolation | undefined {
  const messages = Array.isArray(input?.messages) ? input.messages : [];
  const bad = untagged(messages);
  if (bad) return bad;
  const owed = state.run?.threadId === threadId ? owedTo(state) : undefined;
  reset(state);
  state.phase = "running";
  state.runs += 1;
  state.run = { threadId, runId };
  if (state.runIds.has(runId)) {
    const message = `The run id '${runId}' was that of an earlier run of this stream.`;
    warnings.push({ rule: "D2", message, id: runId });
  }
  state.runIds.add(runId);
  const { options } = state;
  if (options.frontendTools === undefined) {
    state.frontend = input?.tools && new Set(input.tools.map(({ name }) => name));
  }
  history(state, messages);
  if (input) neglected(input, owed, warnings);
  if (options.threadId === undefined || options.threadId === threadId) return undefined;
  return violates(
    "D2",
    `Cannot send 'RUN_STARTED' with threadId '${threadId}': the input's is '${options.threadId}'.`,
  );
}

export function runFinished(
  state: VerifyState,
  event: AgUiEventOf<"RUN_FINISHED">,
): AgUiViolation | undefined {
  const open = stillOpen(state);
  if (open) return open;
  state.phase = "finished";
  const { outcome } = event;
  state.interrupts = new Set(
    outcome?.type === "interrupt" ? outcome.interrupts.map(({ id }) => id) : [],
  );
  return identity(state, event) ?? duplicates(event) ?? unanswered(state, event);
}

/** V10, in the order in which it is said. */
function stillOpen({ open }: VerifyState): AgUiViolation | undefined {
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ["steps", stepsOf(open.steps)],
    ["text messages", [...open.texts]],
    ["reasoning messages", [...open.reasonings]],
    ["reasoning spans", [...open.spans]],
    ["tool calls", [...open.calls]],
    ["subagents", [...open.subagents]],
  ];
  const found = lists.find(([, names]) => names.length > 0);
  return found && violates("V10", TEXTS.stillOpen(...found));
}

function stepsOf(steps: ReadonlyMap<Owner, ReadonlySet<string>>): string[] {
  return [...steps].flatMap(([owner, names]) => {
    return [...names].map((name) => TEXTS.openStep(name, owner));
  });
}

/** D2. A run that nobody started has no identity to agree with. */
function identity(
  { run }: VerifyState,
  { threadId, runId }: AgUiEventOf<"RUN_FINISHED">,
): AgUiViolation | undefined {
  if (!run || (run.threadId === threadId && run.runId === runId)) return undefined;
  const [what, said, is] =
    run.runId === runId ? ["threadId", threadId, run.threadId] : ["runId", runId, run.runId];
  return violates("D2", `Cannot send 'RUN_FINISHED' with ${what} '${said}': the run's is '${is}'.`);
}

/** D3. */
function duplicates({ outcome }: AgUiEventOf<"RUN_FINISHED">): AgUiViolation | undefined {
  if (outcome?.type !== "interrupt") return undefined;
  const ids = new Set<string>();
  for (const { id } of outcome.interrupts) {
    if (ids.has(id)) {
      return violates("D3", `Cannot send 'RUN_FINISHED' with two interrupts of the id '${id}'.`);
    }
    ids.add(id);
  }
  return undefined;
}

/** D5 and D8: what the outcome says of the calls that wait. */
function unanswered(
  state: VerifyState,
  { outcome }: AgUiEventOf<"RUN_FINISHED">,
): AgUiViolation | undefined {
  if (outcome?.type === "interrupt") {
    const id = [...state.calls].find(([, call]) => {
      return waits(state, call) && isFrontend(state, call.name);
    })?.[0];
    if (id === undefined) return undefined;
    return violates(
      "D8",
      `Cannot send 'RUN_FINISHED' with an interrupt while the frontend tool call '${id}' waits for its answer.`,
    );
  }
  const named = outcome?.type === "success" ? (outcome.pendingToolCallIds ?? []) : [];
  return named.length > 0 ? misnamed(state, named) : undefined;
}

/**
 * D5. Calls that only a snapshot of this run names may be among them, since a stream that was joined midway need not
 * show their start. Where the application's tools are known, calls of other tools need not be named: nobody outside
 * can answer them.
 */
function misnamed(state: VerifyState, named: readonly string[]): AgUiViolation | undefined {
  const may: string[] = [];
  const left = new Set(named);
  const say = (words: string) => violates("D5", `Cannot send 'RUN_FINISHED': ${words}`);
  for (const [id, call] of state.calls) {
    const isNamed = left.delete(id);
    const must = waits(state, call) && (!state.frontend || isFrontend(state, call.name));
    if (must && !isNamed) {
      return say(`pendingToolCallIds leave out '${id}', which waits for its answer.`);
    }
    if (!isNamed) continue;
    const began = call.started === state.runs;
    const open = call.answered === "no" && call.restated === state.runs;
    if (call.answered === "result" || (!began && !open)) {
      return say(`pendingToolCallIds name '${id}', which is no unanswered call of this run.`);
    }
    may.push(id);
  }
  const [unknown] = left;
  if (unknown !== undefined) {
    return say(`pendingToolCallIds name '${unknown}', which is no call of this run.`);
  }
  return may.length === named.length && may.every((id, at) => id === named[at])
    ? undefined
    : say("pendingToolCallIds are not in the order in which the calls were made, each once.");
}

function waits(
  { runs }: VerifyState,
  call: { readonly started: number; readonly answered: string },
): boolean {
  return call.started === runs && call.answered === "no";
}

function reset({ open, ended, owners, early }: VerifyState): void {
  const all = [...Object.values(open), ended, ...Object.values(owners), early];
  for (const known of all) known.clear();
}
