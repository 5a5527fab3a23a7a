import type { AgentItem, CallAsk } from "../../command.ts";
import { AG_UI, INTERRUPT_TOOL } from "../interrupt.ts";
import type { AgUiEventOf } from "../vocabulary.ts";
import type { CallIngest } from "./calls.ts";
import { isPlainId, type IngestIds } from "./ids.ts";
import { withOwn } from "./own.ts";

type Outcome = NonNullable<AgUiEventOf<"RUN_FINISHED">["outcome"]>;
type Interrupt = Extract<Outcome, { type: "interrupt" }>["interrupts"][number];

/**
 * What an interrupt asks of people. One that names a call which this run made and left is that call's approval, and so is
 * one of a call that was approved before, which is asked for once more; any other is a call of {@link INTERRUPT_TOOL},
 * which an application answers.
 */
export function interruptItems(
  interrupts: readonly Interrupt[],
  { calls, isApproved }: Pick<CallIngest, "calls" | "isApproved">,
  ids: IngestIds,
): AgentItem[] {
  const asked = new Set<string>();
  return interrupts.flatMap((interrupt): AgentItem[] => {
    const { toolCallId: callId } = interrupt;
    const call = callId === undefined ? undefined : calls.get(callId);
    const isLeft = call?.status === "ended" && !call.answered && !call.restated;
    const again = callId !== undefined && isApproved(callId);
    if (callId === undefined || !(isLeft || again) || asked.has(callId)) {
      return interruptCall(interrupt, ids.interrupt(interrupt.id));
    }
    asked.add(callId);
    return [{ ...approvalOf(interrupt, ids.call(callId)), ...(again && { again }) }];
  });
}

function approvalOf(interrupt: Interrupt, callId: string): CallAsk {
  const { id, message, reason } = interrupt;
  const expiresAt = timeOf(interrupt);
  return {
    type: "call.ask",
    callId,
    ...(isPlainId(id) && { approvalId: id }),
    reason: message ?? reason,
    ...(expiresAt !== undefined && { expiresAt }),
    metadata: { [AG_UI]: { interrupt } },
  };
}

function interruptCall(interrupt: Interrupt, toolCallId: string): AgentItem[] {
  const { id: _, expiresAt: __, subagentRunId, ...said } = interrupt;
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

/** When it expires, Unix milliseconds; what is no time never does. */
function timeOf({ expiresAt }: Interrupt): number | undefined {
  const time = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt);
  return Number.isNaN(time) ? undefined : time;
}
