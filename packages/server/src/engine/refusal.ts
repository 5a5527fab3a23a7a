import {
  toSessionId,
  type Actor,
  type AgentItem,
  type AuditWinner,
  type Call,
  type CallAnswerCommand,
  type Command,
  type CommandBody,
  type Env,
  type ErrorCode,
  type Offset,
  type SessionState,
  type Verdict,
} from "@holdfast/protocol";

/** One refusal with what the state said of it at that moment. What is costly to make of it, the audit makes. */
export interface Refusal {
  /** Unix milliseconds. */
  readonly at: number;
  readonly actor: Actor;
  readonly command: Command;
  readonly code: ErrorCode;
  readonly offset?: Offset;
  /** The item of an append that was refused, and where in it. */
  readonly item?: { readonly index: number; readonly body: AgentItem };
  /** The session's id for the call. */
  readonly callId?: string;
  readonly runId?: string;
  readonly winner?: AuditWinner;
  /** The answer that came when its call was settled. */
  readonly late?: CallAnswerCommand;
  /** What the call says is erased, so that nothing of the answer is kept. */
  readonly isErased?: true;
}

/** Every refusal that a verdict tells of, in order: the command's, or those of an append's items. */
export function refusalsOf(
  state: SessionState,
  command: Command,
  env: Env,
  { error, skipped = [] }: Verdict,
): Refusal[] {
  const base = { at: env.now, actor: env.actor, command, offset: state.head };
  const items = command.type === "run.append" ? command.items : [];
  if (!error) {
    return skipped.flatMap(({ index, error: { code } }) => {
      const body = items[index];
      return body
        ? [{ ...base, code, item: { index, body }, ...about(state, body, env, code) }]
        : [];
    });
  }
  const { code } = error;
  const whole = { ...base, code, ...about(state, command, env, code) };
  const late = items.flatMap((body, index) => {
    const said = about(state, body, env, code);
    return said.late ? [{ ...base, code, item: { index, body }, ...said }] : [];
  });
  return [whole, ...late];
}

type About = Pick<Refusal, "callId" | "runId" | "winner" | "late" | "isErased">;

/** What the state says of whatever a command or an item names. */
function about(
  state: SessionState,
  body: CommandBody | AgentItem,
  env: Env,
  code: ErrorCode,
): About {
  const mine = env.actor.attempt?.runId;
  const callId = callIn(state, body, mine);
  const call = callId === undefined ? undefined : state.calls.get(callId);
  const runId = call?.runId ?? ("runId" in body ? body.runId : mine);
  const winner = call && winnerOf(call, code);
  const late = body.type === "call.answer" && call && isLate(call, code, mine) ? body : undefined;
  return {
    ...(callId !== undefined && { callId }),
    ...(typeof runId === "string" && { runId }),
    ...(winner && { winner }),
    ...(late && { late }),
    ...(call?.erased && { isErased: true as const }),
  };
}

function callIn(
  state: SessionState,
  body: CommandBody | AgentItem,
  mine: string | undefined,
): string | undefined {
  const named = "callId" in body ? body.callId : "toolCallId" in body ? body.toolCallId : undefined;
  if (typeof named !== "string") return undefined;
  return mine === undefined ? named : toSessionId(state, mine, named);
}

/** Whether an answer was refused because its call had ended, and came from the side that executes it. */
function isLate({ status, executor, runId }: Call, code: ErrorCode, mine?: string): boolean {
  if (status !== "settled") return false;
  // A batch that was refused as a whole was not asked whose calls it answers.
  if (isOver(code)) return executor !== "client" && runId === mine;
  return code === "already_answered" || code === "call_settled";
}

/** A batch refused because its attempt or run is over: what it answers has come too late as well. */
function isOver(code: ErrorCode): boolean {
  return code === "run_ended" || code === "attempt_fenced";
}

function winnerOf(call: Call, code: ErrorCode): AuditWinner | undefined {
  const { claim, approval, answer, outcome, reason, settledBy, settledAt } = call;
  if (code === "stale_decision" && approval?.decision) {
    const { by, at } = approval.decision;
    return { by, at };
  }
  if (code === "claim_held" || code === "claim_lost") {
    return claim && { by: claim.by, at: claim.at };
  }
  const by = answer?.by ?? settledBy;
  const at = answer?.at ?? settledAt;
  if (by === undefined || at === undefined) return undefined;
  return {
    by,
    at,
    ...(outcome !== undefined && { outcome }),
    ...(reason !== undefined && { reason }),
  };
}
