import { HttpAgent, type Message } from "@ag-ui/client";
import type { AgUiInput } from "@holdfast/protocol/ag-ui";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openStage, PAGE } from "../faces/ag-ui/stage.ts";
import { endpoint, type Asked } from "./endpoint.ts";
import { FRONTEND, lawfulThread, type Said } from "./lawful.ts";

const numRuns = Number(process.env["HOLDFAST_FUZZ_RUNS"] ?? 40);
const timeout = 30_000 + numRuns * 1_000;

// The client says at length what it makes of unlikely streams.
beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

const TOOLS = FRONTEND.map((name) => ({ ...PAGE, name }));

/** Says a run to whoever asks. */
function play({ events, pending, end }: Said, n: number, asked: Asked): void {
  const { threadId, runId } = asked.input;
  const ends: Record<Said["end"], object> = {
    success: {},
    named: { outcome: { type: "success", pendingToolCallIds: pending } },
    interrupt: { outcome: { type: "interrupt", interrupts: [{ id: `i${n}`, reason: "ask" }] } },
    cancelled: { outcome: { type: "cancelled" } },
    error: { type: "RUN_ERROR", message: "no", code: "quota" },
  };
  const of = end === "error" ? {} : { type: "RUN_FINISHED", threadId, runId, result: { n } };
  asked.start(...events, { ...of, ...ends[end] }).end();
}

it(
  "12.5 a stock client behind Holdfast ends every run with the messages, state and interrupts of one straight on the agent, and the agent is asked the same",
  { timeout },
  async () => {
    let runs: readonly Said[] = [];
    let current = 0;
    const heard = new Set<string>();
    await using agent = await endpoint((asked) => {
      const said = runs[current];
      if (said) play(said, current, asked);
    });
    await using stage = await openStage({ agents: { demo: { url: agent.url } } });
    let threads = 0;
    await fc.assert(
      fc.asyncProperty(lawfulThread, async (thread) => {
        runs = thread;
        const threadId = `t${(threads += 1)}`;
        const through = stage.client({ thread: threadId });
        const direct = new HttpAgent({ url: agent.url, threadId });
        let pending: readonly string[] = [];
        for (const [n, said] of runs.entries()) {
          for (const { type } of said.events) heard.add(type);
          current = n;
          const before = agent.asked.length;
          for (const client of [through, direct]) await goOn(client, n, pending);
          expect(plain(through.messages)).toEqual(plain(direct.messages));
          expect(through.state).toEqual(direct.state);
          expect(through.pendingInterrupts).toEqual(direct.pendingInterrupts);
          const [ours, theirs, ...more] = agent.asked.slice(before).map(({ input }) => input);
          expect(more).toEqual([]);
          expect(ours && inputOf(ours)).toEqual(theirs && inputOf(theirs));
          ({ pending } = said);
        }
      }),
      { numRuns },
    );
    if (numRuns >= 100) expect([...heard].toSorted()).toEqual(EVERYTHING);
  },
);

/** Answers what waits, or says something new, and runs the agent. */
async function goOn(client: HttpAgent, n: number, pending: readonly string[]): Promise<void> {
  const resume = client.pendingInterrupts.map(({ id }) => {
    return { interruptId: id, status: "resolved" as const, payload: { n } };
  });
  for (const toolCallId of pending) answer(client, toolCallId);
  if (pending.length === 0 && resume.length === 0) {
    client.messages.push({ id: `u${n}`, role: "user", content: "Go on." });
  }
  await client.runAgent({ tools: TOOLS, ...(resume.length > 0 && { resume }) });
}

/** Puts an answer where a client's own page does: behind its call. */
function answer({ messages }: HttpAgent, toolCallId: string): void {
  const carries = (it: Message) =>
    it.role === "assistant" && it.toolCalls?.some(({ id }) => id === toolCallId) === true;
  let at = messages.findIndex(carries) + 1;
  while (messages[at]?.role === "tool") at += 1;
  messages.splice(at, 0, { id: `a-${toolCallId}`, role: "tool", toolCallId, content: "seen" });
}

/** Messages with no text and with an empty one are one. */
function plain(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => {
    if (message.role !== "assistant" || !message.toolCalls || message.content !== "") {
      return message;
    }
    const { content: _, ...rest } = message;
    return rest;
  });
}

/** What the agent is asked with, but for the run's id. The stock client leaves out a state that is null. */
function inputOf({ runId: _, state, messages, ...rest }: AgUiInput) {
  return { ...rest, messages: plain(messages), ...(state !== null && { state }) };
}

/** What an agent may say within a run, of before 1.0 and snapshots of messages apart, and something of its own. */
const EVERYTHING = [
  "ACTIVITY_DELTA",
  "ACTIVITY_SNAPSHOT",
  "CUSTOM",
  "RAW",
  "REASONING_ENCRYPTED_VALUE",
  "REASONING_END",
  "REASONING_MESSAGE_CHUNK",
  "REASONING_MESSAGE_CONTENT",
  "REASONING_MESSAGE_END",
  "REASONING_MESSAGE_START",
  "REASONING_START",
  "STATE_DELTA",
  "STATE_SNAPSHOT",
  "STEP_FINISHED",
  "STEP_STARTED",
  "SUBAGENT_ERROR",
  "SUBAGENT_FINISHED",
  "SUBAGENT_STARTED",
  "TEXT_MESSAGE_CHUNK",
  "TEXT_MESSAGE_CONTENT",
  "TEXT_MESSAGE_END",
  "TEXT_MESSAGE_START",
  "TOOL_CALL_ARGS",
  "TOOL_CALL_CHUNK",
  "TOOL_CALL_END",
  "TOOL_CALL_RESULT",
  "TOOL_CALL_START",
  "UNHEARD_OF",
];
