import {
  canonical,
  findActivation,
  type Command,
  type CommandBody,
  type Json,
  type Rejection,
  type RunInput,
  type SessionState,
} from "@holdfast/protocol";
import type { AgUiInput } from "@holdfast/protocol/ag-ui";
import type { Plan, PlannedCommand } from "../../engine/index.ts";
import { advertisedIn } from "./advertised.ts";
import { answersIn } from "./answers.ts";
import { decisionsIn } from "./decisions.ts";
import { newMessageIn } from "./new-message.ts";
import { callsPending, isCovered, pendingCalls, openInterrupts } from "./pending.ts";
import { nothingToRun } from "./nothing-to-run.ts";

/** What a plan needs beside input and state. */
export interface Planning {
  /** Unix milliseconds. */
  readonly now: number;
  /** SHA-256, hex, of the UTF-8 text. */
  readonly digest: (text: string) => string;
  /** A body as a command with an id of its own, where it can be read and its sender may say it. */
  readonly admit: (body: CommandBody) => Admitted;
  /** The poster may speak to the agent: what it says beside answers and decisions is passed on. */
  readonly maySend: boolean;
}

export type Admitted = { readonly command: Command } | { readonly refused: Rejection };

/**
 * What a posted input asks of a session, in order: tools, answers, decisions, one message, and last the run that its id
 * is to stand for. Or why nothing of it is done: the id was used for something else (`key_reused`), resume entries that
 * do not fit what is open, interrupts that would be passed over (`calls_pending`), or nothing anybody could work on.
 *
 * What the client says of the past grants nothing (SPEC 12.2): what the session knows is left out, and so is what is
 * not the client's to say. Pure.
 */
export function planPost(input: AgUiInput, state: SessionState, planning: Planning): Plan {
  const digest = planning.digest(canonical(asked(input)));
  const request = (of: RequestOf, said?: RunInput): CommandBody => ({
    type: "run.request",
    requestId: input.runId,
    digest,
    of,
    ...(said && { input: said }),
  });
  const known = findActivation(state, input.runId);
  // Whether it is the same again or another under a used id, the request itself says, to whoever may read.
  if (known) return { steps: [{ command: { id: digest, ...request({ runId: known.runId }) } }] };

  const decisions = decisionsIn(input, state, planning.now);
  if ("refused" in decisions) return decisions;
  const { answers, late } = answersIn(input, state);
  const settling = [...answers, ...decisions.commands];
  const message = newMessageIn(input, state);
  const skipped = message && refuseSkipped(state, settling);
  if (skipped) return { refused: skipped };
  // Whoever lost learns who won, and starts nothing.
  if (late.length > 0 && !message && settling.length === 0) return admitAll(late, planning);
  const of = requestOf(state, message, settling);
  if ("refused" in of) return of;
  const bodies = [
    ...advertisedIn(input, state),
    ...settling,
    ...(message ? [message] : []),
    request(of, planning.maySend ? saidIn(input) : undefined),
  ];
  return admitAll(bodies, planning, late);
}

type RequestOf = Extract<CommandBody, { type: "run.request" }>["of"];

/** What the same request says again; which version its sender speaks is no part of it. */
function asked({ protocolVersion: _, ...rest }: AgUiInput): unknown {
  return rest;
}

/** What is for the agent alone, as it came. */
function saidIn(input: AgUiInput): RunInput {
  const { state, context, forwardedProps, parentRunId, messages } = input;
  const instructions = messages.filter(({ role }) => role === "system" || role === "developer");
  return {
    ...(state !== undefined && { state }),
    context: context.map(({ description, value }) => ({
      description,
      value,
    })),
    ...(forwardedProps !== undefined && { forwardedProps }),
    ...(parentRunId !== undefined && { parentRunId }),
    ...(instructions.length > 0 && { instructions: instructions as unknown as Json[] }),
  };
}

/** Whose activation is asked for: of what was said or settled, else the one under way or to come. */
function requestOf(
  state: SessionState,
  message: Extract<CommandBody, { type: "message.send" }> | undefined,
  settling: readonly { readonly callId: string }[],
): RequestOf | { readonly refused: Rejection } {
  if (message) return { messageId: message.messageId };
  const [first] = settling;
  if (first) return { callId: first.callId };
  const live = [...state.index.live].at(-1);
  const run = live === undefined ? undefined : state.runs.get(live);
  if (!run) return { refused: nothingToRun(state) };
  // Where nothing but interrupts is open, whoever lost them is told of them again.
  const isRest = pendingCalls(state, run.id).length > openInterrupts(state, run.id).length;
  if (run.status === "suspended" && isRest) return { refused: callsPending(state, [run]) };
  return { runId: run.id };
}

/** A message does not pass over an interrupt that nobody spoke of, whatever becomes of other calls by policy. */
function refuseSkipped(
  state: SessionState,
  settling: readonly { readonly callId: string }[],
): Rejection | undefined {
  if (state.session.policy.whilePending === "queue") return undefined;
  const skipped = [...state.index.live].flatMap((id) => {
    const run = state.runs.get(id);
    return run?.status === "suspended" && !isCovered(state, id, settling) ? [run] : [];
  });
  return skipped.length > 0 ? callsPending(state, skipped) : undefined;
}

/** All of them, or the first that its sender may not say; of `late` ones those that may be said. */
function admitAll(
  bodies: readonly CommandBody[],
  { admit }: Planning,
  late: readonly CommandBody[] = [],
): Plan {
  const steps: PlannedCommand[] = [];
  for (const body of late) {
    const admitted = admit(body);
    if ("command" in admitted) steps.push({ command: admitted.command, late: true });
  }
  for (const body of bodies) {
    const admitted = admit(body);
    if ("refused" in admitted) return admitted;
    steps.push(admitted);
  }
  return { steps };
}
