import type { AgentItem, Run, Step } from "@holdfast/protocol";
import type { Desk } from "../support/desk.ts";
import { PRODUCERS, type Moves } from "./world.ts";

const STEPS = ["a", "b"];

/** What an attempt's processes do with the steps of a run, the current attempt's and one before it. */
export function stepMoves(desk: Desk, run: Run, { main, all }: Moves): void {
  for (const stepId of STEPS) {
    const step = run.steps?.find(({ id }) => id === stepId);
    const pair = (trigger: string) => `step ${step?.status ?? "none"} / ${trigger}`;
    for (const producer of PRODUCERS) {
      const agent = () => desk.agent(run.id, run.attempt, producer);
      const start = { pair: pair("start"), act: () => agent().startStep(stepId) };
      const end = { pair: pair("end"), act: () => agent().endStep(stepId) };
      all.push(start, end);
      if (step?.status !== "open") main.push(start, start);
    }
    for (const items of writings(desk, run, step)) {
      const append = (age: number) => () =>
        desk
          .agent(run.id, run.attempt)
          .step(stepId, (step?.attempt ?? 1) - age)
          .append(...items);
      all.push({ pair: pair("append"), act: append(0) });
      if ((step?.attempt ?? 0) > 1) all.push({ pair: pair("append:older"), act: append(1) });
      if (step?.status === "open") main.push({ pair: pair("append"), act: append(0) });
    }
  }
}

/** What a step says: a round with a call of its own, an answer to a call there is, or words. */
function writings(desk: Desk, run: Run, step: Step | undefined): AgentItem[][] {
  const calls = [...desk.state.calls.values()].filter((call) => call.runId === run.id).slice(-4);
  const toolCallId = `s:${calls.length % 2}`;
  const messageId = `st${desk.state.items.size}.${step?.id ?? ""}.${run.id}`;
  const answers = calls.map(({ id }): AgentItem => ({
    type: "call.answer",
    callId: id,
    outcome: "ok",
    answer: { type: "json", value: desk.now() % 2 },
  }));
  return [
    [{ type: "round.open" }],
    [{ type: "round.close" }],
    [{ type: "round.withdraw" }],
    [
      { type: "TOOL_CALL_START", toolCallId, toolCallName: desk.now() % 2 ? "page" : "job" },
      { type: "TOOL_CALL_ARGS", toolCallId, delta: `{"a":${desk.now() % 3}}` },
      { type: "TOOL_CALL_END", toolCallId },
    ],
    [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }],
    ...answers.map((answer) => [answer]),
  ];
}
