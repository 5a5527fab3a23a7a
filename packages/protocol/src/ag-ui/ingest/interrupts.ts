import type { AgentItem, CallAsk } from "../../command.ts";
import { AG_UI, INTERRUPT_TOOL } from "../interrupt.ts";
import type { AgUiEventOf } from "../vocabulary.ts";
import type { CallIngest } from "./calls.ts";
import { withOwn } from "./own.ts";

type Outcome = NonNullable<AgUiEventOf<"RUN_FINISHED">["outcome"]>;
type Interrupt = Extract<Outcome, { type: "interrupt" }>["interrupts"][number];

/** The longest id that the session takes, in characters. */
const MAX_ID = 256;

/**
 * What an interrupt asks of people. One that names a call which this run made and left is that call's approval, and so is
 * one of a call that was approved before, which is asked for once more; any other is a call of {@link INTERRUPT_TOOL},
 * which an application answers.
 */
export function interruptItems(
  interrupts: readonly Interrupt[],
  { calls, isApproved }: Pick<CallIngest, "calls" | "isApproved">,
): AgentItem[] {
  const asked = new Set<string>();
  return interrupts.flatMap((interrupt): AgentItem[] => {
    const { toolCallId: callId } = interrupt;
    const call = callId === undefined ? undefined : calls.get(callId);
    const isLeft = call?.status === "ended" && !call.answered && !call.restated;
    const again = callId !== undefined && isApproved(callId);
    if (callId === undefined || !(isLeft || again) || asked.has(callId))
      return interruptCall(interrupt);
    asked.add(callId);
    return [{ ...approvalOf(interrupt, callId), ...(again && { again }) }];
  });
}

function approvalOf(interrupt: Interrupt, callId: string): CallAsk {
  const { id, message, reason } = interrupt;
  const expiresAt = timeOf(interrupt);
  return {
    type: "call.ask",
    callId,
    ...(id !== "" && id.length <= MAX_ID && { approvalId: id }),
    reason: message ?? reason,
    ...(expiresAt !== undefined && { expiresAt }),
    metadata: { [AG_UI]: { interrupt } },
  };
}

function interruptCall(interrupt: Interrupt): AgentItem[] {
  const { id: _, expiresAt: __, subagentRunId, ...said } = interrupt;
  const toolCallId = callIdOf(interrupt);
  const deadlineAt = timeOf(interrupt);
  const holdfast = { executor: "client", ...(deadlineAt !== undefined && { deadlineAt }) };
  return [
    {
      type: "TOOL_CALL_START",
      toolCallId,
      toolCallName: INTERRUPT_TOOL,
      ...(subagentRunId !== undefined && { subagentRunId }),
      ...withOwn({ holdfast }, { interrupt }),
    },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(said) },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}

/** An id of its own: an agent may give an interrupt the id of the call that it is about. */
function callIdOf({ id }: Interrupt): string {
  return `interrupt_${id}`.slice(0, MAX_ID);
}

/** When it expires, Unix milliseconds; what is no time never does. */
function timeOf({ expiresAt }: Interrupt): number | undefined {
  const time = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt);
  return Number.isNaN(time) ? undefined : time;
}
