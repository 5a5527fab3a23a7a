import { worker, type Run } from "@holdfast/sdk/agent";
import { agUi, type AgUiInput } from "@holdfast/sdk/codec/ag-ui";
import { expect, test } from "vitest";
import { AGENT, ended, openLab, type Lab } from "../../support/lab.ts";

type Say = (input: AgUiInput) => object[];

/** A worker whose agent speaks AG-UI: its events are piped as they are. */
async function startAgent(lab: Lab, say: Say) {
  const inputs: AgUiInput[] = [];
  const refused: unknown[] = [];
  const started = worker<unknown, AgUiInput>({
    url: lab.url,
    token: await lab.token(),
    agent: AGENT,
    codec: agUi,
    backoff: { baseMs: 10, maxMs: 100 },
    onRefused: (item) => void refused.push(item),
    onError: () => {},
    async handler(run: Run<unknown, AgUiInput>) {
      const input = await run.history();
      inputs.push(input);
      await run.pipe(eventsOf(input, say(input)));
    },
  });
  return Object.assign(started, { inputs, refused });
}

async function* eventsOf({ threadId, runId }: AgUiInput, said: object[]): AsyncGenerator<object> {
  yield { type: "RUN_STARTED", threadId, runId };
  for (const event of said) yield { threadId, runId, ...event };
}

const FINISHED = { type: "RUN_FINISHED" };

function call(toolCallId: string, toolCallName: string): object[] {
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: "{}" },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}

test("12.5 a worker pipes AG-UI events, and has the input of its next run from the history", async () => {
  await using lab = await openLab();
  const chunks = [{ type: "TEXT_MESSAGE_CHUNK", messageId: "t", delta: "Hello." }];
  await using agent = await startAgent(lab, () => [
    ...chunks,
    ...call("c1", "search"),
    { type: "TOOL_CALL_RESULT", messageId: "r1", toolCallId: "c1", content: "found" },
    FINISHED,
  ]);
  const session = await lab.session();
  const first = await lab.until(session, ended(await lab.send(session, "Hi")));
  expect([first.run.outcome, first.text]).toEqual(["complete", "Hello."]);
  expect(first.state.calls.get("c1")).toMatchObject({ outcome: "ok", executor: "agent" });
  await lab.until(session, ended(await lab.send(session, "Again")));
  expect(agent.inputs[1]?.messages.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "assistant",
    "tool",
    "user",
  ]);
  expect(agent.refused).toEqual([]);
});

test("12.5 a frontend tool's answer crosses to the next run, and so does an approval", async () => {
  await using lab = await openLab();
  const interrupts = [{ id: "i1", reason: "tool_call", toolCallId: "c2" }];
  await using agent = await startAgent(lab, ({ messages, resume }) => {
    if (resume)
      return [
        { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "c2", content: "paid" },
        FINISHED,
      ];
    if (messages.some(({ role }) => role === "tool"))
      return [...call("c2", "pay"), { ...FINISHED, outcome: { type: "interrupt", interrupts } }];
    return [...call("c1", "page"), FINISHED];
  });
  const session = await lab.session();
  await lab.command(session, { type: "tools.advertise", tools: [{ name: "page" }] });
  const runId = await lab.send(session, "Hi");
  await lab.until(session, (state) => state.runs.get(runId)?.status === "suspended");
  const answer = { type: "text", text: "seen" } as const;
  await lab.command(session, { type: "call.answer", callId: "c1", outcome: "ok", answer });
  await lab.until(session, (state) => state.calls.get("c2")?.status === "gated");
  await lab.command(session, {
    type: "call.decide",
    callId: "c2",
    approvalId: "i1",
    approved: true,
  });
  const { run, state } = await lab.until(session, ended(runId));
  expect(run.outcome).toBe("complete");
  expect(state.calls.get("c2")).toMatchObject({
    outcome: "ok",
    answer: { answer: { text: "paid" } },
  });
  expect(agent.inputs.at(-1)?.resume).toEqual([
    { interruptId: "i1", status: "resolved", payload: { approved: true } },
  ]);
});

test("12.5.4 a worker pipes what no session takes as an id, or as a hint", async () => {
  await using lab = await openLab();
  const by = { subagentRunId: "" };
  await using agent = await startAgent(lab, () => [
    { type: "SUBAGENT_STARTED", ...by, name: "helper" },
    { type: "TEXT_MESSAGE_START", messageId: "", ...by, name: "n", metadata: { holdfast: 7 } },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "", delta: "Hello.", ...by, code: 5 },
    { type: "TEXT_MESSAGE_END", messageId: "", ...by },
    { type: "SUBAGENT_FINISHED", ...by },
    FINISHED,
  ]);
  const session = await lab.session();
  const { run, text } = await lab.until(session, ended(await lab.send(session, "Hi")));
  expect([run.outcome, text, agent.refused]).toEqual(["complete", "Hello.", []]);
});

test.each([
  ["breaks off", [], "agent_lost"],
  [
    "breaks the protocol",
    [{ type: "TOOL_CALL_END", toolCallId: "x" }, FINISHED],
    "protocol_violation",
  ],
  ["fails", [{ type: "RUN_ERROR", code: "quota", message: "No." }], "quota"],
  [
    "answers a frontend tool",
    [
      ...call("c", "page"),
      { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "c", content: "x" },
      FINISHED,
    ],
    "protocol_violation",
  ],
])("12.5 a piped stream that %s fails its run", async (_, said, code) => {
  await using lab = await openLab();
  await using _agent = await startAgent(lab, () => said);
  const session = await lab.session();
  await lab.command(session, { type: "tools.advertise", tools: [{ name: "page" }] });
  const { run } = await lab.until(session, ended(await lab.send(session, "Hi")));
  expect(run).toMatchObject({ outcome: "error", error: { code } });
});
