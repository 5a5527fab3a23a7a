import { createHoldfastRunner, type RuntimeAgent } from "@holdfast/sdk/copilotkit";
import { expect, it } from "vitest";
import { AGENT, ended, openLab, type Lab } from "../support/lab.ts";

/** An agent that says who it is: itself, or a clone of whom. */
function namedAgent(name: string): RuntimeAgent {
  let messages: unknown[] = [];
  const agent: RuntimeAgent = {
    agentId: AGENT,
    threadId: "",
    setMessages: (given) => void (messages = given),
    setState() {},
    async runAgent(parameters, subscriber) {
      const { runId } = parameters as { readonly runId: string };
      const { threadId } = agent;
      const messageId = `${runId}:t`;
      const delta = `${name}, asked ${messages.length}.`;
      for (const event of [
        { type: "RUN_STARTED", threadId, runId },
        { type: "TEXT_MESSAGE_CHUNK", messageId, role: "assistant", delta },
        { type: "RUN_FINISHED", threadId, runId },
      ])
        await subscriber.onEvent({ event });
    },
    abortRun() {},
    clone: () => namedAgent(`a clone of ${name}`),
  };
  return agent;
}

async function runnerOf(lab: Lab) {
  return createHoldfastRunner<{ readonly type: string }>({
    url: lab.url,
    token: await lab.mint("user:ana"),
    backoff: { baseMs: 10, maxMs: 100 },
    own: { agents: { [AGENT]: namedAgent("given") }, token: await lab.token(), onError() {} },
  });
}

const said = (id: string, content: string) => ({ id, role: "user", content });

it("a request's own agent works on what it asks for, a clone of the given one on the rest", async () => {
  await using lab = await openLab();
  await using runner = await runnerOf(lab);
  const input = { runId: "r1", messages: [said("u1", "Hi")], tools: [], context: [] };
  const agent = namedAgent("made for it");
  const types: string[] = [];
  await new Promise<void>((resolve) => {
    const observed = runner.run({ threadId: "t1", agent, input });
    observed.subscribe({ next: ({ type }) => void types.push(type), complete: resolve });
  });
  expect(types.at(-1)).toBe("RUN_FINISHED");
  const { text, state } = await lab.until("t1", ended(await lab.send("t1", "And?")));
  expect(text).toBe("a clone of given, asked 3.");
  const texts = [...state.items.values()].flatMap((it) => (it.kind === "text" ? it.text : []));
  expect(texts).toEqual(["made for it, asked 1.", "a clone of given, asked 3."]);
});

it("an agent that throws fails its run, and the page hears why", async () => {
  await using lab = await openLab();
  await using runner = await runnerOf(lab);
  const input = { runId: "r1", messages: [said("u1", "Hi")], tools: [], context: [] };
  const agent = { ...namedAgent("broken"), runAgent: () => Promise.reject(new Error("No model.")) };
  const events: object[] = [];
  await new Promise<void>((resolve) => {
    const observed = runner.run({ threadId: "t1", agent, input });
    observed.subscribe({ next: (event) => void events.push(event), complete: resolve });
  });
  expect(events.at(-1)).toMatchObject({
    type: "RUN_ERROR",
    code: "agent_error",
    message: "No model.",
  });
});

it("a thread that waits for its page is not running, and stopped all the same", async () => {
  await using lab = await openLab();
  await using runner = await runnerOf(lab);
  const tools = [{ name: "page", description: "Asks the page.", parameters: { type: "object" } }];
  const input = { runId: "r1", messages: [said("u1", "Hi")], tools, context: [] };
  const asking: RuntimeAgent = {
    ...namedAgent("asking"),
    async runAgent(_parameters, subscriber) {
      for (const event of [
        { type: "RUN_STARTED", threadId: "t1", runId: "r1" },
        { type: "TOOL_CALL_CHUNK", toolCallId: "c1", toolCallName: "page", delta: "{}" },
        { type: "RUN_FINISHED", threadId: "t1", runId: "r1" },
      ])
        await subscriber.onEvent({ event });
    },
  };
  await new Promise<void>((resolve) => {
    const observed = runner.run({ threadId: "t1", agent: asking, input });
    observed.subscribe({ complete: resolve });
  });
  expect(await runner.isRunning({ threadId: "t1" })).toBe(false);
  expect(await runner.stop({ threadId: "t1" })).toBe(true);
  expect(await runner.stop({ threadId: "t1" })).toBe(false);
  const calls = await lab.until("t1", (state) => [...state.calls.values()]);
  expect(calls).toMatchObject([{ id: "c1", outcome: "cancelled" }]);
});
