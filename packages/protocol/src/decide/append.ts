import type { AgentItem, RunAppend, Verdict } from "../command.ts";
import type { Scope } from "../entry.ts";
import { answerCall } from "./answer.ts";
import {
  annotateCall,
  askForCall,
  endArguments,
  invalidateCall,
  isOfStep,
  replaceArguments,
  startCall,
} from "./append-call.ts";
import { toSessionId } from "./call.ts";
import { progressCall } from "./claim.ts";
import { OWN_IDS } from "../item.ts";
import type { Draft } from "./draft.ts";
import type { Env } from "./env.ts";
import { fence, runEnded } from "./fence.ts";
import { refuseLarge } from "./limits.ts";
import { closeRound, openRound, openRoundOf, supersedeRound } from "./round.ts";
import { refuseWithdraw } from "./withdraw.ts";
import { APPLIED, record, refuse, type Made, type Ruling } from "./ruling.ts";
import { callsOf } from "../state.ts";

type Skipped = NonNullable<Verdict["skipped"]>[number];

/**
 * Takes a batch of an attempt's items, in order. The batch is fenced as a whole; an item that is refused is skipped
 * and named in the verdict, the others stand (SPEC 6.4).
 */
export function append(draft: Draft, command: RunAppend, env: Env): Ruling {
  const fenced = fence(draft.state, command, "append", env);
  if (!("run" in fenced)) return fenced;
  const { runId, attempt, producer, seq, items, stepId, stepAttempt } = command;
  draft.note({ runId, attempt, producer, seq });
  const step =
    stepId !== undefined && stepAttempt !== undefined ? { stepId, stepAttempt } : undefined;
  const actor = step ? { ...env, step } : env;
  const scope = { runId, attempt, ...step };
  let skipped: Skipped[] | undefined;
  let ended: Made["ended"];
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    const ruling = item && appendItem(draft, actor, item, scope);
    if (ruling?.error) (skipped ??= []).push({ index, error: ruling.error });
    else if (ruling?.ended) ended = ruling.ended;
  }
  if (!skipped && !ended) return APPLIED;
  return { ...(skipped && { skipped }), ...(ended && { ended }) };
}

function appendItem(
  draft: Draft,
  env: Env,
  item: AgentItem,
  attempt: Scope & { runId: string },
): Ruling {
  const run = draft.state.runs.get(attempt.runId);
  if (!run) return APPLIED;
  if (run.status === "ended") return runEnded(run); // by an item before it in the batch
  const large = refuseLarge(item, env);
  if (large) return large;
  const round = openRoundOf(draft.state, run, attempt.stepId);
  const scope = round === undefined ? attempt : { ...attempt, round };
  switch (item.type) {
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT":
    case "TEXT_MESSAGE_END":
    case "REASONING_MESSAGE_END": {
      const open = draft.state.items.get(item.messageId);
      const isOpen = open?.kind === kindOf(item) && open.status === "open" && open.runId === run.id;
      if (!isOpen || !isOfStep(open, attempt)) {
        const why = isOpen ? "which is of another step: go on with it there" : NOT_OPEN;
        return refuse("sequence_violation", `${item.type} for message ${item.messageId}, ${why}.`);
      }
      record(draft, env, item, scope);
      return APPLIED;
    }
    case "TEXT_MESSAGE_START":
    case "REASONING_MESSAGE_START": {
      const known = draft.state.items.get(item.messageId);
      const reopens =
        known?.kind === kindOf(item) &&
        known.status === "closed" &&
        !known.erased &&
        known.runId === run.id &&
        known.round === round &&
        isOfStep(known, attempt);
      if (known ? !reopens : OWN_IDS.test(item.messageId)) {
        return refuse(
          "sequence_violation",
          `${item.type} for message ${item.messageId}, which is there already: give each message an id of its own.`,
        );
      }
      record(draft, env, item, scope);
      return APPLIED;
    }
    case "TOOL_CALL_START":
      return startCall(draft, env, run, item, scope);
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END":
      return endArguments(draft, env, run, item, scope);
    case "round.open": {
      if (round !== undefined) closeRound(draft, env, run, round, attempt);
      return openRound(draft, env, run.id, attempt, item.steers);
    }
    case "round.close":
      if (round !== undefined) closeRound(draft, env, run, round, attempt);
      return APPLIED;
    case "round.withdraw": {
      if (round === undefined) return APPLIED;
      const inRound = callsOf(draft.state, run.id).filter((call) => call.round === round);
      const refused = refuseWithdraw(run, inRound);
      if (refused) return refused;
      supersedeRound(draft, env, run, round, item.reason ?? "withdrawn", attempt);
      return APPLIED;
    }
    case "REASONING_ENCRYPTED_VALUE": {
      const entityId =
        item.subtype === "tool-call"
          ? toSessionId(draft.state, run.id, item.entityId)
          : item.entityId;
      if (isErased(draft, item.subtype, entityId)) return alreadyErased(entityId);
      record(draft, env, { ...item, entityId }, scope);
      return APPLIED;
    }
    case "run.annotate":
      record(draft, env, { type: "run.annotated", metadata: item.metadata }, attempt);
      return APPLIED;
    case "call.annotate":
      return annotateCall(draft, env, item, scope);
    case "call.replace_arguments":
      return replaceArguments(draft, env, item, scope);
    case "call.invalidate":
      return invalidateCall(draft, env, item, scope);
    case "call.ask":
      return askForCall(draft, env, item, scope);
    case "call.progress":
      return progressCall(draft, item, env);
    case "call.answer":
      return answerCall(draft, item, env);
    default:
      record(draft, env, item, scope);
      return APPLIED;
  }
}

/** Whether what a value belongs to was erased: nothing is added to it any more. */
function isErased({ state }: Draft, subtype: "tool-call" | "message", id: string): boolean {
  if (subtype === "tool-call") return state.calls.get(id)?.erased !== undefined;
  const item = state.items.get(id);
  return (item?.kind === "text" || item?.kind === "reasoning") && item.erased !== undefined;
}

function alreadyErased(id: string): Ruling {
  return refuse("sequence_violation", `What ${id} said was erased: nothing is added to it.`);
}
const NOT_OPEN = "which is not open: start it first";

function kindOf(item: { readonly type: string }): "text" | "reasoning" {
  return item.type.startsWith("TEXT") ? "text" : "reasoning";
}
