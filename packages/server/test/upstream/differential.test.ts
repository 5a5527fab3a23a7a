import { HttpAgent, type Message } from "@ag-ui/client";
import type { AgUiInput } from "@holdfast/protocol/ag-ui";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { follow } from "../../../protocol/test/ag-ui/client.ts";
import { openStage, PAGE } from "../faces/ag-ui/stage.ts";
import { endpoint, type Asked } from "./endpoint.ts";
import { FRONTEND, lawfulThread, type Said } from "./lawful.ts";

const numRuns = Number(process.env["HOLDFAST_FUZZ_RUNS"] ?? 40);
const timeout = 30_000 + numRuns * 1_000;

// The client says at length what it makes of unlikely streams.
beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

const TOOLS = FRONTEND.map((name) => ({ ...PAGE, name }));

/** What a client is left with after a run, and what its agent was asked with for that. */
interface Left {
  readonly messages: readonly Message[];
  readonly state: unknown;
  readonly interrupts: readonly unknown[];
  readonly input: Omit<AgUiInput, "runId">;
}

/** @param more what the agent says at the end of each run, of what it was asked with and all it said */
async function twoClients(
  more: (input: AgUiInput, said: readonly object[]) => Promise<readonly object[]>,
  look: (through: Left, direct: Left) => void,
): Promise<void> {
  let script: (asked: Asked) => Promise<void> = () => Promise.resolve();
  await using agent = await endpoint((asked) => script(asked));
  await using stage = await openStage({ agents: { demo: { url: agent.url } } });
  let threads = 0;
  await fc.assert(
    fc.asyncProperty(lawfulThread, async (runs) => {
      const threadId = `t${(threads += 1)}`;
      const through = stage.client({ thread: threadId });
      const direct = new HttpAgent({ url: agent.url, threadId });
      let pending: readonly string[] = [];
      for (const [n, said] of runs.entries()) {
        const before = agent.asked.length;
        script = async (asked) => play(said, n, asked, await more(asked.input, said.events));
        for (const client of [through, direct]) await goOn(client, n, pending);
        const [ours, theirs, ...others] = agent.asked.slice(before).map(({ input }) => input);
        if (!ours || !theirs) throw new Error("The agent was not asked.");
        expect(others).toEqual([]);
        look(leftOf(through, ours), leftOf(direct, theirs));
        ({ pending } = said);
      }
    }),
    { numRuns },
  );
}

/** Says a run to whoever asks. */
function play({ events, pending, end }: Said, n: number, asked: Asked, more: readonly object[]) {
  const { threadId, runId } = asked.input;
  const ends: Record<Said["end"], object> = {
    success: {},
    named: { outcome: { type: "success", pendingToolCallIds: pending } },
    interrupt: { outcome: { type: "interrupt", interrupts: [{ id: `i${n}`, reason: "ask" }] } },
    cancelled: { outcome: { type: "cancelled" } },
    error: { type: "RUN_ERROR", message: "no", code: "quota" },
  };
  const of = end === "error" ? {} : { type: "RUN_FINISHED", threadId, runId, result: { n } };
  asked.start(...events, ...more, { ...of, ...ends[end] }).end();
}

/** Answers what waits, or says something new, and runs the agent. */
async function goOn(client: HttpAgent, n: number, pending: readonly string[]): Promise<void> {
  const resume = client.pendingInterrupts.map(({ id }) => {
    return { interruptId: id, status: "resolved" as const, payload: { n } };
  });
  for (const toolCallId of pending) answer(client, toolCallId);
  if (pending.length === 0 && resume.length === 0) {
    client.messages.push({ id: `u${n}`, role: "user", content: `Go on, ${n}.` });
  }
  await client.runAgent({
    tools: TOOLS,
    context: [{ description: "Which run", value: String(n) }],
    forwardedProps: { n, deep: [null, { kept: true }] },
    ...(resume.length > 0 && { resume }),
  });
}

/** Puts an answer where a client's own page does: behind its call. */
function answer({ messages }: HttpAgent, toolCallId: string): void {
  const carries = (it: Message) =>
    it.role === "assistant" && it.toolCalls?.some(({ id }) => id === toolCallId) === true;
  let at = messages.findIndex(carries) + 1;
  while (messages[at]?.role === "tool") at += 1;
  messages.splice(at, 0, { id: `a-${toolCallId}`, role: "tool", toolCallId, content: "seen" });
}

/** The stock client leaves out a state that is null: an agent may want to know. */
function leftOf(client: HttpAgent, { runId: _, state, messages, ...rest }: AgUiInput): Left {
  return {
    messages: plain(client.messages),
    state: client.state as unknown,
    interrupts: client.pendingInterrupts,
    input: { ...rest, messages: [...plain(messages)], ...(state !== null && { state }) },
  };
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

it(
  "12.5 a stock client behind Holdfast ends every run with the messages, state and interrupts of one straight on the agent, and the agent is asked the same",
  { timeout },
  async () => {
    const heard = new Set<string>();
    await twoClients(
      (_, said) => {
        for (const event of said) if ("type" in event) heard.add(String(event.type));
        return Promise.resolve([]);
      },
      (through, direct) => expect(through).toEqual(direct),
    );
    if (numRuns >= 100) expect([...heard].toSorted()).toEqual(EVERYTHING);
  },
);

/** What an agent holds after a run, of what it was asked with and said. */
async function kept({ messages }: AgUiInput, said: readonly object[]): Promise<Message[]> {
  const run = { threadId: "s1", runId: "r" };
  const events = [
    { type: "RUN_STARTED", ...run },
    ...said,
    { type: "CUSTOM", name: "end", value: 1 },
    { type: "RUN_ERROR", message: "It is enough." },
  ];
  const all = await follow(events as never, { messages });
  return all.messages.filter(({ role }) => role !== "activity" && role !== "reasoning");
}

it(
  "12.5.7 so it does where the agent ends each run with a snapshot of all that it keeps",
  { timeout },
  async () => {
    await twoClients(
      async (input, said) => [{ type: "MESSAGES_SNAPSHOT", messages: await kept(input, said) }],
      (through, direct) => expect(through).toEqual(direct),
    );
  },
);

it(
  "12.5.7 and where it keeps all that under ids of its own: it is asked with those",
  { timeout },
  async () => {
    await twoClients(
      async (input, said) => {
        const messages = (await kept(input, said)).map((it) => {
          // A client that answers puts that behind the call, and a stock merge moves nothing.
          return /^(?:kept |a-)/.test(it.id) ? it : { ...it, id: `kept ${it.id}` };
        });
        return [{ type: "MESSAGES_SNAPSHOT", messages }];
      },
      (through, direct) => {
        // A client that watched the stream has the ids of that, and what it holds of reasoning where it came.
        const asStreamed = (messages: readonly Message[]) =>
          messages.flatMap((it) => {
            const isAside = it.role === "reasoning" || it.role === "activity";
            return isAside ? [] : [{ ...it, id: it.id.replace("kept ", "") }];
          });
        const ofAgent = ({ messages, ...rest }: Left["input"]) => ({
          ...rest,
          messages: messages.filter(({ role }) => role !== "reasoning"),
        });
        expect(asStreamed(through.messages)).toEqual(asStreamed(direct.messages));
        expect(ofAgent(through.input)).toEqual(ofAgent(direct.input));
      },
    );
  },
);

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
